"""A shard's dictionary: strings (and decimals, as text that sorts like them) as numbers for the kernel."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Numbers = npt.NDArray[np.int64]
_DIGITS = 38


@dataclass(slots=True)
class Texts:
    """Values by number, without repetition; it only grows until `kept`."""

    values: pa.StringArray

    @classmethod
    def empty(cls) -> Texts:
        """A dictionary without entries."""
        return cls(pa.array([], pa.string()))

    def numbers(self, column: pa.Array) -> Numbers:
        """The number of each value, new ones added; 0 where null."""
        if pa.types.is_decimal(column.type):
            column = pa.array([None if v is None else sortable(v) for v in column.to_pylist()], pa.string())
        encoded = column.dictionary_encode()
        known = pc.index_in(encoded.dictionary, value_set=self.values)
        of_entry = known.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        new = of_entry < 0
        if new.any():
            of_entry[new] = len(self.values) + np.arange(int(np.count_nonzero(new)))
            self.values = pa.concat_arrays([self.values, encoded.dictionary.filter(pa.array(new))])
        indices = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)
        return of_entry[indices] if len(of_entry) else np.zeros(len(column), np.int64)

    def ranks(self) -> Numbers:
        """Each entry's place in the order by code point."""
        order = pc.array_sort_indices(self.values).to_numpy(zero_copy_only=False)
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order))
        return ranks

    def kept(self, used: Numbers) -> tuple[Texts, Numbers]:
        """The dictionary with only these entries, and the new number of each old one."""
        alive = np.unique(used)
        renumbered = np.zeros(len(self.values), np.int64)
        renumbered[alive] = np.arange(len(alive))
        return Texts(self.values.take(pa.array(alive))), renumbered


def sortable(value: Decimal) -> str:
    """A decimal of up to 38 digits, 18 of them behind the point, as text that sorts like the number.

    Negative numbers as ten's complements, so that all have one width.
    """
    scaled = int(value.scaleb(18).to_integral_value())
    return f"{scaled + 10**_DIGITS:0{_DIGITS + 1}d}"


def decimal_of(text: str) -> Decimal:
    """The decimal that `sortable` wrote."""
    return Decimal(int(text) - 10**_DIGITS).scaleb(-18)
