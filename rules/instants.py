"""Instants and durations as text, for the language, job files and the command line.

The language's timestamps are RFC 3339 with a zone; seconds may be left out (`2026-01-05T09:00Z`).
"""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal

SECOND = 1_000_000_000

DURATION = (
    r"[0-9][0-9_]*(?:\.[0-9]+)?"
    r"(?:(?:ms|[smhdw])(?!\w)|\s+(?:milliseconds?|seconds?|minutes?|hours?|days?|weeks?)(?!\w))"
)
"""A duration, as a regular expression: a unit right after the number, or a word after it."""

LEAST, GREATEST = -(2**63), 2**63 - 1
"""An instant is 64 bits of nanoseconds: years 1677 to 2262."""

_INSTANT = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9})0*)?)?"
    r"(?:([Zz])|([+-])([0-9]{2}):([0-9]{2}))?"
)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DURATION = re.compile(DURATION)
_DURATION_PARTS = re.compile(r"([0-9_.]+)\s*(\w+)")
_UNITS = {
    "ms": SECOND // 1000,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
    "d": 86400 * SECOND,
    "w": 7 * 86400 * SECOND,
}
_WORDS = {"millisecond": "ms", "second": "s", "minute": "m", "hour": "h", "day": "d", "week": "w"}
_EPOCH = date(1970, 1, 1).toordinal()


def parse_instant(text: str) -> int:
    """Nanoseconds since 1970-01-01T00:00Z of an RFC 3339 time.

    A leap second (`:60`) counts as the first instant of the next minute.

    Raises:
        ValueError: not such a time, without a zone, no such day, or outside of 64 bits; says which.
    """
    found = _INSTANT.fullmatch(text)
    if found is None:
        if _DAY.fullmatch(text):
            raise ValueError(f"`{text}` has no time of day: write `{text}T00:00Z`")
        raise ValueError(f"`{text}` is not a time such as `2026-01-05T09:00:00Z`")
    year, month, day, hour, minute = (int(part) for part in found.groups()[:5])
    second = int(found[6] or 0)
    if not (hour < 24 and minute < 60 and second <= 60):
        raise ValueError(f"`{text}` has no such time of day")
    if not (found[8] or found[9]):
        raise ValueError(f"`{text}` has no zone: write `Z` or `+01:00` after it")
    try:
        days = date(year, month, day).toordinal() - _EPOCH
    except ValueError:
        raise ValueError(f"`{text}` names a day that does not exist") from None
    seconds = days * 86400 + hour * 3600 + minute * 60 + second
    if found[9]:
        if int(found[10]) > 23 or int(found[11]) > 59:
            raise ValueError(f"`{text}` has no such zone")
        offset = int(found[10]) * 3600 + int(found[11]) * 60
        seconds -= offset if found[9] == "+" else -offset
    value = seconds * SECOND + int((found[7] or "").ljust(9, "0"))
    if not LEAST <= value <= GREATEST:
        raise ValueError(f"`{text}` is outside of what 64 bits of nanoseconds hold: 1677-09-21 to 2262-04-11")
    return value


def duration_of(written: str) -> int | None:
    """Nanoseconds of a text that DURATION matches; None where not whole or outside of 64 bits."""
    parts = _DURATION_PARTS.fullmatch(written)
    if parts is None or len(parts[1]) > 25:  # Decimal works with 28 digits
        return None
    word = parts[2]
    unit = _UNITS.get(word) or _UNITS[_WORDS[word.removesuffix("s")]]
    value = Decimal(parts[1].replace("_", "")) * unit
    return int(value) if value == int(value) and value <= GREATEST else None


def parse_duration(text: str) -> int:
    """Nanoseconds of a duration as the language writes it: `30s`, `1.5h`, `5 minutes`.

    Raises:
        ValueError: not such a duration, not whole nanoseconds, or outside of 64 bits.
    """
    stripped = text.strip()
    value = duration_of(stripped) if _DURATION.fullmatch(stripped) else None
    if value is None:
        raise ValueError(f"`{text}` is not a duration such as `30s` or `5 minutes`")
    return value


def span_of_time(ns: int) -> str:
    """A duration in nanoseconds as text: `1h5m`, `-30s`, `0s`."""
    text, rest = "", abs(ns)
    for unit in ("d", "h", "m", "s", "ms"):
        number, rest = divmod(rest, _UNITS[unit])
        text += f"{number}{unit}" if number else ""
    return ("-" if ns < 0 else "") + ((text + (f"{rest}ns" if rest else "")) or "0s")
