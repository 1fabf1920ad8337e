"""Sums of plain values are exact: as `math.fsum`, `statistics` and whole numbers say."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.exact.sums import Number, Sums, deviation_of, mean_of, total_of
from rules.decimals import EXACT, fitting
from tests.exact.values import LARGEST, doubles, longs, prices, samples


def nearest(value: Fraction) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


@given(st.lists(doubles, min_size=1))
def test_a_sum_of_doubles_is_rounded_once(values: list[float]) -> None:
    found = total_of(values)
    assert found == nearest(sum(map(Fraction, values), Fraction(0)))
    assert found is None or math.copysign(1.0, found) == (-1.0 if found < 0 else 1.0)
    assert found == Sums.of(values).double()


@given(st.lists(prices, min_size=1))
def test_sum_and_mean_of_doubles_are_those_of_python(values: list[float]) -> None:
    assert total_of(values) == math.fsum(values)
    assert mean_of(values) == statistics.fmean(values)


@given(st.lists(longs, min_size=1))
def test_a_sum_of_longs_is_null_only_if_it_is_no_long_itself_and_their_mean_never(values: list[int]) -> None:
    whole = sum(values)
    fits = -(2**63) <= whole < 2**63
    assert total_of(values) == Sums.of(values).long() == (whole if fits else None)
    assert mean_of(values) == float(whole) / len(values)


@given(st.lists(st.decimals(-(10**20), 10**20, places=18), min_size=1))
def test_sum_and_mean_of_decimals_are_exact(values: list[Decimal]) -> None:
    exact = sum(map(Fraction, values), Fraction(0))
    total = fitting(EXACT.divide(Decimal(exact.numerator), Decimal(exact.denominator)))
    assert total_of(values) == Sums.of(values).decimal() == total
    mean = None if total is None else fitting(EXACT.divide(total, Decimal(len(values))))
    assert mean_of(values) == mean


@given(samples)
def test_of_a_deviation_the_numerator_is_rounded_once(values: Sequence[Number]) -> None:
    count, exact = len(values), list(map(Fraction, values))
    try:
        numerator = float(count * sum(x * x for x in exact) - sum(exact) ** 2)
    except OverflowError:
        assert deviation_of(values) is None
        return
    expected = math.sqrt(numerator / (count * (count - 1))) if count > 1 else None
    assert deviation_of(values) == expected == Sums.of(values).deviation()
    if expected is not None and numerator > 1e-300:
        assert expected == pytest.approx(float(statistics.stdev(exact)), rel=1e-15)


@given(st.lists(doubles, min_size=1), st.lists(doubles, min_size=1))
def test_panes_are_added_and_taken_away(first: list[float], second: list[float]) -> None:
    both = Sums.of(first + second)
    assert Sums.of(first) + Sums.of(second) == both
    assert both - Sums.of(second) == Sums.of(first)


@pytest.mark.parametrize(
    ("values", "total"),
    [
        ([1e308, 1e308, -1e308], 1e308),
        ([1e308, 1e308], None),
        ([LARGEST, math.ulp(LARGEST) / 2], None),
        ([LARGEST, math.ulp(LARGEST) / 2, -5e-324], LARGEST),
        ([2.0**53, 1.0], 2.0**53),
        ([2.0**53, 1.0, 5e-324], 2.0**53 + 2),
        ([2.0**53 + 2, 1.0], 2.0**53 + 4),
        ([1e16, 1.0, -1e16], 1.0),
        ([0.1] * 10, 1.0),
        ([-0.0], 0.0),
        ([2**63 - 1, 1, -1], 2**63 - 1),
        ([2**63 - 1, 1], None),
    ],
)
def test_no_partial_sum_matters(values: list[Number], total: Number | None) -> None:
    assert total_of(values) == total
    known = sum(values) if isinstance(values[0], int) else total
    assert mean_of(values) == (None if known is None else known / len(values))
