"""Numbers in several arrays: the different ones, rising, and where among them each stands."""

from __future__ import annotations

import numpy as np
from effort import examples
from hypothesis import event, given, settings
from hypothesis import strategies as st

from cep.hashing.rows import SPARSE, ranked, rising_in

NEAR = st.integers(-5, 40)
FAR = st.integers(-(2**40), 2**40)
PARTS = st.lists(st.lists(NEAR, max_size=8), max_size=4) | st.lists(
    st.lists(NEAR | FAR, max_size=8), max_size=4
)


@settings(max_examples=examples(200), deadline=None)
@given(PARTS)
def test_the_different_ones_of_some_numbers(values: list[list[int]]) -> None:
    parts = [np.array(part, np.int64) for part in values]
    every = sorted({number for part in values for number in part})
    if every:
        event("marked" if every[-1] - every[0] < SPARSE * sum(map(len, values)) else "sorted")
    assert rising_in(parts).tolist() == every
    numbers, places = ranked(parts)
    assert numbers.tolist() == every
    assert [part.tolist() for part in places] == [[every.index(n) for n in part] for part in values]
