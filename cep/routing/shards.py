"""Which shard an event goes to: a stable hash of its key's values, by column.

The hash depends on the values alone, not on the key space, the plan, the process or the machine, so that
a deploy never moves a key's runs to another shard.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_BASE = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
Hashes = npt.NDArray[np.uint64]


def shards_of(columns: Sequence[pa.Array], rows: int, shards: int) -> npt.NDArray[np.int64]:
    """The shard of each row, by its values in the columns (not null); without columns 0."""
    if not columns or shards == 1:
        return np.zeros(rows, np.int64)
    return (hashes_of(columns, rows) % np.uint64(shards)).astype(np.int64)


def hashes_of(columns: Sequence[pa.Array], rows: int) -> Hashes:
    """A 64-bit hash of each row, by its values in the columns."""
    together = np.zeros(rows, np.uint64)
    with np.errstate(over="ignore"):
        for column in columns:
            together = _mixed(together * np.uint64(_BASE) + hashes(column))
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
    """A polynomial hash of the UTF-8 bytes (Karp and Rabin, 1987) modulo 2**64, by running sums."""
    _, offsets_buffer, data = column.buffers()
    if not len(column):
        return np.zeros(0, np.uint64)
    offsets = np.frombuffer(offsets_buffer, np.int32)[column.offset : column.offset + len(column) + 1]
    offsets = offsets.astype(np.int64)
    base, end = int(offsets[0]), int(offsets[-1])
    lengths = np.diff(offsets)
    if end == base:
        return np.zeros(len(column), np.uint64)
    content = np.frombuffer(data, np.uint8)[base:end]
    places = np.arange(end - base) - np.repeat(offsets[:-1] - base, lengths)
    powers = _powers(int(lengths.max()))
    with np.errstate(over="ignore"):
        terms = (content.astype(np.uint64) + np.uint64(1)) * powers[places]
        sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)))
        return sums[offsets[1:] - base] - sums[offsets[:-1] - base]


def _powers(count: int) -> Hashes:
    powers = np.empty(count, np.uint64)
    power = 1
    for place in range(count):
        powers[place] = power
        power = power * _BASE & _MASK
    return powers


def _mixed(value: Hashes) -> Hashes:
    """SplitMix64's finaliser (Steele, Lea and Flood, OOPSLA 2014)."""
    with np.errstate(over="ignore"):
        value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return value ^ (value >> np.uint64(31))
