"""Texts that keyed state names: in a segment by numbers for good, in a batch by places in a dictionary."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.state.numbered import Numbered

Ints = npt.NDArray[np.int64]
Cells = tuple[Ints, Ints, Ints]
"""Cells of an array: the array, their rows, their columns."""


def named(cells: Iterable[Cells]) -> Ints:
    """The numbers of the texts that cells name, rising."""
    found = [array[rows, columns] for array, rows, columns in cells]
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)


def renamed(cells: Iterable[Cells], used: Ints, numbers: Ints) -> None:
    """Let cells name each text of `used` (rising) by another number; the arrays are changed in place."""
    for array, rows, columns in cells:
        array[rows, columns] = numbers[np.searchsorted(used, array[rows, columns])]


def texts_of(parts: list[Numbered], used: Ints) -> tuple[pa.StringArray, Ints, Ints]:
    """Each text under any of the numbers once; for every number its place there, and for every place the
    first of its numbers."""
    found, places = [pa.array([], pa.string())], [np.zeros(0, np.int64)]
    for part in parts if len(used) else ():
        mine, rows = part.find(used)
        if len(mine):
            found.append(part.table.column("t").take(pa.array(rows)).combine_chunks())
            places.append(mine)
    order = np.argsort(np.concatenate(places))
    encoded = pa.concat_arrays(found).take(pa.array(order)).dictionary_encode()
    of_number = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    first = np.unique(of_number, return_index=True)[1]
    return encoded.dictionary, of_number, used[first]
