"""Rows of 64-bit numbers as bytes: by column, and of each number only what it is above the least."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
_WIDTHS = {0: "", 1 << 8: "u1", 1 << 16: "u2", 1 << 32: "u4"}
_WHOLE = "i8"


def narrowed(rows: Ints) -> tuple[list[list[int | str]], bytes]:
    """For each column the kind of its numbers and the least of them, and the bytes of all columns.

    A column of one number has none. The rows are a vector, or a matrix of a column and more.
    """
    columns = np.ascontiguousarray(rows.T if rows.ndim == 2 else rows[None])
    if not columns.shape[1]:
        return [["", 0] for _ in columns], b""
    kinds: list[list[int | str]] = []
    pieces = []
    bounds = zip(columns.min(axis=1).tolist(), columns.max(axis=1).tolist(), strict=True)
    for numbers, (least, most) in zip(columns, bounds, strict=True):
        kind = next((kind for bound, kind in _WIDTHS.items() if most - least < max(bound, 1)), _WHOLE)
        kinds.append([kind, least])
        if kind == _WHOLE:
            pieces.append(numbers.tobytes())
        elif kind:
            pieces.append((numbers - least).astype(kind).tobytes())
    return kinds, b"".join(pieces)


def widened(kinds: list[list[Any]], shape: list[int], data: memoryview) -> Ints:
    """The rows again. Raises ValueError for too few bytes."""
    columns = np.empty((shape[0], len(kinds)), np.int64)
    at = 0
    for number, (kind, least) in enumerate(kinds):
        if not kind:
            columns[:, number] = least
            continue
        of_column = np.frombuffer(data, kind, shape[0], at)
        at += of_column.nbytes
        columns[:, number] = of_column
        if kind != _WHOLE:
            columns[:, number] += least
    return columns.reshape(shape)
