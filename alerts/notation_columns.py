"""Columns of numbers, times and digests as texts, by the kernel where it is at hand (`alerts.patience`).

Each function gives None, or leaves rows out, where others write as well or better: `alerts.arrow_columns`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from alerts.joining import MOST, kernel_for
from alerts.kernel.layout import DOUBLE, MOMENT

if TYPE_CHECKING:
    from alerts.compiled import Kernel

Array = Any
"""An Arrow array of strings without nulls."""
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def moments(times: Ints) -> Array | None:
    """Each as `alerts.notation.timestamp` writes it; `times` in ns since 1970 UTC."""
    kernel = _kernel(len(times), MOMENT)
    if kernel is None:
        return None
    ends, texts = np.empty(len(times) + 1, np.int32), np.empty(len(times) * MOMENT, np.uint8)
    kernel.write_moments(np.ascontiguousarray(times), ends, texts)
    return _strings(ends, texts)


def doubles(values: npt.NDArray[np.float64], pointed: bool) -> tuple[Array, Bools] | None:
    """Doubles in their shortest form, whole ones with `.0` where they are `pointed`; and a mask of those
    that are left out, whose text is empty."""
    kernel = _kernel(len(values), DOUBLE)
    if kernel is None:
        return None
    ends, texts = np.empty(len(values) + 1, np.int32), np.empty(len(values) * DOUBLE, np.uint8)
    left = np.empty(len(values), np.uint8)
    kernel.write_doubles(np.ascontiguousarray(values), pointed, ends, texts, left)
    return _strings(ends, texts), left.view(np.bool_)


def digits(rows: npt.NDArray[np.uint8]) -> Array:
    """A row of bytes each as hexadecimal digits."""
    count, width = rows.shape
    kernel = _kernel(count, 2 * width)
    if kernel is None:
        texts = np.frombuffer(rows.tobytes().hex().encode(), np.uint8)
    else:
        texts = np.empty(2 * count * width, np.uint8)
        kernel.write_digits(rows.reshape(-1), texts)
    return _strings(np.arange(count + 1, dtype=np.int32) * np.int32(2 * width), texts)


def _kernel(rows: int, most: int) -> Kernel | None:
    """The kernel for so many texts of so many bytes at most."""
    return kernel_for(rows) if rows * most <= MOST else None


def _strings(ends: npt.NDArray[np.int32], texts: npt.NDArray[np.uint8]) -> Array:
    return pa.Array.from_buffers(
        pa.string(), len(ends) - 1, [None, pa.py_buffer(ends), pa.py_buffer(texts[: ends[-1]])]
    )
