"""Constant expressions are evaluated as engines would: the row evaluator of `cep` is the oracle."""

from __future__ import annotations

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from writing import condition_of, errors, loaded, on

from cep.expressions.scalar import evaluate
from rules import typed
from rules.resolve.constants import folded
from rules.source import SourceFile, Span
from rules.types import Scalar

SPAN = Span(SourceFile("t", ""), 0, 0)
L, D, B = Scalar.LONG, Scalar.DOUBLE, Scalar.BOOLEAN
LARGE = 2**63 - 1


def literal(value: object, type_: Scalar) -> typed.Literal:
    return typed.Literal(value, type_, SPAN)


longs = st.one_of(st.none(), st.integers(-4, 4), st.integers(-LARGE - 1, LARGE)).map(lambda v: literal(v, L))
doubles = st.one_of(
    st.none(),
    st.sampled_from([0.0, -0.0, 1.5, -2.5, 1e308]),
    st.floats(allow_nan=False, allow_infinity=False),
).map(lambda v: literal(v, D))
booleans = st.sampled_from([True, False, None]).map(lambda v: literal(v, B))
signs = st.sampled_from(["+", "-", "*", "%"])
comparisons = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
nodes = st.one_of(
    st.builds(lambda o, a, b: typed.Arithmetic(o, a, b, L, SPAN), signs, longs, longs),
    st.builds(
        lambda o, a, b: typed.Arithmetic(o, a, b, D, SPAN), st.one_of(signs, st.just("/")), doubles, doubles
    ),
    st.builds(lambda o, a, b: typed.Compare(o, a, b, SPAN), comparisons, longs, longs),
    st.builds(lambda o, a, b: typed.Compare(o, a, b, SPAN), comparisons, doubles, doubles),
    st.builds(lambda a: typed.Negate(a, L, SPAN), longs),
    st.builds(lambda a: typed.Not(a, SPAN), booleans),
    st.builds(lambda a, n: typed.IsNull(a, n, SPAN), longs, st.booleans()),
    st.builds(
        lambda w, o: typed.Logical(w, tuple(o), SPAN),
        st.sampled_from(["and", "or"]),
        st.lists(booleans, min_size=2, max_size=4),
    ),
    st.builds(
        lambda a, i, n: typed.In(a, tuple(i), n, SPAN), longs, st.lists(longs, max_size=4), st.booleans()
    ),
    st.builds(lambda t, a, b: typed.Choose(t, a, b, L, SPAN), booleans, longs, longs),
)


class Nowhere:
    """A scope without names."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"a constant asked for {name}")


@settings(max_examples=examples(500), deadline=None)
@given(nodes)
def test_constants_are_what_engines_would_compute(node: typed.Expression) -> None:
    found = folded(node)
    assert isinstance(found, typed.Literal)
    expected = evaluate(node, Nowhere())  # type: ignore[arg-type]
    assert (found.value, type(found.value)) == (expected, type(expected))


@pytest.mark.parametrize(
    "written", ["-9223372036854775808", "- 9_223_372_036_854_775_808", "(-09223372036854775808)"]
)
def test_the_least_long_can_be_written(written: str) -> None:
    found = condition_of(f"n == {written}")
    assert isinstance(found, typed.Compare)
    assert isinstance(found.right, typed.Literal)
    assert (found.right.value, found.right.type) == (-LARGE - 1, L)


@pytest.mark.parametrize(
    "written",
    ["9223372036854775808", "-9223372036854775809", "-(9223372036854775808)", "1-9223372036854775808"],
)
def test_what_no_long_holds_is_refused(written: str) -> None:
    number = written.strip("-()").removeprefix("1-")
    assert errors(on(f"n == {written}")) == [("CEP0105", number)]


def test_calls_are_left_to_engines() -> None:
    body = loaded(on('lower("X") == kind')).need().rules[0].body
    assert any(isinstance(part, typed.Call) for part in typed.walk(body))
