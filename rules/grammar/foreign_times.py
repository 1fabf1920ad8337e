"""Durations and instants as other languages write them, and how they are written here."""

from __future__ import annotations

import re

from rules.instants import DURATION

_UNITS = {
    "ms": ("ms", "msec", "msecs", "millis", "milli", "milliseconds", "millisecond"),
    "s": ("s", "sec", "secs", "seconds", "second"),
    "m": ("m", "min", "mins", "minutes", "minute"),
    "h": ("h", "hr", "hrs", "hours", "hour"),
    "d": ("d", "days", "day"),
    "w": ("w", "wk", "wks", "weeks", "week"),
}
_UNEVEN = {"month": 30, "months": 30, "mo": 30, "year": 365, "years": 365, "y": 365, "quarter": 90}
"""Units that are not always as long, and the days that may be meant."""
_NEXT_WORD = re.compile(r"\s*([^\W\d]+)")
_INTERVAL = re.compile(r"['\"]?\s*([0-9]+)\s*['\"]?\s*([^\W\d]+)")
_OF_A_TEST = 'times are durations; a test counts them from `start "2026-01-05T09:00Z"`'
_WRITTEN = "a duration is written `5m` or `5 minutes`"
ISO = re.compile(r"P(?:T?[0-9.]+[WDHMS])+", re.IGNORECASE)
"""A duration of ISO 8601."""


def duration_meant(number: str, following: str) -> str:
    """The help for a number whose unit is none of ours; empty where nothing is meant."""
    if re.match(r"-[0-9]{2}-", following):
        return _OF_A_TEST
    found = _NEXT_WORD.match(following)
    written = (number.lstrip("0123456789_.") or (found[1] if found else "")).lower()
    digits = number[: len(number) - len(number.lstrip("0123456789_."))]
    if re.fullmatch(r"(?:[0-9]+[dhms]){2,}", number):
        return "a duration has one unit: `90m` for one hour and a half"
    if number == "00" or re.match(r":[0-9]{2}", following):
        return _WRITTEN
    if written in _UNEVEN and digits.isdigit():
        return f"months and years differ in length: `{int(digits) * _UNEVEN[written]}d`?"
    if per := re.match(r"\s*(?:per|every|a|an|/)\s*([^\W\d]+)", following):
        return duration_meant(digits, per[1])
    for unit, others in _UNITS.items():
        if written in others:
            return f"did you mean `{digits}{unit}`?"
    return ""


def number_meant(written: str) -> str:
    """The help for what begins like a number and is none; empty where nothing is meant."""
    if thousands := re.fullmatch(r"([0-9]+)([kK]|M)", written):
        return f"write `{thousands[1]}_{'000' if thousands[2] in 'kK' else '000_000'}`"
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", written):
        return f"numbers are decimal: `{int(written, 16)}`"
    return duration_meant(written, "")


def quoted_duration(written: str) -> str:
    """The help for a string where a duration is expected."""
    inside = written[1:-1].strip()
    if re.fullmatch(DURATION, inside):
        return f"a duration stands without quotes: `{inside}`"
    number = re.match(r"[0-9]+", inside)
    if number and (meant := duration_meant(number[0], inside[number.end() :])):
        return f"a duration stands without quotes: {meant}"
    if ISO.fullmatch(inside):
        return _WRITTEN
    return _OF_A_TEST


def interval_meant(text: str) -> str:
    """Help for the text after SQL's `INTERVAL`, such as `'5' MINUTE`: the duration in our notation."""
    found = _INTERVAL.match(text.lstrip())
    return (duration_meant(found[1], found[2]) if found else "") or _WRITTEN


def instant_meant(written: str) -> str:
    """Our instant, quoted, for the string of SQL's `TIMESTAMP '...'`, taken as UTC; an example if unread."""
    inside = written.strip('"').strip().replace(" ", "T")
    return f'"{inside}Z"' if re.fullmatch(r"[0-9-]+T[0-9:.]+", inside) else '"2026-01-05T09:00Z"'
