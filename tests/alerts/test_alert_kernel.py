"""The kernel joins texts as Arrow does, and digests them as hashlib does."""

from __future__ import annotations

import hashlib

import pyarrow as pa
import pytest
from alert_kernel import kernel_in_use
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from alerts import patience
from alerts.joining import digests, joined

LENGTHS = st.sampled_from((0, 1, 3, 4, 31, 32, 33, 54, 55, 56, 57, 63, 64, 65, 118, 119, 120, 127, 128, 129))
OCTETS = LENGTHS.flatmap(lambda length: st.binary(min_size=length, max_size=length)) | st.binary(max_size=300)
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(st.lists(OCTETS, min_size=1, max_size=20), st.integers(0, 3))
@example([bytes(n) for n in range(200)], 0)
def test_digests_are_those_of_hashlib(texts: list[bytes], left_out: int) -> None:
    column = pa.array([b"before"] * left_out + texts, pa.large_binary())[left_out:]
    with kernel_in_use(True):
        found = digests(column)
    assert [bytes(row) for row in found] == [hashlib.sha256(text).digest() for text in texts]


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

    parts = [
        column() if data.draw(st.booleans()) else data.draw(one) for _ in range(data.draw(st.integers(0, 6)))
    ]
    parts.insert(data.draw(st.integers(0, len(parts))), column())
    with kernel_in_use(False):
        expected = joined(parts, type_)
    with kernel_in_use(True):
        found = joined(parts, type_)
    found.validate(full=True)
    assert found.type == expected.type
    assert found.equals(expected)


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
