"""The kinds of receivers: which options each has, and what is wrong with a section of a kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from cep.config import sections
from cep.config.places import KeyPath, Places
from cep.config.targets import Console, Email, File, Kafka, PagerDuty, Slack, Target, Webhook
from cep.config.values import mail_place
from cep.secrets import Secret, SecretError, read_text
from cep.sources.kafka.checks import PRODUCER, option_mistakes
from cep.sources.kafka.options import named
from cep.sources.source import Options
from rules.diagnostics import Diagnostic
from rules.source import SourceFile, Span

if TYPE_CHECKING:
    from cep.config.receiver_section import ReceiverSection

Value = TypeVar("Value")

OPTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "console": ((), ()),
    "webhook": (("url",), ("secret", "format", "allow_private")),
    "slack": (("url",), ("message", "allow_private")),
    "pagerduty": (("routing_key",), ("url", "message", "allow_private")),
    "email": (
        ("server", "sender", "to"),
        ("tls", "user", "password", "subject", "message", "html", "allow_private"),
    ),
    "file": (("path",), ("rotate_mb", "fsync")),
    "kafka": (("servers", "topic"), ("key", "mode", "options")),
}
"""By kind: the options that it needs, and those that it may have. Every kind has rules, severity, and how it
is told (`_MANNER`)."""

_MANNER = ("group_by", "group_wait", "group_interval", "rate", "order")
_EVERY = ("kind", "rules", "severity", *_MANNER)
_SECRET = {"slack": ("url",), "pagerduty": ("routing_key",), "email": ("password",)}
"""Options that have to stand elsewhere. (A webhook's may stand in the file, as they could before.)"""
_TEMPLATES: dict[str, dict[str, Literal["text", "slack", "html"]]] = {
    "slack": {"message": "slack"},
    "pagerduty": {"message": "text"},
    "email": {"subject": "text", "message": "text", "html": "html"},
    "kafka": {"key": "text"},
}
"""The options that are templates, with what their values are escaped for."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a receiver, with what is needed to tell of it."""

    name: str
    options: ReceiverSection
    folder: Path
    places: Places

    def path(self, key: str) -> KeyPath:
        """The path of an option in the job file."""
        return ("receivers", self.name, key)

    def span(self, *names: str) -> Span:
        """The place of the value of an option, or of one in its table; of "" that of the receiver."""
        path = ("receivers", self.name, *filter(None, names))
        return self.places.value(self.places.dotted(path))


def mistakes(section: Section) -> Iterator[Diagnostic]:
    """Mistakes in the options of a receiver of its kind."""
    kind, given = section.options.kind, section.options.model_fields_set - set(_EVERY)
    needed, may = OPTIONS[kind]
    for key in needed:
        if key not in given:
            said = f"`{key}` is missing in [receivers.{section.name}]"
            help_ = f'write `{sections.written(section.path(key))}` there: kind "{kind}" needs it'
            yield Diagnostic("CEP0704", "error", said, section.places.key(section.path(key)[:-1]), help=help_)
    for key in sorted(given - {*needed, *may}):
        yield _of_another_kind(section, kind, key)
    for key in _SECRET.get(kind, ()):
        written = getattr(section.options, key)
        if written is not None and not Secret(written, section.folder).refers:
            yield Diagnostic(
                "CEP0735",
                "error",
                f'`{key}` of a receiver of kind "{kind}" is secret, and stands in the job file',
                section.places.value(section.path(key)),
                help=f'write {key} = "${{NAME}}" for a variable of the environment, or "file:PATH"',
            )
    if kind == "email" and (section.options.user is None) != (section.options.password is None):
        missing = "user" if section.options.user is None else "password"
        yield Diagnostic(
            "CEP0704",
            "error",
            f"`{missing}` is missing in [receivers.{section.name}]",
            section.places.key(section.path("")[:-1]),
            help="`user` and `password` stand together; without both nobody signs in",
        )
    if kind == "kafka":
        yield from option_mistakes(section.options.options, Options(section.folder, section.span), PRODUCER)
    for key, markings in _TEMPLATES.get(kind, {}).items():
        yield from _template(section, key, markings)


def _of_another_kind(section: Section, kind: str, key: str) -> Diagnostic:
    owners = " and ".join(f'"{one}"' for one, lists in OPTIONS.items() if key in (*lists[0], *lists[1]))
    own = ", ".join(f"`{one}`" for one in (*OPTIONS[kind][0], *OPTIONS[kind][1])) or "no options"
    help_ = f'`{key}` belongs to kind {owners}; kind "{kind}" has {own}; every receiver `rules`, `severity`'
    said = f'a receiver of kind "{kind}" has no option `{key}`'
    return Diagnostic("CEP0734", "error", said, section.places.key(section.path(key)), help=help_)


def _template(section: Section, key: str, markings: Literal["text", "slack", "html"]) -> Iterator[Diagnostic]:
    written = getattr(section.options, key)
    if written is None:
        return
    from alerts.receivers.templates import Message, TemplateError

    span = section.places.value(section.path(key))
    try:
        Message(f"`{key}`", text_of(written, section.folder), markings)
    except SecretError as error:
        yield Diagnostic("CEP0736", "error", str(error), span, help=error.help)
    except TemplateError as error:
        place = _line(written, section.folder, span, error.line)
        yield Diagnostic("CEP0736", "error", f"the template `{key}`: {error}", place, help=error.help)


def text_of(written: str, folder: Path) -> str:
    """The text of a template: as it is written, or of the file that `file:PATH` names. Raises SecretError."""
    return read_text(folder / written.removeprefix("file:")) if written.startswith("file:") else written


def _line(written: str, folder: Path, span: Span, line: int | None) -> Span:
    """The place of a template's line: in its file, or in the job file where it stands over several lines."""
    number = line or 1
    if written.startswith("file:"):
        path = folder / written.removeprefix("file:")
        file = SourceFile(str(path), text_of(written, folder))
        start = file.line_starts[min(number, len(file.line_starts)) - 1]
        return Span(file, start, start + len(file.text[start:].partition("\n")[0]))
    raw = span.text
    if not raw.startswith(('"""', "'''")):
        return span
    start = 4 if raw[3:4] == "\n" else 3  # TOML leaves out a line end right behind the quotes
    for _ in range(number - 1):
        start = raw.find("\n", start) + 1 or start
    return Span(span.file, span.start + start, span.start + start + len(raw[start:].partition("\n")[0]))


def target(section: Section) -> Target:
    """Where a receiver's alerts go, of a section without mistakes."""
    one, folder = section.options, section.folder

    def secret(text: str | None) -> Secret | None:
        return None if text is None else Secret(text, folder)

    def text(written: str | None) -> str | None:
        return None if written is None else text_of(written, folder)

    match one.kind:
        case "console":
            return Console()
        case "webhook":
            return Webhook(_there(secret(one.url)), secret(one.secret), one.format, one.allow_private)
        case "slack":
            return Slack(_there(secret(one.url)), text(one.message), one.allow_private)
        case "pagerduty":
            key, url = _there(secret(one.routing_key)), secret(one.url)
            return PagerDuty(key, url, text(one.message), one.allow_private)
        case "file":
            return File(folder / _there(one.path), one.rotate_mb * 1_000_000, one.fsync == "always")
        case "kafka":
            servers, topic, options = _there(one.servers), _there(one.topic), named(one.options, folder)
            return Kafka(servers, topic, text(one.key), one.mode, options)
        case "email":
            host, port = mail_place(_there(one.server), one.tls)
            return Email(
                host=host,
                port=port,
                tls=one.tls,
                user=one.user,
                password=secret(one.password),
                sender=_there(one.sender),
                to=tuple(_there(one.to)),
                subject=text(one.subject),
                message=text(one.message),
                html=text(one.html),
                allow_private=one.allow_private,
            )


def _there(value: Value | None) -> Value:
    assert value is not None, "`mistakes` tells what is missing"
    return value
