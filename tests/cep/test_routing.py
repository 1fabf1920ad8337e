"""Shards never move: not between processes, machines, batches or versions of this program."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.batch import payload
from cep.batch.payload import PayloadError, from_ipc, pack, to_ipc, unpack
from cep.hashing.shards import AT_ONCE, hashes, hashes_of, shards_of


def test_these_keys_live_where_they_always_lived() -> None:
    strings = pa.array(["", "a", "b", "card-1", "日本", "a" * 300])
    longs = pa.array([0, 1, -1, 2**63 - 1, 7, 8])
    assert shards_of([strings], 6, 16).tolist() == STRINGS
    assert shards_of([longs], 6, 16).tolist() == LONGS
    assert shards_of([strings, longs], 6, 16).tolist() == PAIRS


STRINGS = [0, 0, 9, 12, 1, 12]
LONGS = [0, 13, 4, 2, 7, 10]
PAIRS = [0, 4, 5, 9, 1, 9]


@given(st.lists(st.text(max_size=6), min_size=1), st.integers(0, 3), st.integers(0, 3))
def test_a_hash_is_the_values_own(values: list[str], before: int, after: int) -> None:
    padded = ["x" * 5] * before + values + ["é"] * after
    column = pa.array(padded).slice(before, len(values))
    alone = np.concatenate([hashes(pa.array([value])) for value in values])
    assert hashes(column).tolist() == alone.tolist()


def by_definition(text: str) -> int:
    """Karp and Rabin's polynomial over the bytes, then SplitMix64's finaliser."""
    bits = 2**64
    word = sum((byte + 1) * pow(0x9E3779B97F4A7C15, place, bits) for place, byte in enumerate(text.encode()))
    word %= bits
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % bits
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % bits
    return word ^ (word >> 31)


@given(st.lists(st.text(max_size=99)))
def test_a_hash_is_what_its_definition_says(values: list[str]) -> None:
    assert hashes(pa.array(values, pa.string())).tolist() == [by_definition(value) for value in values]


def test_many_rows_are_hashed_as_each_alone() -> None:
    rows = 2 * AT_ONCE + 3
    strings, longs = pa.array([f"k{n % 977}" for n in range(rows)]), pa.array(range(rows))
    together = hashes_of([strings, longs], rows)
    some = [0, 1, AT_ONCE - 1, AT_ONCE, 2 * AT_ONCE, rows - 1]
    alone = [hashes_of([strings.slice(n, 1), longs.slice(n, 1)], 1)[0] for n in some]
    assert together[some].tolist() == alone


@given(st.lists(st.text(max_size=4), unique=True, min_size=2, max_size=50))
def test_different_strings_have_different_hashes(values: list[str]) -> None:
    assert len(set(hashes(pa.array(values)).tolist())) == len(values)


def test_both_zeros_are_one_key() -> None:
    zero, other = hashes(pa.array([0.0, -0.0])).tolist()
    assert zero == other


def test_keys_spread_evenly() -> None:
    keys = pa.array([f"card-{n}" for n in range(20_000)])
    counts = np.bincount(shards_of([keys], 20_000, 16), minlength=16)
    assert counts.min() > 1100
    assert counts.max() < 1400


@pytest.mark.parametrize("data", [b"", b"CEPe", b"nothing of the kind", pack([])[:-1]])
def test_what_is_no_payload_is_refused(data: bytes) -> None:
    with pytest.raises(PayloadError):
        unpack(data)


def test_an_empty_payload_has_no_segment() -> None:
    assert unpack(pack([])) == []


@pytest.mark.parametrize("shift", range(8))
def test_a_table_from_bytes_at_any_address_has_aligned_buffers(shift: int) -> None:
    table = pa.table({"k": ["a", "bc"], "n": [1, 2]})
    data = memoryview(bytes(shift) + to_ipc(table))[shift:]
    found = from_ipc(data)
    assert found.equals(table)
    buffers = [b for column in found.columns for b in column.chunk(0).buffers() if b is not None]
    assert [b.address % 8 for b in buffers] == [0] * len(buffers)


def test_a_large_table_has_the_bytes_of_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table(
        {
            "k": ["a", None, "bc"] * 50,
            "file": pa.array(["f"] * 150).dictionary_encode(),
            "list": [[1, 2], None, []] * 50,
        }
    )
    written = []
    for counted in (0, 1 << 40):
        monkeypatch.setattr(payload, "_COUNTED", counted)
        written.append(to_ipc(pa.concat_tables([table, table]).unify_dictionaries().slice(7, 200)))
    assert written[0] == written[1]
