"""Values of number, date, IP, boolean and keyword fields, and the conditions that queries put on them.

Both sides become keys that compare with each other: a number itself; a date as microseconds since 1970
UTC; an address as a number of 128 bits, IPv4 as IPv4-mapped IPv6; a boolean 0 or 1. What a query asks
of such a field is then an `Interval` of keys. A keyword's key is its text.

DocumentError    a document's value that its field cannot have
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from ipaddress import IPv4Address, ip_address, ip_network
from typing import Any

from percolator.patterns import regex, takes, wildcard, within
from percolator.query.errors import Code, QueryError
from percolator.query.pieces import unescaped
from percolator.query.tree import Exact, Fuzzy, Node, Phrase, Range, Regex, Wildcard, Word
from percolator.schema import Kind

Document = Mapping[str, Any]
"""The fields by name: a value, a list of values, or None."""

Terms = Word | Exact | Wildcard | Regex | Fuzzy | Phrase
"""What stands for a word, a phrase or a value, by the type of its field."""

Key = int | float
Test = Callable[[Document], bool]

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,300}|(?=\.?[0-9])[0-9]{0,300}\.?[0-9]{0,300}(?:[eE][+-]?[0-9]{1,3})?)")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DATE = re.compile(
    r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,6}))?)?"
    r"(Z|[+-][0-9]{2}:?[0-9]{2})?)?)?)?"
)
_MAPPED = 0xFFFF << 32
_MOVING = re.compile(r"(?i)\*?(?:now|today|yesterday|tomorrow)(?![^\W\d])|.*\|\||-?\d+ ?[a-z]+\Z")
"""Dates of other languages that count from the time of the search: `now-7d`, `today`, `-7d`."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class DocumentError(ValueError):
    """Its text is one sentence that names the field."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Keys from `low` to `high`; None is an open end."""

    low: Key | None
    high: Key | None
    with_low: bool = True
    with_high: bool = True

    def holds(self, key: Key) -> bool:
        """True if the key lies in it; NaN lies in none that has an end."""
        if self.low is not None and not (key >= self.low if self.with_low else key > self.low):
            return False
        return self.high is None or (key <= self.high if self.with_high else key < self.high)


def field_values(document: Document, name: str) -> Sequence[Any]:
    """The values of a field as they came, without nulls; none at all where the field is absent."""
    value = document.get(name)
    if value is None:
        return ()
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        return (value,)
    return [one for one in value if one is not None]


def texts(document: Document, name: str) -> Sequence[str]:
    """The values of a text or keyword field. Raises DocumentError where one is no string."""
    found = field_values(document, name)
    for value in found:
        if not isinstance(value, str):
            raise DocumentError(f"field {name} holds strings, not {value!r}")
    return found


def keys(document: Document, name: str, kind: Kind) -> list[Key]:
    """The keys of a number, date, IP or boolean field. Raises DocumentError."""
    return [_document_key(value, name, kind) for value in field_values(document, name)]


def _document_key(value: object, name: str, kind: Kind) -> Key:
    try:
        match kind, value:
            case Kind.BOOLEAN, bool():
                return int(value)
            case Kind.NUMBER, int() | float() if not isinstance(value, bool):
                return value
            case Kind.DATE, datetime():
                return _micros(value)
            case Kind.DATE, date():
                return _micros(datetime(value.year, value.month, value.day))
            case Kind.DATE, str():
                return _period(value)[0]
            case Kind.IP, str():
                return _address(value)
            case _:
                pass
    except ValueError:
        pass
    raise DocumentError(f"field {name} holds values of type {kind}, not {value!r}")


def range_test(node: Range, kind: Kind) -> Test:
    """True if some value of the field lies in the range; false where there is none. Raises QueryError."""
    asked, name = range_of(node, kind), node.name
    return lambda document: any(map(asked.holds, keys(document, name, kind)))


def value_test(node: Node, kind: Kind, name: str) -> Test:
    """True if some value of a field that is no text is what a term asks for. Raises QueryError."""
    if kind is not Kind.KEYWORD:
        assert isinstance(node, Word | Exact | Phrase)
        asked = value_of(node, kind, name)
        return lambda document: any(map(asked.holds, keys(document, name, kind)))
    match node:
        case Word() | Exact() | Phrase():
            wanted = written(node)
            return lambda document: wanted in texts(document, name)
        case Wildcard():
            pattern = wildcard(node.pattern)
            return lambda document: any(takes(pattern, text) for text in texts(document, name))
        case Regex():
            expression = regex(node, whole_value=True)
            return lambda document: any(takes(expression, text) for text in texts(document, name))
        case Fuzzy():
            near, most = node.text, node.distance
            return lambda document: any(within(near, text, most) for text in texts(document, name))
        case _:
            raise AssertionError(f"{type(node).__name__} is no value")


def range_of(node: Range, kind: Kind) -> Interval:
    """The keys that a range asks for. Raises QueryError where the type has no such range, or it is empty."""
    start = node.span.start
    if kind not in (Kind.NUMBER, Kind.DATE, Kind.IP):
        message = f"{node.name} is of type {kind}, which has no ranges"
        raise QueryError(Code.BAD_VALUE, message, start)
    low: Key | None = None
    high: Key | None = None
    with_low, with_high = node.with_low, node.with_high
    if node.low is not None:
        first, behind = _query_keys(node.low, kind, node.name, start)
        # A day is a period: above it begins behind its end.
        low, with_low = (behind, True) if kind is Kind.DATE and not with_low else (first, with_low)
    if node.high is not None:
        first, behind = _query_keys(node.high, kind, node.name, start)
        high, with_high = (behind, False) if kind is Kind.DATE and with_high else (first, with_high)
    if (
        low is not None
        and high is not None
        and (low > high or (low == high and not (with_low and with_high)))
    ):
        raise QueryError(Code.BAD_VALUE, f"nothing lies between {node.low} and {node.high}", start)
    return Interval(low, high, with_low, with_high)


def value_of(node: Word | Exact | Phrase, kind: Kind, name: str) -> Interval:
    """The keys that `price:3`, `day:2024-01`, `ip:10.0.0.0/8`, `paid:true` ask for. Raises QueryError."""
    text = written(node)
    start = node.span.start
    if kind is Kind.BOOLEAN:
        if text not in ("true", "false"):
            raise QueryError(Code.BAD_VALUE, f"{name} is true or false, not {text}", start)
        return Interval(int(text == "true"), int(text == "true"))
    if kind is Kind.IP and "/" in text:
        try:
            network = ip_network(text)
        except ValueError as problem:
            raise QueryError(Code.BAD_VALUE, f"{name} is an IP address; {problem}", start) from None
        base = int(network.network_address) + (_MAPPED if network.version == 4 else 0)
        return Interval(base, base + network.num_addresses - 1)
    first, behind = _query_keys(text, kind, name, start)
    return Interval(first, behind, True, False) if kind is Kind.DATE else Interval(first, first)


def written(node: Word | Exact | Phrase) -> str:
    """The whole value that a leaf stands for in a field that is no text."""
    return unescaped(node.text) if isinstance(node, Phrase) else node.text


def _query_keys(text: str, kind: Kind, name: str, start: int) -> tuple[Key, Key]:
    """The key of a value and the one behind its period, which only dates have."""
    try:
        match kind:
            case Kind.NUMBER:
                return (_number(text),) * 2
            case Kind.DATE:
                return _period(text)
            case _:
                return (_address(text),) * 2
    except ValueError:
        shown = {Kind.NUMBER: "a number", Kind.DATE: "a date, as in 2024-01-31 or 2024-01-31T09:30Z"}
        expected = shown.get(kind, "an IP address, as in 10.0.0.1")
        said = f"{name} is {expected}, not {text}"
        if kind is Kind.DATE and _MOVING.match(text):
            said += "; no date moves with time here: write the day itself, and `*` for an open end"
        raise QueryError(Code.BAD_VALUE, said, start) from None


def _number(text: str) -> Key:
    if _NUMBER.fullmatch(text) is None:
        raise ValueError(text)
    if _INTEGER.fullmatch(text):
        return int(text)
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _address(text: str) -> int:
    if "%" in text:
        raise ValueError(text)
    address = ip_address(text)
    return int(address) + (_MAPPED if isinstance(address, IPv4Address) else 0)


def _period(text: str) -> tuple[int, int]:
    """The first microsecond of a year, month, day, minute, second or instant, and the one behind it."""
    found = _DATE.fullmatch(text)
    if found is None:
        raise ValueError(text)
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    begins = datetime(
        int(year),
        int(month or 1),
        int(day or 1),
        int(hour or 0),
        int(minute or 0),
        int(second or 0),
        int((fraction or "0").ljust(6, "0")),
    )
    if zone is not None and zone != "Z":
        digits = zone[1:].replace(":", "")
        offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        if offset >= timedelta(days=1):
            raise ValueError(text)
        start = _micros(begins) + (1 if zone[0] == "-" else -1) * (offset // timedelta(microseconds=1))
    else:
        start = _micros(begins)
    return start, start + _length(begins, found)


def _length(begins: datetime, found: re.Match[str]) -> int:
    """Microseconds of the period, by the last part that was written."""
    _, month, day, hour, _, second, fraction, _ = found.groups()
    if fraction is not None:
        return int(10 ** (6 - len(fraction)))
    if second is not None:
        return 1_000_000
    if hour is not None:
        return 60_000_000
    if day is not None:
        return 86_400_000_000
    leap = begins.year % 4 == 0 and (begins.year % 100 != 0 or begins.year % 400 == 0)
    if month is None:
        return (366 if leap else 365) * 86_400_000_000
    days = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[begins.month - 1]
    return days * 86_400_000_000


def _micros(moment: datetime) -> int:
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1)
