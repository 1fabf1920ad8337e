"""Narrow numbers are the numbers that they were."""

from __future__ import annotations

import json

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cep.state.narrow import narrowed, widened

NUMBERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 255),
    st.integers(2**62, 2**62 + 70_000),
    st.sampled_from([-(2**63), 2**63 - 1, 0, 2**32, 2**32 - 1, 256, 65_535, 65_536]),
)


@settings(max_examples=examples(200), deadline=None)
@given(arrays.arrays(np.int64, arrays.array_shapes(min_dims=1, max_dims=2, min_side=0), elements=NUMBERS))
def test_narrow_numbers_are_what_they_were(rows: np.ndarray) -> None:
    kinds, data = narrowed(rows)
    again = widened(json.loads(json.dumps(kinds)), list(rows.shape), memoryview(data))
    assert again.dtype == np.int64
    assert np.array_equal(again, rows)
    assert again.flags.writeable, "what is cut out of a state is changed in place"


@pytest.mark.parametrize(("most", "size"), [(0, 0), (255, 1), (256, 2), (65_536, 4), (2**32, 8)])
def test_a_column_takes_as_many_bytes_as_its_numbers_differ_by(most: int, size: int) -> None:
    _, data = narrowed(np.array([[7], [7 + most]], np.int64))
    assert len(data) == 2 * size
