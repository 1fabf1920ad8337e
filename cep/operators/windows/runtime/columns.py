"""Values that items have of an argument: events, or panes and sessions folded of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cep.batch.texts import Texts
from cep.operators.windows.kernel.layout import DECIMAL, DOUBLE, LONG, Values
from cep.state.keyed_rows import Bools, Ints
from rules.types import ListOf, Record, Scalar, Type

NO_INTS = np.zeros(0, np.int64)
ABSENT = np.int64(-1)


@dataclass(frozen=True, slots=True)
class Column:
    """Values of an argument, item by item: see cep.operators.windows.kernel.layout.Values. `high` is empty
    but of decimals; `sums` and `squares` are empty where no item is folded."""

    counts: Ints
    low: Ints
    high: Ints = field(default_factory=lambda: NO_INTS)
    sums: Ints = field(default_factory=lambda: NO_INTS)
    squares: Ints = field(default_factory=lambda: NO_INTS)
    packed: Ints = field(default_factory=lambda: NO_INTS)

    @property
    def values(self) -> Values:
        """The column as the kernel takes it."""
        return Values(self.counts, self.low, self.high, self.sums, self.squares, self.packed)

    def taken(self, order: Ints) -> Column:
        """Some items in an order."""

        def some(part: Ints) -> Ints:
            return part[order] if len(part) else part

        return Column(
            self.counts[order],
            self.low[order],
            some(self.high),
            some(self.sums),
            some(self.squares),
            self.packed,
        )


def kind_of(type_: Type) -> int:
    """The kind of addition of a type: that of longs for what is none of the others."""
    return DOUBLE if type_ is Scalar.DOUBLE else DECIMAL if type_ is Scalar.DECIMAL else LONG


def is_nested(type_: Type) -> bool:
    """True of lists and records."""
    return isinstance(type_, ListOf | Record)


def is_text(type_: Type) -> bool:
    """True of strings."""
    return type_ in (Scalar.STRING, Scalar.TEXT)


def column_of(array: pa.Array | None, type_: Type, numbers: Ints, texts: Texts) -> Column:
    """The column of an argument over events; of lists and records it has the events' numbers."""
    if array is None:
        return Column(np.ones(len(numbers), np.int64), numbers)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    known = _known(array)
    if is_text(type_):
        return Column(known.astype(np.int64), np.where(known, texts.numbers(array), 0))
    if type_ is Scalar.DECIMAL:
        words = _words(array, 2).reshape(-1, 2)
        low, high = (np.where(known, words[:, n], 0) for n in range(2))
        return Column(known.astype(np.int64), low, high)
    if type_ is Scalar.BOOLEAN:
        low = pc.fill_null(array, False).cast(pa.int8()).to_numpy(zero_copy_only=False).astype(np.int64)
        return Column(known.astype(np.int64), low)
    words = _words(array, 1)
    if type_ is Scalar.DOUBLE:
        doubles = words.view(np.float64)
        known &= np.isfinite(doubles)
        words = (doubles + 0.0).view(np.int64)
    return Column(known.astype(np.int64), words if known.all() else np.where(known, words, 0))


def _known(array: pa.Array) -> Bools:
    if not array.null_count:
        return np.ones(len(array), bool)
    found: Bools = array.is_valid().to_numpy(zero_copy_only=False)
    return found.copy()


def _words(array: pa.Array, width: int) -> Ints:
    """The 64-bit words behind an array of numbers."""
    buffer = array.buffers()[1]
    if buffer is None:
        return np.zeros(width * len(array), np.int64)
    words = np.frombuffer(buffer, np.int64)
    return words[width * array.offset : width * (array.offset + len(array))]


def ends_of(sizes: Ints) -> Ints:
    """Where parts of these sizes begin, one after the other, and last where they end."""
    found = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=found[1:])
    return found
