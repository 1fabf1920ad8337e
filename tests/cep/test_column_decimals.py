"""Decimals over columns are what they are one by one, to the last digit; what has no room is left to rows."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from test_decode_round_trips import values_of

from cep.expressions.column_decimals import arithmetic
from cep.expressions.held import held
from cep.expressions.numbers import arithmetic as one_by_one
from rules.types import Scalar

DECIMALS = values_of(Scalar.DECIMAL) | st.decimals(-1000, 1000, allow_nan=False, places=9)


@settings(max_examples=examples(300), deadline=None)
@given(st.sampled_from("+-*"), st.lists(st.tuples(DECIMALS, DECIMALS), max_size=4))
def test_columns_and_single_values_agree(operator: str, pairs: list[tuple[Decimal, Decimal]]) -> None:
    type_ = held(Scalar.DECIMAL)
    left, right = ([*(pair[n] for pair in pairs), None] for n in (0, 1))
    found = arithmetic(operator, pa.array(left, type_), pa.array(right, type_))
    expected = [one_by_one(operator, a, b, Scalar.DECIMAL) for a, b in pairs]
    if found is not None:
        assert found.to_pylist() == [*expected, None]
    elif operator != "*":
        assert None in expected


def test_halves_are_rounded_away_from_zero() -> None:
    type_ = held(Scalar.DECIMAL)
    left = pa.array([Decimal("1E-18"), Decimal("-1E-18"), Decimal("1E-18")], type_)
    right = pa.array([Decimal("0.5"), Decimal("0.5"), Decimal("0.4")], type_)
    found = arithmetic("*", left, right)
    assert found is not None
    assert found.to_pylist() == [Decimal("1E-18"), Decimal("-1E-18"), Decimal(0)]


def test_a_product_that_arrow_rounds_wrongly_is_left_to_rows() -> None:
    type_ = held(Scalar.DECIMAL)
    left, right = Decimal("4.096E-15"), Decimal("99999999999999999999.999907317101756416")
    found = arithmetic("*", pa.array([left], type_), pa.array([right], type_))
    assert found is None or found.to_pylist() == [Decimal(409600)]
    assert one_by_one("*", left, right, Scalar.DECIMAL) == Decimal(409600)
