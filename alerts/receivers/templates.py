"""Messages to people: Jinja2 templates over a notification, in a sandbox.

A template is written by whoever writes job.toml, what it shows by whoever makes events. So what it shows is
escaped for where it goes (HTML; the signs of Slack), control characters and what turns the direction of
writing are spelled out, and a message never gets longer than it may be.

TemplateError    a template cannot be read, or fails with a notification; with its line where one is known
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import StringIO
from typing import Any, Literal

from jinja2 import DebugUndefined, StrictUndefined, Undefined, meta, nodes
from jinja2 import TemplateError as JinjaError
from jinja2 import TemplateSyntaxError as JinjaSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from alerts.alert import Alert
from alerts.envelope import subject
from alerts.notation import plain
from alerts.receivers.notification import Notification
from alerts.shown import shown

Markings = Literal["text", "slack", "html"]

NAMES = ("alert", "alerts", "count", "key", "more", "receiver", "test")
"""Names for templates: the newest alert; all that are carried, oldest first; their number with those that
are not; the newest one's key as text; the number of those not carried; the receiver's name; whether it
is a test."""

LONGEST = 65_536
"""Characters of a message, unless its receiver takes fewer."""

_FIELDS = frozenset((*Alert.__slots__, "get", "items"))
_OTHER_FILES = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)


class TemplateError(Exception):
    """`line`, counted from 1, is where in the template; None where nothing says it. `help` is the fix."""

    def __init__(self, message: str, line: int | None, help: str) -> None:  # noqa: A002  as diagnostics call it
        super().__init__(message)
        self.line = line
        self.help = help


class Message:
    """A template, read and checked. Raises TemplateError.

    `name` is what errors call it, `longest` how many characters come out at most.
    """

    def __init__(self, name: str, text: str, markings: Markings = "text", longest: int = LONGEST) -> None:
        self._name = name
        self._longest = longest
        strict = _environment(markings, StrictUndefined)
        try:
            tree = strict.parse(text)
            for said, line, help_ in _mistakes(tree):
                raise TemplateError(said, line, help_)
            self._real = strict.from_string(text)
            self._trial = _environment(markings, DebugUndefined).from_string(text)
        except JinjaSyntaxError as error:
            raise TemplateError(_one_line(error.message or "not readable"), error.lineno, _SYNTAX) from None

    def written(self, notification: Notification) -> str:
        """The message, cut where it would be too long. Raises TemplateError.

        In a test, which no rule raised, what rules emit is shown by its name.
        """
        text, cut = self._text(notification)
        return f"{text[: self._longest - 1]}…" if cut else text

    def whole(self, notification: Notification) -> str | None:
        """The message, or None where it would be too long. Raises TemplateError."""
        text, cut = self._text(notification)
        return None if cut else text

    def _text(self, notification: Notification) -> tuple[str, bool]:
        template = self._trial if notification.test else self._real
        text = StringIO()  # markup that is added to a text would escape it
        try:
            for part in template.generate(_context(notification)):
                text.write(part)
                if text.tell() > self._longest:
                    return text.getvalue(), True
        except Exception as error:  # whatever an expression of somebody else's raises
            kind = "" if isinstance(error, JinjaError) else f"{type(error).__name__}: "
            line = _line(error)
            place = self._name if line is None else f"{self._name}, line {line}"
            raise TemplateError(_one_line(f"{place}: {kind}{error}"), line, _RUNNING) from None
        return text.getvalue().strip("\n"), False


_SYNTAX = "Jinja2's documentation has the syntax: https://jinja.palletsprojects.com/en/stable/templates/"
_RUNNING = "mend the template and start the job again; what waits is sent then"


def _environment(
    markings: Markings, undefined: type[StrictUndefined] | type[DebugUndefined]
) -> ImmutableSandboxedEnvironment:
    return ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=markings == "html",
        undefined=undefined,
        finalize=_slack if markings == "slack" else _plainly,
        auto_reload=False,
    )


def _plainly(value: object) -> object:
    """A value as a message shows it; what a template declares to be markup stays."""
    return value if isinstance(value, Markup | Undefined) else shown(plain(value))


def _slack(value: object) -> object:
    """The same without the signs by which Slack calls people and makes links."""
    value = _plainly(value)
    return value.translate(_SLACK_SIGNS) if type(value) is str else value


_SLACK_SIGNS = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}


def _mistakes(tree: nodes.Template) -> Iterator[tuple[str, int, str]]:
    """Mistakes that are known, in order of lines: sentence, line, help."""
    found: list[tuple[int, str, str]] = []
    unknown = meta.find_undeclared_variables(tree) - set(NAMES)
    for name in tree.find_all(nodes.Name):
        if name.ctx == "load" and name.name in unknown:
            found.append((name.lineno, f"there is no `{name.name}`", f"a template has {', '.join(NAMES)}"))
    asked: list[tuple[nodes.Expr, str]]
    asked = [(one, one.attr) for one in tree.find_all(nodes.Getattr) if _is_alert(one.node)]
    for item in tree.find_all(nodes.Getitem):
        if _is_alert(item.node) and isinstance(item.arg, nodes.Const):
            asked.append((item, str(item.arg.value)))
    for node, field in asked:
        if field not in _FIELDS:
            said = f"an alert has no field `{field}`"
            found.append((node.lineno, said, f"it has {', '.join(Alert.__slots__)}"))
    for other in tree.find_all(_OTHER_FILES):
        found.append((other.lineno, "a template has no other files", "write its text in place of the line"))
    yield from ((said, line, help_) for line, said, help_ in sorted(found))


def _is_alert(node: nodes.Expr) -> bool:
    return isinstance(node, nodes.Name) and node.name == "alert"


def _context(notification: Notification) -> Mapping[str, Any]:
    return {
        "alert": notification.alert,
        "alerts": list(notification.alerts),
        "count": notification.count,
        "key": subject(notification.alert["key"]),
        "more": notification.more,
        "receiver": notification.receiver,
        "test": notification.test,
    }


def _line(error: BaseException) -> int | None:
    """The line of a template in which it failed: Jinja2 maps the frames of what it compiled."""
    trace, found = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            found = trace.tb_lineno
        trace = trace.tb_next
    return found


def _one_line(text: str) -> str:
    return shown(" ".join(text.split()))[:300]
