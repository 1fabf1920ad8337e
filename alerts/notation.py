"""The notation of values in an alert: JSON values, RFC 3339 times, ISO 8601 durations, summary text.

Both engines and every output go through here, so that equal values have equal text. The formats are
a contract (docs/alerts.md, The alert): no NaN, timestamps in UTC with 0, 3, 6 or 9 digits, decimals as
strings.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache
from itertools import repeat
from typing import Protocol, runtime_checkable

_SECOND = 1_000_000_000
_EPOCH = date(1970, 1, 1).toordinal()


@runtime_checkable
class ListType(Protocol):
    """The type of a list: what its elements are."""

    @property
    def element(self) -> object:
        """The type of every element."""


@runtime_checkable
class RecordType(Protocol):
    """The type of a record: names and types in order."""

    @property
    def fields(self) -> Sequence[tuple[str, object]]:
        """The fields."""


@lru_cache(maxsize=4096)
def _day(number: int) -> str:
    return date.fromordinal(_EPOCH + number).isoformat()


@lru_cache(maxsize=4096)
def _moment(seconds: int) -> str:
    days, rest = divmod(seconds, 86_400)
    minutes, second = divmod(rest, 60)
    hour, minute = divmod(minutes, 60)
    return f"{_day(days)}T{hour:02d}:{minute:02d}:{second:02d}"


def timestamp(ns: int) -> str:
    """RFC 3339 in UTC of nanoseconds since 1970-01-01T00:00Z: `2018-07-11T10:05:00Z`.

    As many of 0, 3, 6 or 9 digits as the value needs. Raises ValueError outside the years 1 to 9999.
    """
    return timestamps((ns,))[0]


def timestamps(times: Iterable[int]) -> list[str]:
    """Each as `timestamp` writes it."""
    parts = map(divmod, times, repeat(_SECOND))
    return [
        _moment(seconds) + (_finer(rest) if rest % 1_000_000 else _milliseconds(rest // 1_000_000))
        for seconds, rest in parts
    ]


def _finer(ns: int) -> str:
    return f".{ns:09d}Z" if ns % 1_000 else f".{ns // 1_000:06d}Z"


@lru_cache(maxsize=1000)
def _milliseconds(number: int) -> str:
    return f".{number:03d}Z" if number else "Z"


def duration(ns: int) -> str:
    """ISO 8601 of a duration in nanoseconds, in hours, minutes and seconds: `PT4H`, `PT0.25S`, `-PT1M30S`.

    A negative duration has its sign before the P (ISO 8601-2:2019, 4.4.1.9); zero is `PT0S`.
    """
    sign = "-" if ns < 0 else ""
    seconds, fraction = divmod(abs(ns), _SECOND)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    text = f"{hours}H" if hours else ""
    if minute:
        text += f"{minute}M"
    if fraction:
        text += f"{second}.{fraction:09d}".rstrip("0") + "S"
    elif second or not text:
        text += f"{second}S"
    return f"{sign}PT{text}"


def decimal(value: Decimal) -> str | None:
    """A decimal in plain notation, None if it is not finite.

    Without needless zeros, so that 1.50 and 1.5 are one text.
    """
    if not value.is_finite():
        return None
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def number(value: float) -> str:
    """The shortest text of a double, as RFC 8785 (ECMAScript) writes it: 900.0 is `900`, 1e-07 is `1e-7`.

    Raises ValueError for NaN and infinity.
    """
    if not math.isfinite(value):
        raise ValueError("a number that is not finite has no JSON text")
    return shortest(repr(value))


def shortest(text: str) -> str:
    """Each as `number` writes it, a double as Python does."""
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        text = text.removesuffix(".0")
        return "0" if text == "-0" else text
    power = int(exponent)
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = whole + (fraction if fraction != "0" else "")
    if 0 <= power < 21:
        return sign + digits.ljust(power + 1, "0")
    if -7 < power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    return f"{sign}{digits[0]}{'.' + digits[1:] if digits[1:] else ''}e{power:+d}"


def json_value(value: object, type_: object) -> object:
    """A value of the rule language as an alert shows it: a JSON value.

    `type_` is a type's name (`"timestamp"`), an object whose text is that name, or one with `element`
    (a list) or `fields` (a record, whose values are mappings). Timestamps and durations come as
    nanoseconds and become text, decimals text, NaN and infinity null; everything else stays.
    """
    if value is None:
        return None
    return _writer(type_)(value)


@lru_cache(maxsize=1024)
def _writer(type_: object) -> Callable[[object], object]:
    if isinstance(type_, ListType):
        element = type_.element
        return lambda value: [json_value(item, element) for item in _sequence(value)]
    if isinstance(type_, RecordType):
        fields = tuple(type_.fields)
        return lambda value: {name: json_value(_mapping(value).get(name), part) for name, part in fields}
    return _WRITERS.get(str(type_), _untyped)


def _sequence(value: object) -> Sequence[object]:
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return value
    raise TypeError(f"a list was expected, not {value!r}")


def _mapping(value: object) -> Mapping[str, object]:
    if isinstance(value, Mapping):
        return value
    raise TypeError(f"a record was expected, not {value!r}")


def _integer(value: object) -> int:
    return int(value)  # type: ignore[call-overload, no-any-return]


def _decimal(value: object) -> str | None:
    return decimal(value if isinstance(value, Decimal) else Decimal(str(value)))


def _untyped(value: object) -> object:
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return decimal(value) if isinstance(value, Decimal) else value


_WRITERS: dict[str, Callable[[object], object]] = {
    "timestamp": lambda value: timestamp(_integer(value)),
    "duration": lambda value: duration(_integer(value)),
    "decimal": _decimal,
    "long": _integer,
    "boolean": bool,
}


def plain(value: object) -> str:
    """A JSON value as a summary shows it: 900.0 is `900`, null `null`, a list `DE, NG`, text as it stands."""
    match value:
        case str():
            return value
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return number(value) if math.isfinite(value) else "null"
        case list() | tuple():
            return ", ".join(f"[{plain(v)}]" if isinstance(v, list | tuple) else plain(v) for v in value)
        case _:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
