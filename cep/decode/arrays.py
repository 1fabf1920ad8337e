"""Arrow arrays from Python values, without what `pa.array` and `pa.scalar` do first: import pandas.

That import takes longer than a small `cep eval` may take in all. Arrays built from buffers, and
scalars taken out of arrays, do without it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def numbers(values: NDArray[np.int64], type_: pa.DataType | None = None) -> pa.Array:
    """Integers as an array of an eight-byte Arrow type (int64 by default), not copied."""
    return pa.Array.from_buffers(type_ or pa.int64(), len(values), [None, pa.py_buffer(values)])


def texts(values: Sequence[str]) -> pa.Array:
    """Strings as an array. Raises UnicodeEncodeError for half a surrogate pair."""
    encoded = [value.encode() for value in values]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(values), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded)))


def repeated(value: str, times: int) -> pa.Array:
    """One string in every row, dictionary-encoded."""
    indices = pa.Array.from_buffers(pa.int32(), times, [None, pa.py_buffer(np.zeros(times, np.int32))])
    return pa.DictionaryArray.from_arrays(indices, texts([value]))
