"""Operators and functions of docs/language.md, "Expressions", on single values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.expressions.scalar import aggregate_of, compiled, evaluate, holds
from rules.source import SourceFile, Span
from rules.typed import (
    Aggregate,
    Arithmetic,
    Call,
    Choose,
    Compare,
    Convert,
    Expression,
    FieldRef,
    In,
    IsNull,
    KeyRef,
    Like,
    Literal,
    Logical,
    Negate,
    Not,
    Path,
    PrevRef,
    Search,
    StepRef,
    TextMatch,
    WindowAggregate,
)
from rules.types import ListOf, Scalar, Type

SPAN = Span(SourceFile("test", ""), 0, 0)
LONG, DOUBLE, DECIMAL, BOOLEAN, STRING = (
    Scalar.LONG, Scalar.DOUBLE, Scalar.DECIMAL, Scalar.BOOLEAN, Scalar.STRING,
)  # fmt: skip
TIMESTAMP, DURATION = Scalar.TIMESTAMP, Scalar.DURATION
GREATEST, LEAST = 2**63 - 1, -(2**63)
HOUR = 3_600_000_000_000


@dataclass
class Row:
    """A scope with the values of one event; steps and aggregates by their names."""

    values: Mapping[str, object] = field(default_factory=dict)

    def field(self, path: Path) -> object:
        return self.values[path[0]]

    def key(self, name: str) -> object:
        return f"key {name}"

    def step(self, ref: StepRef) -> object:
        return f"{ref.which} {ref.step}"

    def previous(self, ref: PrevRef) -> object:
        return f"{ref.offset} back"

    def aggregate(self, ref: Aggregate) -> object:
        return f"{ref.function} {ref.step}"

    def window(self, ref: WindowAggregate) -> object:
        return f"{ref.function} of the window"

    def text_match(self, ref: TextMatch) -> bool | None:
        return ref.query == "yes"


_TYPES: dict[type, Type] = {
    bool: BOOLEAN, int: LONG, float: DOUBLE, str: STRING, Decimal: DECIMAL, type(None): Scalar.NULL,
}  # fmt: skip


def lit(value: object, type_: Type | None = None) -> Literal:
    return Literal(value, type_ or _TYPES[type(value)], SPAN)


def value_of(expression: Expression, **values: object) -> object:
    return evaluate(expression, Row(values))


def computed(left: object, operator: Any, right: object, type_: Type) -> object:
    return value_of(Arithmetic(operator, lit(left), lit(right), type_, SPAN))


def called(function: str, *arguments: object, type_: Type = LONG) -> object:
    return value_of(Call(function, tuple(lit(argument) for argument in arguments), type_, SPAN))


@pytest.mark.parametrize(
    ("left", "operator", "right", "expected"),
    [
        (GREATEST, "+", 1, None),
        (LEAST, "-", 1, None),
        (2**32, "*", 2**31, None),
        (2**31, "*", 2**31, 2**62),
        (LEAST, "*", -1, None),
        (7, "%", 3, 1),
        (-7, "%", 3, -1),
        (7, "%", -3, 1),
        (-7, "%", -3, -1),
        (7, "%", 0, None),
        (LEAST, "%", -1, 0),
        (None, "+", 1, None),
        (1, "+", None, None),
    ],
)
def test_longs_overflow_to_null_and_the_remainder_has_the_dividends_sign(
    left: object, operator: str, right: object, expected: object
) -> None:
    assert computed(left, operator, right, LONG) == expected


def test_longs_divide_to_a_double_and_by_zero_to_null() -> None:
    assert computed(7, "/", 2, DOUBLE) == 3.5
    assert computed(-1, "/", 3, DOUBLE) == -1 / 3
    assert computed(1, "/", 0, DOUBLE) is None
    assert computed(1.0, "/", 0.0, DOUBLE) is None
    assert computed(1.0, "%", 0.0, DOUBLE) is None
    assert computed(-7.5, "%", 2.0, DOUBLE) == -1.5


def test_a_double_is_never_infinite_and_never_nan() -> None:
    assert computed(1e308, "*", 10.0, DOUBLE) is None
    assert computed(1e308, "+", 1e308, DOUBLE) is None
    assert computed(1.0, "/", 5e-324, DOUBLE) is None
    assert value_of(Negate(lit(LEAST), LONG, SPAN)) is None
    assert called("abs", LEAST) is None


def test_decimals_are_exact_to_eighteen_digits_and_overflow_to_null() -> None:
    third = computed(Decimal(1), "/", Decimal(3), DECIMAL)
    assert third == Decimal("0.333333333333333333")
    assert computed(Decimal("0.1"), "+", Decimal("0.2"), DECIMAL) == Decimal("0.3")
    assert computed(Decimal(10**19), "*", Decimal(10), DECIMAL) is None
    assert computed(Decimal("-7.5"), "%", Decimal(2), DECIMAL) == Decimal("-1.5")
    assert computed(Decimal(1), "/", Decimal(0), DECIMAL) is None


def test_times_and_durations_reckon_in_nanoseconds() -> None:
    time, hours = lit(10 * HOUR, TIMESTAMP), lit(4 * HOUR, DURATION)
    assert value_of(Arithmetic("+", time, hours, TIMESTAMP, SPAN)) == 14 * HOUR
    assert value_of(Arithmetic("-", time, lit(9 * HOUR, TIMESTAMP), DURATION, SPAN)) == HOUR
    assert value_of(Arithmetic("*", hours, lit(0.5), DURATION, SPAN)) == 2 * HOUR
    assert value_of(Arithmetic("+", lit(GREATEST, TIMESTAMP), hours, TIMESTAMP, SPAN)) is None


THREE = (True, False, None)


@pytest.mark.parametrize("a", THREE)
@pytest.mark.parametrize("b", THREE)
def test_logic_has_three_values(a: bool | None, b: bool | None) -> None:
    # Kleene: unknown is between false and true, `and` the least, `or` the greatest.
    rank: dict[bool | None, int] = {False: 0, None: 1, True: 2}
    operands = (lit(a, BOOLEAN), lit(b, BOOLEAN))
    assert value_of(Logical("and", operands, SPAN)) is min(a, b, key=rank.__getitem__)
    assert value_of(Logical("or", operands, SPAN)) is max(a, b, key=rank.__getitem__)
    assert value_of(Not(lit(a, BOOLEAN), SPAN)) is {True: False, False: True, None: None}[a]


def test_unknown_is_not_true() -> None:
    unknown = Compare("==", lit(None), lit(1), SPAN)
    assert value_of(unknown) is None
    assert not holds(unknown, Row())
    assert holds(None, Row())
    assert value_of(Choose(unknown, lit("yes"), lit("no"), STRING, SPAN)) == "no"
    assert value_of(IsNull(unknown, False, SPAN)) is True
    assert value_of(IsNull(unknown, True, SPAN)) is False


def test_in_is_unknown_where_sql_says_so() -> None:
    def member(value: object, *items: object, negated: bool = False) -> object:
        return value_of(In(lit(value), tuple(lit(item) for item in items), negated, SPAN))

    assert member(1, 2, 1) is True
    assert member(1, 2, 3) is False
    assert member(1, 2, None) is None
    assert member(1, None, 1) is True
    assert member(None, 1) is None
    assert member(1, 2, None, negated=True) is None
    assert member(1, 2, 3, negated=True) is True
    tags = FieldRef(("tags",), ListOf(STRING), SPAN)
    assert value_of(In(lit("a"), (tags,), False, SPAN), tags=("b", "a")) is True
    assert value_of(In(lit("a"), (tags,), False, SPAN), tags=()) is False
    assert value_of(In(lit("a"), (tags,), False, SPAN), tags=None) is None


@pytest.mark.parametrize(
    ("text", "pattern", "expected"),
    [
        ("abc", "a%", True),
        ("abc", "%b", False),
        ("abc", "a_c", True),
        ("a\nc", "a_c", True),
        ("日本", "日_", True),
        ("a%c", "a\\%c", True),
        ("abc", "a\\%c", False),
        ("a\\", "a\\", True),
        ("a.c", "a.c", True),
        ("abc", "a.c", False),
        ("", "%", True),
        (None, "%", None),
    ],
)
def test_like(text: str | None, pattern: str, expected: bool | None) -> None:
    assert value_of(Like(lit(text, STRING), pattern, False, SPAN)) is expected


def test_search_is_unanchored_and_speaks_re2() -> None:
    assert value_of(Search(lit("xaby"), "a[b]", SPAN)) is True
    assert value_of(Search(lit("xaby"), "^a", SPAN)) is False
    assert value_of(Search(lit("x\ny"), "x.y", SPAN)) is False
    assert value_of(Search(lit("ÉB"), r"\pLb?", SPAN)) is True
    assert value_of(Search(lit(None, STRING), "a", SPAN)) is None


def test_strings_compare_by_code_point() -> None:
    # UTF-16 code units would put U+1D11E before U+FF5A.
    assert value_of(Compare("<", lit("ｚ"), lit("\U0001d11e"), SPAN)) is True
    assert value_of(Compare("<", lit("Z"), lit("a"), SPAN)) is True


@pytest.mark.parametrize(
    ("function", "arguments", "type_", "expected"),
    [
        ("round", (2.5,), DOUBLE, 3.0),
        ("round", (-2.5,), DOUBLE, -3.0),
        ("round", (0.49999999999999994,), DOUBLE, 0.0),
        ("round", (4503599627370497.5,), LONG, 4503599627370498),
        ("round", (-0.125, 2), DOUBLE, -0.13),
        ("round", (Decimal("2.345"), 2), DECIMAL, Decimal("2.35")),
        ("round", (1e300, 10), DOUBLE, 1e300),
        ("round", (1e300,), LONG, None),
        ("lower", ("ÀB",), STRING, "àb"),
        ("upper", ("àb",), STRING, "ÀB"),
        ("length", ("𝄞a",), LONG, 2),
        ("substr", ("abcd", 1), STRING, "bcd"),
        ("substr", ("abcd", 1, 2), STRING, "bc"),
        ("substr", ("abcd", -1, 2), STRING, "a"),
        ("substr", ("abcd", 9), STRING, ""),
        ("substr", ("abcd", 1, -1), STRING, None),
        ("in_cidr", ("10.1.2.3", "10.1.0.0/16"), BOOLEAN, True),
        ("in_cidr", ("10.2.2.3", "10.1.0.0/16"), BOOLEAN, False),
        ("in_cidr", ("::1", "10.1.0.0/16"), BOOLEAN, False),
        ("in_cidr", ("2001:db8::7", "2001:db8::/32"), BOOLEAN, True),
        ("in_cidr", ("10.1", "10.1.0.0/16"), BOOLEAN, None),
        ("in_cidr", ("10.1.2.3", "10.1.0.0/99"), BOOLEAN, None),
        ("hour", (0,), LONG, 0),
        ("hour", (-1,), LONG, 23),
        ("hour", (0, "Asia/Kolkata"), LONG, 5),
        ("hour", (0, "No/Where"), LONG, None),
        ("weekday", (0,), LONG, 4),
        ("weekday", (4 * 24 * HOUR,), LONG, 1),
        ("weekday", (0, "America/New_York"), LONG, 3),
        ("coalesce", (None, 3), LONG, 3),
        ("coalesce", (None, None), LONG, None),
        ("abs", (-3,), LONG, 3),
    ],
)
def test_functions(function: str, arguments: tuple[object, ...], type_: Type, expected: object) -> None:
    assert called(function, *arguments, type_=type_) == expected


def test_distance_is_that_of_a_great_circle() -> None:
    # Berlin to Paris, 878 km; a quarter of the equator's length for the mean radius.
    assert called("distance_km", 52.52, 13.405, 48.8566, 2.3522, type_=DOUBLE) == pytest.approx(877.5, abs=1)
    quarter = called("distance_km", 0.0, 0.0, 0.0, 90.0, type_=DOUBLE)
    assert quarter == pytest.approx(math.pi / 2 * 6371.0088)
    assert called("distance_km", 0.0, 0.0, 0.0, 180.0, type_=DOUBLE) == pytest.approx(math.pi * 6371.0088)


def test_references_are_asked_of_the_scope() -> None:
    assert value_of(KeyRef("card", STRING, SPAN)) == "key card"
    assert value_of(StepRef("big", ("amount",), "last", 0, DOUBLE, SPAN)) == "last big"
    assert value_of(PrevRef(("k",), 2, STRING, SPAN)) == "2 back"
    assert value_of(Aggregate("sum", "probe", ("amount",), None, DOUBLE, SPAN)) == "sum probe"
    assert value_of(TextMatch(("body",), "yes", SPAN, SPAN)) is True


def test_widening() -> None:
    assert repr(value_of(Convert(lit(2**53 + 1), DOUBLE, SPAN))) == "9007199254740992.0"
    assert value_of(Convert(lit(3), DECIMAL, SPAN)) == Decimal(3)
    assert value_of(Convert(lit(None, LONG), DOUBLE, SPAN)) is None


def test_an_expression_is_compiled_once() -> None:
    expression = Compare("<", FieldRef(("v",), LONG, SPAN), lit(3), SPAN)
    assert compiled(expression) is compiled(expression)


AGGREGATES = ("sum", "avg", "min", "max", "stddev", "distinct", "percentile")


@pytest.mark.parametrize("function", AGGREGATES)
def test_aggregates_of_nothing_are_null(function: str) -> None:
    assert aggregate_of(function, [], 0.5) is None
    assert aggregate_of(function, [None, None], 0.5) is None


def test_count_of_nothing_is_zero_and_nulls_are_left_out() -> None:
    assert aggregate_of("count", []) == 0
    assert aggregate_of("count", [1, None, 3]) == 2
    assert aggregate_of("avg", [1, None, 4]) == 2.5
    assert aggregate_of("distinct", ["a", None, "b", "a"]) == 2
    assert aggregate_of("list", [3, None, 1]) == (3, 1)
    assert aggregate_of("list", [None]) == ()
    assert aggregate_of("sum", [GREATEST, 1]) is None
    assert aggregate_of("sum", [GREATEST, 1, -1]) is None
    assert aggregate_of("avg", [GREATEST, 1]) is None
    assert aggregate_of("sum", [1e308, 1e308]) is None
    assert aggregate_of("stddev", [1.0]) is None
    assert aggregate_of("stddev", [10**18, 10**18 + 1, 10**18 + 2]) == 1.0
    most = Decimal(10**20 - 1)
    assert aggregate_of("sum", [most, most, -most]) == most
    assert aggregate_of("sum", [most, most]) is None
    assert aggregate_of("avg", [most, most]) is None


@given(st.lists(st.integers(-1000, 1000), min_size=2), st.floats(0, 1))
def test_deviation_and_percentile_are_those_of_the_textbook(values: list[int], fraction: float) -> None:
    import statistics

    doubles: list[object] = [float(value) for value in values]
    assert aggregate_of("stddev", doubles) == pytest.approx(statistics.stdev(values), rel=1e-15)
    result = aggregate_of("percentile", doubles, fraction)
    assert isinstance(result, float)
    position = fraction * (len(values) - 1)
    low, high = sorted(values)[math.floor(position)], sorted(values)[math.ceil(position)]
    assert result == pytest.approx(low + (high - low) * (position % 1), abs=1e-6)
