"""The functions of the language with their signatures (docs/language.md, Expressions).

The elaborator types calls by these tables, engines implement their names, and `rules.manual` prints
them as docs/functions.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from rules.types import Scalar, Type

Parameter = Literal[
    "number", "long", "double", "string", "string or list", "timestamp", "zone", "network", "any"
]
"""What an argument must be. `zone` and `network` are constant strings that are checked here."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A function of single values.

    Of `parameters` the last `optional` ones may be left out; `rest`: the last may be repeated.
    `result` None: the type of the arguments (number stays long, double or decimal). `meaning` and
    `of_null` are sentences for the manual; `examples` are calls with the values that they give.
    """

    parameters: tuple[Parameter, ...]
    result: Scalar | None
    shown: str
    meaning: str
    examples: tuple[tuple[str, str], ...]
    optional: int = 0
    rest: bool = False
    of_null: str = "null"


FUNCTIONS: Mapping[str, Signature] = MappingProxyType(
    {
        "abs": Signature(
            ("number",),
            None,
            "abs(number)",
            "The number without its sign.",
            (("abs(-3)", "3"), ("abs(-2.5)", "2.5")),
        ),
        "round": Signature(
            ("number", "long"),
            None,
            "round(number, digits)",
            "The number with so many digits behind the point, halves away from zero; without `digits`, "
            "none. Negative digits count before the point.",
            (("round(2.5)", "3.0"), ("round(-12.345, 1)", "-12.3"), ("round(1250, -2)", "1300")),
            optional=1,
        ),
        "double": Signature(
            ("number",),
            Scalar.DOUBLE,
            "double(number)",
            "The number as a double: the nearest one.",
            (("double(3)", "3.0"),),
        ),
        "decimal": Signature(
            ("number",),
            Scalar.DECIMAL,
            "decimal(number)",
            "The number as a decimal. A double becomes the shortest decimal that reads back as it.",
            (("decimal(0.1) + 0.2", "0.3"),),
        ),
        "lower": Signature(
            ("string",), None, "lower(string)", "The string in small letters.", (('lower("NG")', '"ng"'),)
        ),
        "upper": Signature(
            ("string",), None, "upper(string)", "The string in capital letters.", (('upper("ng")', '"NG"'),)
        ),
        "length": Signature(
            ("string or list",),
            Scalar.LONG,
            "length(string or list)",
            "How many characters (code points) the string has, or values the list.",
            (('length("Zürich")', "6"),),
        ),
        "substr": Signature(
            ("string", "long", "long"),
            None,
            "substr(string, start, length)",
            "The characters from `start` on, counted from 0; at most `length` of them.",
            (('substr("card-17", 0, 4)', '"card"'), ('substr("card-17", 5)', '"17"')),
            optional=1,
        ),
        "coalesce": Signature(
            ("any", "any"),
            None,
            "coalesce(a, b, ...)",
            "The first of the values that is not null.",
            (('coalesce(null, "none")', '"none"'),),
            rest=True,
            of_null="the next value",
        ),
        "hour": Signature(
            ("timestamp", "zone"),
            Scalar.LONG,
            "hour(timestamp, zone)",
            "The hour of the day, 0 to 23, in a time zone; without one, in UTC.",
            (('hour("2026-01-05T23:30Z")', "23"), ('hour("2026-01-05T23:30Z", "Europe/Berlin")', "0")),
            optional=1,
        ),
        "weekday": Signature(
            ("timestamp", "zone"),
            Scalar.LONG,
            "weekday(timestamp, zone)",
            "The day of the week, Monday 1 to Sunday 7, in a time zone; without one, in UTC.",
            (('weekday("2026-01-05T23:30Z")', "1"), ('weekday("2026-01-05T23:30Z", "Europe/Berlin")', "2")),
            optional=1,
        ),
        "distance_km": Signature(
            ("double",) * 4,
            Scalar.DOUBLE,
            "distance_km(lat, lon, lat, lon)",
            "Kilometres between two places in degrees, along the great circle.",
            (("round(distance_km(52.52, 13.40, 48.86, 2.35))", "877.0"),),
        ),
        "in_cidr": Signature(
            ("string", "network"),
            Scalar.BOOLEAN,
            'in_cidr(address, "10.0.0.0/8")',
            "Whether an IPv4 or IPv6 address belongs to a network; null for what is no address.",
            (('in_cidr("10.1.2.3", "10.0.0.0/8")', "true"), ('in_cidr("nowhere", "10.0.0.0/8")', "null")),
        ),
    }
)

CONVERSIONS = frozenset({"double", "decimal"})
"""Functions that are conversions: in a typed pack they are `Convert`."""


@dataclass(frozen=True, slots=True)
class AggregateSignature:
    """An aggregate over a step's events.

    `over`: the types that it takes; with `whole` lists and records, too. `result` None: the type of the
    field; `exact`: of decimals a decimal. `meaning` and `of_none`, its value over no events, are for the
    manual.
    """

    over: frozenset[Scalar]
    result: Scalar | None
    shown: str
    meaning: str = ""
    of_none: str = "null"
    whole: bool = False
    exact: bool = False

    def takes(self, type_: Type) -> bool:
        """True if it can be taken of values of that type."""
        return self.whole or type_ in self.over

    def gives(self, type_: Type) -> Type:
        """The type of its result over values of that type."""
        if self.exact and type_ is Scalar.DECIMAL:
            return type_
        return self.result or type_


_NUMBERS = frozenset({Scalar.LONG, Scalar.DOUBLE, Scalar.DECIMAL})
_ORDERED = _NUMBERS | {Scalar.STRING, Scalar.TEXT, Scalar.TIMESTAMP, Scalar.DURATION}
_ALL = frozenset(Scalar) - {Scalar.NULL}

AGGREGATES: Mapping[str, AggregateSignature] = MappingProxyType(
    {
        "count": AggregateSignature(
            _ALL, Scalar.LONG, "count(step)", "How many events the step took.", of_none="0"
        ),
        "sum": AggregateSignature(_NUMBERS, None, "sum(step.field)", "The sum of the values."),
        "avg": AggregateSignature(_NUMBERS, Scalar.DOUBLE, "avg(step.field)", "Their mean.", exact=True),
        "min": AggregateSignature(
            _ORDERED, None, "min(step.field)", "The least value; of strings, by code point."
        ),
        "max": AggregateSignature(_ORDERED, None, "max(step.field)", "The greatest value."),
        "stddev": AggregateSignature(
            _NUMBERS,
            Scalar.DOUBLE,
            "stddev(step.field)",
            "The standard deviation of the sample; of a single value it is null.",
        ),
        "distinct": AggregateSignature(
            _ALL, Scalar.LONG, "distinct(step.field)", "How many different values there are."
        ),
        "percentile": AggregateSignature(
            _NUMBERS,
            Scalar.DOUBLE,
            "percentile(step.field, 0.99)",
            "The value below which that part of the values lies, between two of them by their distance.",
        ),
        "list": AggregateSignature(
            _ALL,
            None,
            "list(step.field)",
            "The values in the order of the events; stands only in `emit`.",
            of_none="the empty list",
            whole=True,
        ),
    }
)

NAVIGATION: Mapping[str, str] = MappingProxyType(
    {
        "first": "first(step.field, n)",
        "last": "last(step.field, n)",
        "prev": "prev(field, n)",
    }
)


def _of_window(name: str, shown: str, meaning: str = "") -> AggregateSignature:
    signature = AGGREGATES[name]
    return replace(signature, shown=shown, meaning=meaning or signature.meaning)


WINDOW_AGGREGATES: Mapping[str, AggregateSignature] = MappingProxyType(
    {
        "count": _of_window(
            "count", "count()", "How many events there are; `count(condition)`: of how many it is true."
        ),
        "sum": _of_window("sum", "sum(field)"),
        "avg": _of_window("avg", "avg(field)"),
        "min": _of_window("min", "min(field)"),
        "max": _of_window("max", "max(field)"),
        "first": AggregateSignature(_ALL, None, "first(field)", "That of the first event.", whole=True),
        "last": AggregateSignature(_ALL, None, "last(field)", "That of the last event.", whole=True),
        "stddev": _of_window("stddev", "stddev(field)"),
        "distinct": _of_window("distinct", "distinct(field)"),
        "percentile": _of_window("percentile", "percentile(field, 0.99)"),
        "rate": AggregateSignature(_ALL, Scalar.DOUBLE, "rate()", "Events per second.", of_none="0.0"),
        "start": AggregateSignature(_ALL, Scalar.TIMESTAMP, "start()", "When the window begins."),
        "end": AggregateSignature(_ALL, Scalar.TIMESTAMP, "end()", "When it ends."),
    }
)
"""The aggregates over the events of a window, and its bounds."""
BOUNDS = frozenset({"start", "end"})
"""Of these, what is no aggregate."""

OVER_WINDOWS: Mapping[str, str] = MappingProxyType(
    {"previous": "previous(aggregate, n)", "ago": "ago(aggregate, 7 days)"}
)
"""What turns an aggregate to earlier windows."""
