"""The kernel joins texts as Arrow does, digests them as hashlib does, and writes numbers as Python does."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from alert_kernel import kernel_in_use
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from alerts import compiled, patience
from alerts.arrow_columns import DoubleTexts
from alerts.joining import Columns, OneOf, Part, bytes_of, digests, joined
from alerts.kernel import digests_by_instruction, digests_in_lanes, intrinsics, layout
from alerts.notation import number, timestamp
from alerts.notation_columns import digits, doubles, moments
from alerts.rank_columns import orders
from alerts.ranks import decided
from kernels.family import Family
from kernels.loader import load
from kernels.processor import has

LENGTHS = st.sampled_from((0, 1, 3, 4, 31, 32, 33, 54, 55, 56, 57, 63, 64, 65, 118, 119, 120, 127, 128, 129))
OCTETS = LENGTHS.flatmap(lambda length: st.binary(min_size=length, max_size=length)) | st.binary(max_size=300)
LONG = st.just(bytes(range(256)) * 9)
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(st.lists(OCTETS, min_size=1, max_size=20), st.integers(0, 3))
@example([bytes(n) for n in range(200)], 0)
@example([bytes(range(256)) * 9, b"a" * 119, b"b" * 64], 1)
def test_digests_are_those_of_hashlib(texts: list[bytes], left_out: int) -> None:
    column = pa.array([b"before"] * left_out + texts, pa.binary())[left_out:]
    with kernel_in_use(True):
        found = digests([column], len(column))
    assert [bytes(row) for row in found] == [hashlib.sha256(text).digest() for text in texts]


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(st.lists(OCTETS | LONG, min_size=1, max_size=20))
@example([bytes(n) for n in range(200)])
def test_digests_are_the_same_on_every_processor(texts: list[bytes]) -> None:
    """Also where the processor of this machine has a better way."""
    lanes = load(Family("digests in lanes", (layout, intrinsics, digests_in_lanes), ("digest_texts",)))
    data, ends = bytes_of(pa.array(texts, pa.large_binary()))
    found = np.zeros((len(texts), layout.DIGEST), np.uint8)
    lanes["digest_texts"](
        np.frombuffer(data, np.uint8), ends, np.empty(layout.ROOM, np.uint8), found.reshape(-1)
    )
    assert [bytes(row) for row in found] == [hashlib.sha256(text).digest() for text in texts]


def test_instructions_are_used_where_the_processor_has_them() -> None:
    there = has(digests_by_instruction.FEATURE)
    assert compiled.DIGESTS is (digests_by_instruction if there else digests_in_lanes)


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_texts_are_joined_as_arrow_joins_them(data: st.DataObject) -> None:
    """Also columns that are a part of others, whose bytes end where memory may not be read any more."""
    type_, one = data.draw(st.sampled_from(((pa.string(), TEXTS), (pa.binary(), OCTETS))))
    size = data.draw(st.integers(1, 8))

    def column() -> pa.Array:
        first = data.draw(st.integers(0, 2))
        values = data.draw(st.lists(one, min_size=first + size, max_size=first + size + 1))
        whole = pa.array(values, type_)
        tight = [None if part is None else pa.py_buffer(part.to_pybytes()) for part in whole.buffers()]
        return pa.Array.from_buffers(type_, len(whole), tight)[first : first + size]

    def few() -> OneOf:
        texts = data.draw(st.lists(one, min_size=1, max_size=3))
        of = data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=size, max_size=size))
        return OneOf(tuple(texts), np.array(of, np.int64))

    drawn = st.sampled_from((column, few, lambda: data.draw(one)))
    parts = [data.draw(drawn)() for _ in range(data.draw(st.integers(0, 6)))]
    parts.insert(data.draw(st.integers(0, len(parts))), column())
    with kernel_in_use(False):
        expected = joined(parts, type_)
    with kernel_in_use(True):
        found = joined(parts, type_)
    found.validate(full=True)
    assert found.type == expected.type
    assert found.equals(expected)
    rows = [_texts_of(part, size) for part in parts]
    assert found.to_pylist() == [texts[0][:0].join(texts) for texts in zip(*rows, strict=True)]


def _texts_of(part: Part, size: int) -> list[Any]:
    """The text of each row, by definition."""
    if isinstance(part, OneOf):
        return [part.texts[place] for place in part.of]
    return [part] * size if isinstance(part, str | bytes) else part.to_pylist()


@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_rows_of_several_columns_are_chosen_as_arrow_takes_them(data: st.DataObject) -> None:
    columns = []
    for _ in range(data.draw(st.integers(1, 3))):
        first = data.draw(st.integers(0, 2))
        values = data.draw(st.lists(OCTETS | LONG, min_size=first + 1, max_size=first + 4))
        columns.append(pa.array(values, pa.large_binary())[first:])
    places = st.sampled_from([(n, row) for n, column in enumerate(columns) for row in range(len(column))])
    of, rows = np.array(data.draw(st.lists(places, min_size=1, max_size=12)), np.int64).T
    end = data.draw(st.sampled_from(("", "\n")))
    with kernel_in_use(False):
        expected = Columns(tuple(columns)).chosen(of, rows, end)
    with kernel_in_use(True):
        found = Columns(tuple(columns)).chosen(of, rows, end)
    found.validate(full=True)
    assert found.equals(expected)


DECIMALS = st.builds(lambda n, places: n / 10**places, st.integers(-(10**16), 10**16), st.integers(0, 12))
SHORT = st.builds(lambda n, places: n / 10**places, st.integers(-(10**6), 10**6), st.integers(0, 9))
"""What sums of prices and rates are like: kernel and Python agree on most."""


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | DECIMALS | SHORT, min_size=1, max_size=8))
@example([0.0, -0.0, 1e-4, 9.999999999999999e-05, 999999.999999999, 1e6, 999999999.999999, 1e9, 0.1 + 0.2])
@example([1.5, 1.5, -0.0, 0.0, 0.0, -0.0, 2.5, 2.5, 2.5, 1e300, 1e300, -7.25, -7.25, 123456.789012345])
@example([1e15, 999999999999999.9, 5e-324, 1.7976931348623157e308, 123456.7, 100.0, 1e5, 0.5, 2.5e-4, -7.25])
def test_doubles_are_written_as_python_writes_them(values: list[float]) -> None:
    for pointed, write in ((True, repr), (False, number)):
        with kernel_in_use(True):
            found = doubles(np.array(values), pointed)
        assert found is not None
        texts, left = found
        texts.validate(full=True)
        expected = ["" if out else write(value) for value, out in zip(values, left.tolist(), strict=True)]
        assert texts.to_pylist() == expected


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(SHORT, min_size=1, max_size=8))
def test_no_short_decimal_is_left_to_others(values: list[float]) -> None:
    with kernel_in_use(True):
        found = doubles(np.array(values), True)
    assert found is not None
    small = [abs(value) < 1e-4 and str(value) != "0.0" for value in values]
    assert found[1].tolist() == small


@pytest.mark.parametrize("averages", [0, 3, 140, 150])
@pytest.mark.parametrize("wanted", [True, False])
def test_columns_of_prices_and_of_averages_are_written_as_python_writes_them(
    averages: int, wanted: bool
) -> None:
    """Also where the kernel leaves some, most of the first hundred, or all."""
    values = [n / 7 for n in range(1, averages + 1)] + [n / 4 for n in range(150 - averages)] + [-0.0, 1e300]
    with kernel_in_use(wanted):
        texts = DoubleTexts(pa.array(values))
        assert texts.json.to_pylist() == list(map(repr, values))
        assert texts.canonical.to_pylist() == list(map(number, values))


NANOS = st.integers(-(2**63), 2**63 - 1)


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(
        NANOS
        | st.builds(
            lambda n, unit: n // unit * unit,
            st.integers(-(2**62), 2**62),
            st.sampled_from((10**3, 10**6, 10**9)),
        )
        | st.integers(-3 * 10**14, 3 * 10**14),
        min_size=1,
        max_size=8,
    )
)
@example([0, 0, 5, 5, 5, 1_000, 1_000, -1, -1, -(2**63), -(2**63), 2**63 - 1, 2**63 - 1])
@example([951_782_400 * 10**9 + n * 86_400 * 10**9 for n in (-1, 0, 1, 365, 366)])
def test_times_are_written_as_in_alerts(times: list[int]) -> None:
    with kernel_in_use(True):
        found = moments(np.array(times, np.int64))
    assert found is not None
    found.validate(full=True)
    assert found.to_pylist() == [timestamp(time) for time in times]


@pytest.mark.parametrize("wanted", [True, False])
def test_digests_are_written_in_digits(wanted: bool) -> None:
    rows = np.arange(256, dtype=np.uint8).reshape(8, 32)
    with kernel_in_use(wanted):
        assert digits(rows).to_pylist() == [bytes(row).hex() for row in rows]


def test_what_is_joined_with_null_is_null() -> None:
    with kernel_in_use(True):
        assert joined(["a", pa.array(["b", None]), "c"]).to_pylist() == ["abc", None]


def test_the_kernel_is_loaded_once_many_alerts_have_been_written() -> None:
    with kernel_in_use(False):
        patience.count_alerts(patience.PATIENCE // patience.LOADED - 1)
        assert patience.at_hand() is None
        patience.count_alerts(patience.PATIENCE)
        assert patience.at_hand() is not None


def test_a_lone_surrogate_is_no_part() -> None:
    with kernel_in_use(True), pytest.raises(UnicodeEncodeError):
        joined(["\ud800", pa.array(["a"])])


def test_columns_of_different_lengths_are_refused() -> None:
    with kernel_in_use(True), pytest.raises(pa.ArrowInvalid):
        joined([pa.array(["a", "b"]), pa.array(["c"])])


NUMBERS = st.integers(-(2**63), 2**63 - 1)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.tuples(NUMBERS, st.lists(NUMBERS, max_size=4)), min_size=1, max_size=20), st.booleans())
def test_orders_of_decision_are_written_as_one_by_one(
    given_orders: list[tuple[int, list[int]]], wanted: bool
) -> None:
    further = [number for _, numbers in given_orders for number in numbers]
    ends = np.cumsum([len(numbers) for _, numbers in given_orders])
    with kernel_in_use(wanted):
        found = orders(np.array([first for first, _ in given_orders]), np.array(further, np.int64), ends)
    assert found.to_pylist() == [decided((first, *numbers)) for first, numbers in given_orders]
