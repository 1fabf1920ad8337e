"""The single values of a feed in a job file: each function gives back a value that can be used.

UnfitError      a value of the right kind that cannot be used, and what to write
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, available_timezones

from cep.decode.formats import EPOCHS, KINDS
from rules.suggest import did_you_mean

_TIMESTAMPS = ("iso", *EPOCHS)


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


def path(text: str) -> str:
    """A path on this machine, absolute or from the folder of the job file."""
    filled(text)
    if text.startswith("~") or "${" in text:
        sign = "~" if text.startswith("~") else "${...}"
        raise UnfitError(f"`{sign}` is not replaced in a path", "write the path itself")
    return text


def brokers(text: str) -> str:
    """The addresses of brokers, `host:port,...`."""
    filled(text)
    help_ = 'write `servers = "b1:9092,b2:9092"`'
    for one in text.split(","):
        host, colon, port = one.strip().rpartition(":")
        if "://" in one:
            raise UnfitError(f"`{one}` is an address with a protocol", help_)
        if not (host and colon and port.isascii() and port.isdecimal() and 0 < int(port) < 1 << 16):
            raise UnfitError(f"`{one.strip()}` is no broker's host and port", help_)
    return ",".join(one.strip() for one in text.split(","))


def topic_name(text: str) -> str:
    """A name that a topic may have."""
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,249}", text) or text in (".", ".."):
        raise UnfitError(
            f"`{text}` is no name of a topic",
            "a topic has letters, digits, `.`, `_` and `-`; several topics: `topics`, or `pattern`",
        )
    return text


def held(text: str | None) -> str | None:
    """The format of a feed's files, checked: json, csv or parquet. None: each file's name says it."""
    if text is not None and text not in KINDS:
        raise UnfitError(f"it is one of {', '.join(KINDS)}", did_you_mean(text, KINDS) or 'write `"csv"`')
    return text


def timestamps(text: str) -> str:
    """`iso`, a name of cep.decode.formats.EPOCHS, or a pattern that strptime reads back."""
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
