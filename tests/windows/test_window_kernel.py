"""The kernel's functions over ranges, beside plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.operators.windows.kernel.layout import Ranges
from cep.operators.windows.runtime.engines import INTERPRETED
from cep.operators.windows.runtime.entry_points import Engine

VALUES = st.lists(st.sampled_from((0.0, 0.1, 1.5, -2.0, 1e16, 7.0)) | st.none(), min_size=1, max_size=40)
PARTS = np.array([0.0, 0.3, 0.5, 0.99, 1.0])


@pytest.fixture(scope="module", params=["as it stands", pytest.param("compiled", marks=pytest.mark.slow)])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "as it stands":
        return INTERPRETED
    from cep.operators.windows.runtime.compiled import load

    return load()


def ranges_of(draw: st.DataObject, size: int) -> Ranges:
    """Ranges that go forward, begin anew, go back, and are empty."""
    pair = st.tuples(st.integers(0, size), st.integers(0, size)).map(sorted)
    pairs = draw.draw(st.lists(pair, min_size=1, max_size=12))
    if draw.draw(st.booleans()):
        pairs = [list(both) for both in zip(*map(sorted, zip(*pairs, strict=True)), strict=True)]
    firsts, ends = (np.array(part, np.int64) for part in zip(*pairs, strict=True))
    return Ranges(firsts, ends)


def percentile(values: Sequence[float], part: float) -> float:
    """Between the two values around the rank, by distance."""
    if not values:
        return math.inf
    rank = part * (len(values) - 1)
    below = math.floor(rank)
    low, high = sorted(values)[below], sorted(values)[min(below + 1, len(values) - 1)]
    return low + (high - low) * (rank - below)


@settings(max_examples=examples(200), deadline=None)
@given(VALUES, st.data())
def test_both_ways_to_percentiles_are_the_definition(
    engine: Engine, values: list[float | None], data: st.DataObject
) -> None:
    among = ranges_of(data, len(values))
    column = np.array([0.0 if value is None else value for value in values])
    counts = np.array([value is not None for value in values], np.int64)
    spans = list(zip(among.firsts.tolist(), among.ends.tolist(), strict=True))
    known = [[value for value in values[a:b] if value is not None] for a, b in spans]
    right = [percentile(one, part) for one in known for part in PARTS.tolist()]
    found = np.zeros(len(right))
    engine.find_percentiles(column, counts, among, PARTS, np.zeros(len(values) + 1), found)
    assert found.tolist() == right
    order = np.argsort(column, kind="stable")
    places, tree = np.argsort(order), np.zeros(len(values) + 1, np.int64)
    found = np.zeros(len(right))
    engine.find_percentiles_of_many(column[order], places, counts, among, PARTS, tree, found)
    assert found.tolist() == right


@settings(max_examples=examples(200), deadline=None)
@given(VALUES, st.data())
def test_different_and_greatest_values_of_ranges(
    engine: Engine, values: list[float | None], data: st.DataObject
) -> None:
    among = ranges_of(data, len(values))
    codes = np.array([0 if value is None else int(value * 10) % 97 for value in values], np.int64)
    counts = np.array([value is not None for value in values], np.int64)
    spans = list(zip(among.firsts.tolist(), among.ends.tolist(), strict=True))
    known = [[int(codes[n]) for n in range(a, b) if counts[n]] for a, b in spans]
    found = np.zeros(len(spans), np.int64)
    engine.count_distinct(codes, counts, among, np.zeros(97, np.int64), found)
    assert found.tolist() == [len(set(one)) for one in known]
    engine.find_greatest(codes, counts, among, np.zeros(len(codes), np.int64), found)
    assert [None if n < 0 else int(codes[n]) for n in found.tolist()] == [
        max(one, default=None) for one in known
    ]
    assert all(n < 0 or a <= n < b for n, (a, b) in zip(found.tolist(), spans, strict=True))
