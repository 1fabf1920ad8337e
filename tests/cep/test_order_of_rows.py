"""Rows come in the order that numpy's stable sort gives, by the kernel as it stands and compiled."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.hashing import ordering, rows
from cep.hashing.compiled import load
from cep.hashing.rows import order_of

Ints = npt.NDArray[np.int64]
LEAST, MOST = -(2**63), 2**63 - 1
INTERPRETED = SimpleNamespace(order_numbers=ordering.order_numbers)
COMPILED = load()
ENGINES = {"numpy": None, "interpreted": INTERPRETED, "compiled": COMPILED}

number = (
    st.integers(-4, 4) | st.integers(LEAST, MOST) | st.sampled_from([LEAST, LEAST + 1, MOST - 1, MOST, 2**16])
)


def by(engine: Any, numbers: Ints) -> Ints:
    """The order by one of the ways, of any number of rows."""
    with (
        patch.object(rows, "at_hand", lambda: engine),
        patch.object(rows, "FEW", 1),
        np.errstate(over="ignore"),  # distances wrap around, which only numpy tells of
    ):
        return order_of(numbers)


def given_up(numbers: Ints) -> bool:
    """True if the kernel leaves the numbers to numpy."""
    places = np.zeros((1 << (len(numbers) // 2).bit_length()) + 1, np.int32)
    return not COMPILED.order_numbers(numbers, places, np.empty(len(numbers), np.int64))


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(number, max_size=60))
def test_equal_numbers_stay_as_they_are(numbers: list[int]) -> None:
    array = np.array(numbers, np.int64)
    expected = sorted(range(len(numbers)), key=numbers.__getitem__)
    for name, engine in ENGINES.items():
        assert by(engine, array).tolist() == expected, name


@settings(max_examples=examples(50), deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 3_000), st.integers(0, 62), st.integers(0, 500))
def test_many_numbers_of_any_spread_and_disorder(seed: int, size: int, bits: int, moved: int) -> None:
    random = np.random.default_rng(seed)
    array = np.sort(random.integers(-(2**bits), 2**bits, size))
    array = array[np.argsort(np.arange(size) + random.integers(0, moved + 1, size), kind="stable")]
    assert by(COMPILED, array).tolist() == np.argsort(array, kind="stable").tolist()


@pytest.mark.parametrize("engine", [INTERPRETED, COMPILED], ids=["interpreted", "compiled"])
def test_numbers_close_together_beside_one_far_away_are_left_to_numpy(engine: Any) -> None:
    array = np.append(np.random.default_rng(1).permutation(2_000), MOST)
    assert given_up(array)
    assert by(engine, array).tolist() == np.argsort(array, kind="stable").tolist()


def test_times_out_of_order_keys_and_chance_are_not_left_to_numpy() -> None:
    random = np.random.default_rng(1)
    times = np.arange(10_000) * 20_000_000
    late = times[np.argsort(times + random.integers(0, 30_000_000_000, 10_000), kind="stable")]
    for numbers in (
        late,
        late // 10**9 * 10**9,
        random.integers(0, 5_000, 10_000),
        random.integers(LEAST, MOST, 10_000),
    ):
        assert not given_up(numbers)
