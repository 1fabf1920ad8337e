"""Values and times as a test writes them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from rules.instants import span_of_time
from rules.testing.compare import Notation
from rules.types import ListOf, Record, Scalar, Type

_RELATIVE = 10 * 365 * 86_400 * 1_000_000_000
"""Times before 1980 are meant from the start of the test, not as dates."""


def clock(ns: int, notation: Notation) -> str:
    """A time as tests write it: `0s`, `1h5m`, `250ms`; a date where the test has a start of its own."""
    return span_of_time(ns) if 0 <= ns < _RELATIVE else str(notation(ns, Scalar.TIMESTAMP))


def written(value: object) -> str:
    """A JSON value as a rule file would write it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            return f'"{escaped}"'
        case Mapping():
            return "{ " + ", ".join(f"{name}: {written(item)}" for name, item in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(map(written, value)) + "]"
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case Decimal():
            return str(value)
        case _:
            return repr(value)


def written_as(value: object, type_: Type, notation: Notation) -> str:
    """A value of the rule language as a test writes it; of a record the fields that it has."""
    match type_, value:
        case Scalar.DECIMAL, Decimal():
            return str(notation(value, type_))
        case ListOf(element), list() | tuple():
            return "[" + ", ".join(written_as(item, element, notation) for item in value) + "]"
        case Record(fields), Mapping():
            given = ((name, value[name], part) for name, part in fields if name in value)
            return "{ " + ", ".join(f"{n}: {written_as(v, t, notation)}" for n, v, t in given) + " }"
        case Scalar.TIMESTAMP, int():
            return clock(value, notation)
        case Scalar.DURATION, int():
            return span_of_time(value)
        case _:
            return written(notation(value, type_))
