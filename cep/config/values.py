"""The single values of a job file: each function gives back a value that can be used.

UnfitError      a value of the right kind that cannot be used, and what to write
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, available_timezones

from alerts.alert import SEVERITIES
from alerts.signing import secret_key
from cep.config.path_as_regex import from_regular_expression
from cep.formats import EPOCHS, KINDS, UnknownFormatError, format_of
from cep.globs import GlobError, parse
from rules.instants import parse_duration
from rules.suggest import did_you_mean

_TIMESTAMPS = ("iso", *EPOCHS)
_OUTBOX = "write sqlite:///state/outbox.db or postgresql://user@host/name"


class UnfitError(ValueError):
    """The text says what is wrong with a value, `help` what to write."""

    def __init__(self, said: str, help: str) -> None:  # noqa: A002  as diagnostics call it
        super().__init__(said)
        self.help = help


def filled(text: str) -> str:
    """A text that says something and can be printed."""
    if not text.strip():
        raise UnfitError("it is empty", "write something between the quotes")
    if not text.isprintable():
        raise UnfitError("it holds a sign that cannot be seen, such as a tab or a line end", "remove it")
    return text


def no_path(text: str) -> str:
    """A name that goes into metrics, addresses and reports, and reads like a path in none of them."""
    if "/" in text or "\\" in text or not text.strip("."):
        raise UnfitError(f"`{text}` reads like a path", "write a name without `/` and `\\`")
    return text


def duration(text: str) -> str:
    """A duration as rules write it."""
    help_ = "write a number and a unit: `500ms`, `1 second`"
    if not text.strip():
        raise UnfitError("it is empty", help_)
    try:
        parse_duration(text)
    except ValueError as error:
        raise UnfitError(str(error), help_) from None
    return text


def path(text: str) -> str:
    """A path on this machine, absolute or from the folder of the job file."""
    filled(text)
    if text.startswith("~") or "${" in text:
        sign = "~" if text.startswith("~") else "${...}"
        raise UnfitError(f"`{sign}` is not replaced in a path", "write the path itself")
    return text


def held(text: str | None) -> str | None:
    """The format of a feed's files, checked: json, csv or parquet. None: each file's name says it."""
    if text is not None and text not in KINDS:
        raise UnfitError(f"it is one of {', '.join(KINDS)}", did_you_mean(text, KINDS) or 'write `"csv"`')
    return text


def feed_path(text: str, named: bool = True) -> str:
    """A path whose last part may have wildcards, and whose ending says what the files hold (`named`)."""
    path(text)
    if "://" in text:
        raise UnfitError("it is an address", "write a path on this machine: `inbox/*.jsonl`")
    if "**" in text:
        raise UnfitError(
            "`**` does not go into folders of folders", "write one `*` for each: `inbox/*/*.jsonl`"
        )
    try:
        parse(text)
    except GlobError as error:
        raise UnfitError(str(error), error.help) from None
    name = text.rpartition("/")[2]
    if named and name and not re.search(r"[*?\]}]$", name):
        try:
            format_of(name)
        except UnknownFormatError as error:
            if glob := from_regular_expression(text):
                help_ = f"wildcards are no regular expression: write `{glob}`"
            elif "." not in name:
                help_ = f"write `{text}/*.jsonl` if it is a folder"
            else:
                help_ = 'say it, `format = "csv"`, or rename the files'
            raise UnfitError(str(error), help_) from None
    return text


def timestamps(text: str) -> str:
    """`iso`, a name of cep.formats.EPOCHS, or a pattern that strptime reads back."""
    if text in _TIMESTAMPS:
        return text
    if "%" not in text:
        help_ = did_you_mean(text, _TIMESTAMPS) or "a pattern is written as in `%d.%m.%Y %H:%M`"
        raise UnfitError(f"it is one of {', '.join(_TIMESTAMPS)}, or a strptime pattern", help_)
    help_ = "write one such as `%d.%m.%Y %H:%M:%S`"
    try:
        sample = datetime(2020, 12, 30, 21, 43, 56, tzinfo=UTC).strftime(text)
        datetime.strptime(sample, text)
    except ValueError:
        raise UnfitError("it is no pattern that strptime can read back", help_) from None
    if not any(part in text for part in ("%Y", "%y", "%G", "%c", "%x")):
        raise UnfitError("the pattern has no year", help_)
    return text


def zone(text: str) -> str:
    """A zone's IANA name, or an offset."""
    if text == "UTC" or re.fullmatch(r"[+-](0\d|1[0-4]):[0-5]\d", text):
        return text
    help_ = "write a name such as `Europe/Berlin`, or `+02:00`"
    if not text.strip():
        raise UnfitError("it is empty", help_)
    try:
        ZoneInfo(text)
    except (ValueError, OSError, KeyError):
        raise UnfitError(
            "there is no such zone", did_you_mean(text, sorted(available_timezones())) or help_
        ) from None
    return text


def delimiter(text: str) -> str:
    """One character that may stand between cells."""
    if len(text) != 1 or text in '"\r\n' or ord(text) > 127:
        raise UnfitError("a delimiter is one ASCII character", 'write `";"`, or for a tab `"\\t"`')
    return text


def severity(text: str) -> str:
    """A severity that a rule may have."""
    if text not in SEVERITIES:
        help_ = did_you_mean(text, SEVERITIES) or "write the least severe that this receiver is to get"
        raise UnfitError(f"it is one of {', '.join(SEVERITIES)}", help_)
    return text


def refers(text: str) -> bool:
    """True if the text only refers to the value: to an environment variable, or to a file."""
    return "${" in text or text.startswith("file:")


def outbox(text: str) -> str:
    """The address of an outbox, as far as it stands here."""
    return text if refers(text) and not text.startswith("sqlite") else outbox_address(text)


def outbox_address(text: str) -> str:
    """The address of a database that keeps what is written to it."""
    scheme, _, rest = text.partition("://")
    kind = scheme.split("+")[0]
    if not rest and kind != "sqlite":
        raise UnfitError("it is no address of a database", _OUTBOX)
    match kind:
        case "sqlite":
            _sqlite(rest)
        case "postgresql":
            host = re.split("[/?]", rest.rpartition("@")[2])[0]
            port = re.fullmatch(r"(?:\[.*\]|[^:]*)(?::(\d*))?", host)
            if port is None or int(port[1] or 0) > 65_535:
                raise UnfitError(
                    "its port is not a number up to 65535", "write postgresql://user@host:5432/name"
                )
        case _:
            raise UnfitError("an outbox is kept in SQLite or PostgreSQL", _OUTBOX)
    return text


def _sqlite(rest: str) -> None:
    file = rest.split("?")[0]
    if file.strip("/") in ("", ":memory:"):
        raise UnfitError(
            "an outbox in memory would lose its alerts", "name a file: sqlite:///state/outbox.db"
        )
    if not file.startswith("/"):
        raise UnfitError("the path of the file begins after three slashes", f"write sqlite:///{file}")
    if file.endswith("/"):
        raise UnfitError("it names a folder", f"name a file in it: sqlite://{file}outbox.db")


def webhook(text: str) -> str:
    """The address of a webhook, as far as it stands here."""
    return text if refers(text) else web_address(text)


def web_address(text: str) -> str:
    """The URL of a webhook. Raises UnfitError with what is wrong with it."""
    help_ = "write the whole address: https://desk.example/cep"
    if not text.strip():
        raise UnfitError("it is empty", help_)
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UnfitError(f"it is no URL: {error}", help_) from None
    if parts.scheme not in ("http", "https") or not host or re.search(r"\s", text):
        raise UnfitError("a webhook's url begins with https:// or http:// and a host", help_)
    return text


def signing_secret(text: str) -> str:
    """The secret that a webhook's messages are signed with. The error does not repeat it."""
    try:
        secret_key(text)
    except ValueError as error:
        raise UnfitError(str(error), "docs/alerts.md shows how one is made") from None
    return text


def listen(text: str) -> str:
    """`HOST:PORT`."""
    listen_address(text)
    return text


def listen_address(text: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`. Raises UnfitError."""
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:\s\[\]/]+):([0-9]{1,5})", text)
    if found is None or int(found[2]) > 65_535:
        port = re.fullmatch(r"[:*]*(\d{1,5})", text)
        raise UnfitError(
            "it is not HOST:PORT",
            f"write `127.0.0.1:{port[1] if port else 8090}`, or `0.0.0.0` for every address",
        )
    return found[1].strip("[]"), int(found[2])
