"""The functions of the language with their signatures (language.md, Expressions and Conditions).

The elaborator types calls by this table, engines implement its names, and the manual prints it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from rules.types import Scalar

Parameter = Literal["number", "long", "double", "string", "timestamp", "zone", "network", "any"]
"""What an argument must be. `zone` and `network` are constant strings that are checked here."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A function of single values.

    Of `parameters` the last `optional` ones may be left out; `rest`: the last may be repeated.
    `result` None: the type of the arguments (number stays long or double).
    """

    parameters: tuple[Parameter, ...]
    result: Scalar | None
    shown: str
    optional: int = 0
    rest: bool = False


FUNCTIONS: Mapping[str, Signature] = MappingProxyType(
    {
        "abs": Signature(("number",), None, "abs(number)"),
        "round": Signature(("number", "long"), None, "round(number, digits)", optional=1),
        "lower": Signature(("string",), None, "lower(string)"),
        "upper": Signature(("string",), None, "upper(string)"),
        "length": Signature(("string",), Scalar.LONG, "length(string)"),
        "substr": Signature(("string", "long", "long"), None, "substr(string, start, length)", optional=1),
        "coalesce": Signature(("any", "any"), None, "coalesce(a, b, ...)", rest=True),
        "hour": Signature(("timestamp", "zone"), Scalar.LONG, "hour(timestamp, zone)", optional=1),
        "weekday": Signature(("timestamp", "zone"), Scalar.LONG, "weekday(timestamp, zone)", optional=1),
        "distance_km": Signature(("double",) * 4, Scalar.DOUBLE, "distance_km(lat, lon, lat, lon)"),
        "in_cidr": Signature(("string", "network"), Scalar.BOOLEAN, 'in_cidr(address, "10.0.0.0/8")'),
    }
)


@dataclass(frozen=True, slots=True)
class AggregateSignature:
    """An aggregate over a step's events.

    `over`: the types that it takes. `result` None: the type of the field.
    """

    over: frozenset[Scalar]
    result: Scalar | None
    shown: str


_NUMBERS = frozenset({Scalar.LONG, Scalar.DOUBLE, Scalar.DECIMAL})
_ORDERED = _NUMBERS | {Scalar.STRING, Scalar.TEXT, Scalar.TIMESTAMP, Scalar.DURATION}
_ALL = frozenset(Scalar) - {Scalar.NULL}

AGGREGATES: Mapping[str, AggregateSignature] = MappingProxyType(
    {
        "count": AggregateSignature(_ALL, Scalar.LONG, "count(step)"),
        "sum": AggregateSignature(_NUMBERS, None, "sum(step.field)"),
        "avg": AggregateSignature(_NUMBERS, Scalar.DOUBLE, "avg(step.field)"),
        "min": AggregateSignature(_ORDERED, None, "min(step.field)"),
        "max": AggregateSignature(_ORDERED, None, "max(step.field)"),
        "stddev": AggregateSignature(_NUMBERS, Scalar.DOUBLE, "stddev(step.field)"),
        "distinct": AggregateSignature(_ALL, Scalar.LONG, "distinct(step.field)"),
        "percentile": AggregateSignature(_NUMBERS, Scalar.DOUBLE, "percentile(step.field, 0.99)"),
        "list": AggregateSignature(_ALL, None, "list(step.field)"),
    }
)

NAVIGATION: Mapping[str, str] = MappingProxyType(
    {
        "first": "first(step.field, n)",
        "last": "last(step.field, n)",
        "prev": "prev(field, n)",
    }
)

WINDOW_ONLY = frozenset({"previous", "ago", "rate"})
