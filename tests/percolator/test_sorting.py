"""Keys that are sorted where they stand."""

from __future__ import annotations

import numpy as np
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from percolator.matching.kernel import sorting

KEYS = st.integers(-(2**62), 2**62) | st.integers(0, 9)
RUNS = st.lists(st.lists(KEYS, max_size=60), max_size=9)


@given(RUNS, st.integers(0, 4), st.integers(0, 600))
@settings(max_examples=examples(300), deadline=None)
def test_runs_are_merged_and_nothing_before_them_is_touched(
    runs: list[list[int]], before: int, spare: int
) -> None:
    found = [key for run in runs for key in sorted(run)]
    keys = np.array([7] * before + found + [7] * spare, np.int64)
    sorting.sort_runs(keys, before, before + len(found))
    assert keys[: before + len(found)].tolist() == [7] * before + sorted(found)
