"""Columns of strings get the same hashes and numbers by column, by the kernel as it stands, and compiled."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.hashing import kernel, strings
from cep.hashing.compiled import load
from cep.hashing.shards import hashes_of
from cep.hashing.strings import SHORT, distinct, known_to_differ, numbered, polynomials

BITS = 2**64
INTERPRETED = SimpleNamespace(
    add_texts=kernel.add_texts, all_differ=kernel.all_differ, place_names=kernel.place_names,
    number_texts=kernel.number_texts,
)  # fmt: skip
COMPILED = load()

short = st.text(max_size=9)
long = st.builds(lambda text, times: (text * times)[: SHORT + times], st.text(min_size=1), st.integers(0, 99))
at_words = st.builds(
    lambda size, place, other: "a" * (size - place - 1) + other + "a" * place,
    st.integers(8, 34), st.sampled_from((0, 7)), st.sampled_from("ab\0"),
)  # fmt: skip
"""Around whole words of eight bytes, equal but for one place."""
texts = st.lists(short | long | at_words | st.sampled_from(["", "\0", "aaaaaaa"]), max_size=70)


def column(values: Sequence[str], before: Sequence[str] = ()) -> pa.StringArray:
    """The values as a part of a longer column."""
    return pa.array([*before, *values, "after"], pa.string()).slice(len(before), len(values))


def by(engine: Any, function: Any, argument: pa.StringArray) -> Any:
    """The result of a function with one of the kernels; hashes wrap around, which only numpy tells of."""
    with patch.object(strings, "at_hand", lambda: engine), np.errstate(over="ignore"):
        return function(argument)


def polynomial(text: str) -> int:
    return (
        sum((byte + 1) * pow(int(kernel.BASE), place, BITS) for place, byte in enumerate(text.encode()))
        % BITS
    )


def mixed(word: int) -> int:
    for shift, factor in ((30, kernel.FIRST), (27, kernel.SECOND)):
        word = (word ^ (word >> shift)) * int(factor) % BITS
    return word ^ (word >> 31)


@settings(max_examples=examples(100), deadline=None)
@given(texts, st.lists(short, max_size=2))
def test_a_hash_is_what_its_definition_says(values: list[str], before: list[str]) -> None:
    assert polynomials(column(values, before)).tolist() == list(map(polynomial, values))


@settings(max_examples=examples(100), deadline=None)
@given(texts, st.lists(short, max_size=2), st.integers(0, 99))
def test_hashes_of_keys_are_what_their_definition_says(
    values: list[str], before: list[str], other: int
) -> None:
    others = pa.array([n % 7 + other for n in range(len(values))], pa.int64())
    expected = []
    for value, number in zip(values, others.to_pylist(), strict=True):
        of_number = mixed(mixed(number))
        of_value = mixed((of_number * int(kernel.BASE) + mixed(polynomial(value))) % BITS)
        expected.append(mixed((of_value * int(kernel.BASE) + mixed(polynomial(value))) % BITS))
    of_column = column(values, before)
    for engine in (None, INTERPRETED, COMPILED):
        found = by(engine, lambda key: hashes_of([others, key, key], len(key)), of_column)
        assert found.tolist() == expected, engine


@settings(max_examples=examples(100), deadline=None)
@given(texts, st.lists(short, max_size=2), st.sampled_from((2, 64, strings.SLOTS)))
def test_strings_are_numbered_in_order_of_first_occurrence(
    values: list[str], before: list[str], slots: int
) -> None:
    different = list(dict.fromkeys(values))
    expected = [different.index(value) for value in values], [values.index(value) for value in different]
    of_column = column(values, before)
    with patch.object(strings, "SLOTS", slots):
        for found in (
            distinct(of_column),
            by(COMPILED, numbered, of_column),
            by(INTERPRETED, numbered, of_column),
        ):
            assert tuple(part.tolist() for part in found) == expected


@settings(max_examples=examples(100), deadline=None)
@given(texts, st.lists(short, max_size=2))
def test_strings_are_known_to_differ_where_none_is_equal_to_another(
    values: list[str], before: list[str]
) -> None:
    """Of so few no two that differ have a hash in common."""
    of_column = column(values, before)
    for engine in (COMPILED, INTERPRETED):
        assert by(engine, known_to_differ, of_column) == (len(set(values)) == len(values))
    assert not by(None, known_to_differ, of_column)


def test_strings_with_a_hash_in_common_are_not_known_to_differ() -> None:
    with patch.object(kernel, "FIRST", np.uint64(0)):
        assert not by(INTERPRETED, known_to_differ, column(["a", "b"]))


def test_other_columns_are_not_known_to_differ() -> None:
    assert not by(COMPILED, known_to_differ, pa.array([1, 2]))


def test_strings_of_one_hash_are_compared() -> None:
    values = ["", "a", "b", "ab", "a", "long " * 9, "long " * 8 + "song ", "b", "", "long " * 9]
    with patch.object(kernel, "FIRST", np.uint64(0)):
        numbers, first = by(INTERPRETED, numbered, column(values))
    assert numbers.tolist() == [0, 1, 2, 3, 1, 4, 5, 2, 0, 4]
    assert first.tolist() == [0, 1, 2, 3, 5, 6]


@pytest.mark.parametrize("engine", [INTERPRETED, COMPILED], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("slots", [64, strings.SLOTS])
def test_many_strings_fill_their_table(engine: Any, slots: int) -> None:
    """Also one that grows: while most strings are new, and later."""
    values = [f"k{n * 7919 % 1023}" for n in range(2047)]
    with patch.object(strings, "SLOTS", slots):
        numbers, first = by(engine, numbered, column(values))
    assert len(first) == 1023
    assert [values[row] for row in first.tolist()] == list(dict.fromkeys(values))
    assert [values[first[number]] for number in numbers.tolist()] == values


@pytest.mark.slow
@pytest.mark.parametrize("engine", [INTERPRETED, COMPILED], ids=["interpreted", "compiled"])
def test_strings_may_lie_at_any_address(engine: Any) -> None:
    values = ["a", "", "bc"]
    _, offsets, data = column(values).buffers()
    for shift in range(8):
        moved = pa.py_buffer(memoryview(bytes(shift) + offsets.to_pybytes())[shift:])
        assert moved.address % 8 == shift
        found = pa.StringArray.from_buffers(len(values), moved, data)
        assert by(engine, polynomials, found).tolist() == list(map(polynomial, values))


@pytest.mark.slow
def test_numba_is_not_imported_for_strings_alone() -> None:
    code = (
        "import sys, pyarrow as pa\n"
        "from cep.hashing.strings import numbered, polynomials\n"
        "polynomials(pa.array(['a'] * 100_000)); numbered(pa.array(['a'] * 100_000))\n"
        "sys.exit('numba' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
