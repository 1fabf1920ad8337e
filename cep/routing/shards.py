"""Which shard an event goes to: a stable hash of its key's values, by column.

The hash depends on the values alone, not on the key space, the plan, the process or the machine, so that
a deploy never moves a key's runs to another shard.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_BASE, _ONE = np.uint64(0x9E3779B97F4A7C15), np.uint64(1)
SHORT = 64
"""Bytes of a string up to which the bytes of all strings at one place are looked at together."""
AT_ONCE = 32_768
"""Rows hashed together: what is computed on the way stays in the processor's cache."""
Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]


def shards_of(columns: Sequence[pa.Array], rows: int, shards: int) -> Places:
    """The shard of each row, by its values in the columns (not null); without columns 0."""
    if not columns or shards == 1:
        return np.zeros(rows, np.int64)
    found = hashes_of(columns, rows)
    found %= np.uint64(shards)
    return found.view(np.int64)


def hashes_of(columns: Sequence[pa.Array], rows: int) -> Hashes:
    """A 64-bit hash of each row, by its values in the columns."""
    together = np.zeros(rows, np.uint64)
    for first in range(0, rows, AT_ONCE):
        part = together[first : first + AT_ONCE]
        for column in columns:
            part *= _BASE
            part += hashes(column.slice(first, AT_ONCE))
            part[:] = _mixed(part)
    return together


def hashes(column: pa.Array) -> Hashes:
    """A 64-bit hash of each value; null has one too."""
    if pa.types.is_null(column.type):
        return np.zeros(len(column), np.uint64)
    if pa.types.is_string(column.type):
        found = _of_strings(column)
    elif pa.types.is_floating(column.type):
        # 0.0 and -0.0 are one key.
        found = (column.fill_null(0.0).to_numpy(zero_copy_only=False) + 0.0).view(np.uint64)
    elif pa.types.is_boolean(column.type):
        found = column.fill_null(False).to_numpy(zero_copy_only=False).astype(np.uint64)
    elif pa.types.is_integer(column.type):
        found = column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64).view(np.uint64)
    elif pa.types.is_timestamp(column.type) or pa.types.is_duration(column.type):
        return hashes(column.view(pa.int64()))
    else:
        return hashes(column.cast(pa.string()))
    if column.null_count:
        found = np.where(column.is_null().to_numpy(zero_copy_only=False), np.uint64(0), found)
    return _mixed(found)


def _of_strings(column: pa.StringArray) -> Hashes:
    """A polynomial hash of the UTF-8 bytes (Karp and Rabin, 1987) modulo 2**64."""
    offsets, content = _bytes_of(column)
    lengths = np.diff(offsets)
    most = int(lengths.max(initial=0))
    if most <= SHORT:
        return _by_place(offsets[:-1], lengths, content)
    long = lengths > SHORT
    found = _by_place(offsets[:-1], np.where(long, 0, lengths), content)
    found[long] = _by_running_sums(*_bytes_of(column.filter(pa.array(long))))
    return found


def _bytes_of(column: pa.StringArray) -> tuple[Places, npt.NDArray[np.uint8]]:
    """Where each string begins and the last one ends, and all their bytes."""
    _, offsets, data = column.buffers()
    if not len(column):
        return np.zeros(1, np.int64), np.zeros(0, np.uint8)
    places = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    return places.astype(np.int64), np.frombuffer(b"" if data is None else data, np.uint8)


def _by_place(begins: Places, lengths: Places, content: npt.NDArray[np.uint8]) -> Hashes:
    """The hashes of short strings, a byte of all of them at a time: Horner's rule, from their ends."""
    of_length = np.bincount(lengths, minlength=SHORT + 1)
    longer = len(begins) - np.cumsum(of_length)
    alike = of_length.max() == len(begins)
    # The longest first, so that those that have a byte at a place lie side by side; radix sort takes bytes.
    order = slice(None) if alike else np.argsort((SHORT - lengths).astype(np.uint8), kind="stable")
    begins = begins[order]
    sums = np.zeros(len(begins), np.uint64)
    for place in range(int(np.count_nonzero(longer)) - 1, -1, -1):
        begun = sums[: longer[place]]
        begun *= _BASE
        begun += content[begins[: longer[place]] + place]
        begun += _ONE
    found = np.empty_like(sums)
    found[order] = sums
    return found


def _by_running_sums(offsets: Places, content: npt.NDArray[np.uint8]) -> Hashes:
    """The hashes of long strings: differences of the sums up to their ends."""
    base, end = int(offsets[0]), int(offsets[-1])
    lengths = np.diff(offsets)
    places = np.arange(end - base) - np.repeat(offsets[:-1] - base, lengths)
    powers = _powers(int(lengths.max()))
    terms = (content[base:end].astype(np.uint64) + _ONE) * powers[places]
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)))
    return sums[offsets[1:] - base] - sums[offsets[:-1] - base]


def _powers(count: int) -> Hashes:
    powers = np.full(count, _BASE)
    powers[0] = _ONE
    return np.multiply.accumulate(powers)


def _mixed(value: Hashes) -> Hashes:
    """SplitMix64's finaliser (Steele, Lea and Flood, OOPSLA 2014)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))
