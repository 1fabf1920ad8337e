"""The shard that an event goes to: a stable hash of its key's values, by column.

The hash depends on the values alone, not on the key space, the plan, the process or the machine, so that
a deploy never moves a key's runs to another shard.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.hashing import strings
from cep.hashing.kernel import BASE, FIRST, SECOND

AT_ONCE = 32_768
"""Rows hashed together: what is computed on the way stays in the processor's cache."""
Hashes = npt.NDArray[np.uint64]


def shards_of(columns: Sequence[pa.Array], rows: int, shards: int) -> npt.NDArray[np.int64]:
    """The shard of each row, by its values in the columns (not null); without columns 0."""
    if not columns or shards == 1:
        return np.zeros(rows, np.int64)
    found = hashes_of(columns, rows)
    # numpy divides by one number several times as fast as it takes remainders.
    found -= found // np.uint64(shards) * np.uint64(shards)
    return found.view(np.int64)


def hashes_of(columns: Sequence[pa.Array], rows: int) -> Hashes:
    """A 64-bit hash of each row, by its values in the columns."""
    together = np.zeros(rows, np.uint64)
    for first in range(0, rows, AT_ONCE):
        part = together[first : first + AT_ONCE]
        for column in columns:
            values = column.slice(first, AT_ONCE)
            if not strings.added(values, part):
                part *= BASE
                part += hashes(values)
                part[:] = _mixed(part)
    return together


def hashes(column: pa.Array) -> Hashes:
    """A 64-bit hash of each value; null has one too."""
    if pa.types.is_null(column.type):
        return np.zeros(len(column), np.uint64)
    if pa.types.is_string(column.type):
        found = strings.polynomials(column)
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


def _mixed(value: Hashes) -> Hashes:
    """SplitMix64's finaliser (Steele, Lea and Flood, OOPSLA 2014)."""
    value = (value ^ (value >> np.uint64(30))) * FIRST
    value = (value ^ (value >> np.uint64(27))) * SECOND
    return value ^ (value >> np.uint64(31))
