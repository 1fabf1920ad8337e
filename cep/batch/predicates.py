"""Predicates evaluated by region and by column (cep.plan.regions), and the bits by which the results travel.

An atom is a predicate of a plan. Where a plan has few, an event has a row of bits. Where it has many, an
event has the numbers of those that are true if they are few, otherwise bits: a value of an odd number of
bytes holds bits, one of an even number holds numbers of four bytes each. So an event costs what is true of
it, and not what a thousand rules might ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cep.expressions.columns import Columns
from cep.plan.regions import Regions, Together
from cep.state.keyed_rows import ranges

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
FEW = 16
"""Bytes of bits up to which an event always has bits."""
A_NUMBER = 16
"""What finding and sending a number costs, in bytes of bits."""


@dataclass(frozen=True, slots=True)
class Bits:
    """A row per event with a bit per atom, most significant first."""

    rows: Bytes

    def wanted(self) -> Bools:
        """Of which events any atom is true."""
        return _any_bit(self.rows)

    def column(self, chosen: Ints) -> pa.Array:
        """The bits of some events, in this order."""
        rows = self.rows.take(chosen, axis=0)
        size = rows.shape[1]
        column = pa.FixedSizeBinaryArray.from_buffers(pa.binary(size), len(rows), [None, pa.py_buffer(rows)])
        return column if size <= FEW else widened(column)


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of the atoms that are true, event by event: so many of each."""

    counts: Ints
    atoms: Ints

    def wanted(self) -> Bools:
        """Of which events any atom is true."""
        return self.counts > 0

    def column(self, chosen: Ints) -> pa.Array:
        """The numbers of some events, in this order."""
        counts = self.counts[chosen]
        atoms = self.atoms[ranges((np.cumsum(self.counts) - self.counts)[chosen], counts)]
        ends = np.concatenate((np.zeros(1, np.int64), 4 * np.cumsum(counts)))
        return _binary(atoms.astype("<u4").view(np.uint8), ends)


PredicateBits = Bits | Numbers


def widened(column: pa.Array) -> pa.LargeBinaryArray:
    """A column of bits, or one that may already hold numbers, in the form of one that may."""
    if not pa.types.is_fixed_size_binary(column.type):
        return column
    came = Column.of(column)
    rows = came.data[came.ends[0] : came.ends[-1]].reshape(len(column), column.type.byte_width)
    if rows.shape[1] % 2 == 0:
        rows = np.pad(rows, ((0, 0), (0, 1)))
    return _binary(rows.ravel(), np.arange(len(rows) + 1) * rows.shape[1])


def _binary(data: Bytes, ends: Ints) -> pa.LargeBinaryArray:
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(ends) - 1, [None, pa.py_buffer(ends), pa.py_buffer(data)]
    )


@dataclass(frozen=True)
class Column:
    """Predicate bits that came: event k has the bytes from `ends[k]` to `ends[k + 1]`.

    `bits`: none of them are numbers.
    """

    data: Bytes
    ends: Ints
    bits: bool

    @classmethod
    def of(cls, column: pa.Array) -> Column:
        """Reads what `PredicateBits.column` made, or parts of several such put together."""
        if pa.types.is_fixed_size_binary(column.type):
            data, size = column.buffers()[1], column.type.byte_width
            ends = (column.offset + np.arange(len(column) + 1)) * size
        else:
            _, places, data = column.buffers()
            ends = np.frombuffer(places, np.int64)[column.offset : column.offset + len(column) + 1]
        return cls(
            np.frombuffer(data or b"", np.uint8), ends.copy(), pa.types.is_fixed_size_binary(column.type)
        )

    @property
    def atoms(self) -> int:
        """A number beyond those of all atoms."""
        if self.bits:
            return 8 * int(self.ends[1] - self.ends[0]) if len(self.ends) > 1 else 1
        sizes = np.diff(self.ends)
        of_bits = sizes[sizes % 2 == 1]
        _, numbers = self._numbers
        return max(8 * int(of_bits.max(initial=0)), 1 + int(numbers.max(initial=-1)))

    def true_of(self, atom: int, rows: Ints) -> Bools:
        """Of which of some events an atom is true."""
        return Truths(self, rows).of(atom)

    def octets(self, place: int, rows: Ints) -> Bytes:
        """A byte of some events' bits; all have bits."""
        return self._rows[:, place].take(rows)

    def of_all(self, atom: int) -> Bools:
        """Of which events of the column an atom is true; some may have numbers."""
        found = np.zeros(len(self.ends) - 1, bool)
        begin, sizes = self.ends[:-1], np.diff(self.ends)
        bits = np.flatnonzero(((sizes % 2 == 1) | self.bits) & (sizes > atom >> 3))
        found[bits] = (self.data[begin[bits] + (atom >> 3)] & (128 >> (atom & 7))) != 0
        events, atoms = self._by_number
        first, last = np.searchsorted(atoms, (atom, atom + 1))
        found[events[first:last]] = True
        return found

    def any_of(self, atoms: Bools, rows: Ints) -> Bools:
        """Of which of some events any of the atoms is true that are marked among all."""
        if self.bits and len(rows):
            asked = np.packbits(atoms)[: self._rows.shape[1]]
            return _any_bit(self._rows[:, : len(asked)], asked).take(rows)
        found = np.zeros(len(self.ends) - 1, bool)
        begin, sizes = self.ends[:-1], np.diff(self.ends)
        packed = np.packbits(atoms)
        has_bits = (sizes % 2 == 1) | self.bits
        for size in np.unique(sizes[has_bits]).tolist():
            mine, asked = np.flatnonzero(has_bits & (sizes == size)), packed[:size]
            places = begin[mine][:, None] + np.arange(len(asked))
            found[mine] = np.any(self.data[places] & asked, axis=1)
        events, numbers = self._numbers
        found[events[atoms[numbers]]] = True
        return found[rows]

    @property
    def _rows(self) -> Bytes:
        """Where all have bits: a row of bytes each."""
        return self.data[self.ends[0] : self.ends[-1]].reshape(len(self.ends) - 1, -1)

    @cached_property
    def _numbers(self) -> tuple[Ints, Ints]:
        """The events that have numbers, each once for each of its numbers, and these."""
        if self.bits:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        sizes = np.diff(self.ends)
        sizes[sizes % 2 == 1] = 0
        if sizes.sum() == self.ends[-1] - self.ends[0]:
            data = self.data[self.ends[0] : self.ends[-1]]
        else:
            data = self.data[ranges(self.ends[:-1], sizes)]
        return np.repeat(np.arange(len(sizes)), sizes // 4), data.copy().view("<u4").astype(np.int64)

    @cached_property
    def _by_number(self) -> tuple[Ints, Ints]:
        """The same in the order of the numbers."""
        events, atoms = self._numbers
        order = np.argsort(atoms, kind="stable")
        return events[order], atoms[order]


@dataclass(frozen=True, slots=True)
class Truths:
    """The predicates of some events of a column, in their order; each byte of bits is fetched once."""

    column: Column
    rows: Ints
    _octets: dict[int, Bytes] = field(default_factory=dict)

    def of(self, atom: int) -> Bools:
        """Of which events an atom is true."""
        if not self.column.bits or not len(self.rows):
            return self.column.of_all(atom)[self.rows]
        if atom >= self.column.atoms:
            return np.zeros(len(self.rows), bool)
        place, bit = atom >> 3, np.uint8(128 >> (atom & 7))
        if place not in self._octets:
            self._octets[place] = self.column.octets(place, self.rows)
        return np.asarray(self._octets[place] & bit != 0)


def _any_bit(rows: Bytes, asked: Bytes | None = None) -> Bools:
    """True of rows of bytes that have any bit, or any of those asked for.

    A few columns are put together one by one: numpy takes ten times as long for rows of two bytes.
    """
    if asked is None:
        asked = np.full(rows.shape[1], 0xFF, np.uint8)
    if not 0 < rows.shape[1] <= FEW:
        return np.asarray(np.any(rows & asked, axis=1))
    found = rows[:, 0] & asked[0] != 0
    for place in range(1, rows.shape[1]):
        found |= rows[:, place] & asked[place] != 0
    return np.asarray(found)


def evaluated(columns: Columns, parts: Sequence[Together]) -> PredicateBits:
    """The atoms that are true of each event."""
    places = [[_places(columns, regions) for regions in part.regions] for part in parts]
    if _few(parts, places, len(columns.table)):
        return _numbers(columns, parts, places)
    rows = [_bits(columns, part, of) for part, of in zip(parts, places, strict=True)]
    return Bits(rows[0] if len(rows) == 1 else np.concatenate(rows, axis=1))


def _few(parts: Sequence[Together], places: Sequence[Sequence[Ints]], events: int) -> bool:
    """True if it costs less to find what is true by its numbers."""
    size = sum(-(-part.size // 8) for part in parts)
    if size <= FEW or any(regions.own is None for part in parts for regions in part.regions):
        return False
    numbers = sum(len(part.loose) for part in parts) * events
    for part, of in zip(parts, places, strict=True):
        for regions, place in zip(part.regions, of, strict=True):
            numbers += int(np.diff(regions.firsts)[place].sum())
    return numbers * A_NUMBER <= size * events


def _numbers(columns: Columns, parts: Sequence[Together], places: Sequence[Sequence[Ints]]) -> Numbers:
    """The numbers of true predicates: by the first region, evaluated further where more decides."""
    count = len(columns.table)
    found: list[tuple[Ints, Ints]] = []
    for part, of in zip(parts, places, strict=True):
        truths = {atom: _truth(columns, part, atom) for atom in part.columns}
        for regions, place in zip(part.regions, of, strict=True):
            assert regions.own is not None
            first = regions.firsts[place]
            counts = regions.firsts[place + 1] - first
            events, atoms = np.repeat(np.arange(count), counts), regions.own[ranges(first, counts)]
            asked = np.flatnonzero(part.further[atoms])
            if len(asked):
                true = np.ones(len(atoms), bool)
                for other, other_place in zip(part.regions, of, strict=True):
                    rows, atom = other_place[events[asked]], atoms[asked]
                    true[asked] &= (other.rows[rows, atom >> 3] & (128 >> (atom & 7))) != 0
                for number in np.intersect1d(atoms[asked], list(truths)).tolist():
                    of_column = asked[atoms[asked] == number]
                    true[of_column] &= truths[number][events[of_column]]
                events, atoms = events[true], atoms[true]
            found.append((events, 8 * part.first + atoms))
        for number in part.loose:
            events = np.flatnonzero(truths[number]) if number in truths else np.arange(count)
            found.append((events, np.full(len(events), 8 * part.first + number)))
    events, atoms = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    if len(found) > 1:
        order = np.argsort(events, kind="stable")
        events, atoms = events[order], atoms[order]
    return Numbers(np.bincount(events, minlength=count), atoms)


def _bits(columns: Columns, part: Together, places: Sequence[Ints]) -> Bytes:
    found: Bytes | None = None
    for regions, of in zip(part.regions, places, strict=True):
        rows = regions.rows.take(of, axis=0)
        found = rows if found is None else np.bitwise_and(found, rows, out=found)
    if part.columns or found is None:
        by_column = _by_column(columns, part)
        found = by_column if found is None else np.bitwise_and(found, by_column, out=found)
    return found


def _places(columns: Columns, regions: Regions) -> Ints:
    """The region in which each event's value lies."""
    field = columns.field(regions.path)
    last = len(regions.rows) - 1
    if regions.names is not None:
        found = pc.index_in(field, value_set=regions.names)
        named: Ints = found.fill_null(last).to_numpy(zero_copy_only=False).astype(np.int64)
        return named
    assert regions.bounds is not None
    known = field.fill_null(0) if field.null_count else field
    places: Ints = np.searchsorted(regions.bounds, known.to_numpy(zero_copy_only=False), side="right")
    if field.null_count:
        places[field.is_null().to_numpy(zero_copy_only=False)] = last
    return places


def _truth(columns: Columns, part: Together, atom: int) -> Bools:
    return np.asarray(columns.truth(part.columns[atom]).to_numpy(zero_copy_only=False))


def _by_column(columns: Columns, part: Together) -> Bytes:
    """The bits of what is evaluated by column; those of all others are 1."""
    rows, size = len(columns.table), part.size
    others = np.packbits([atom not in part.columns for atom in range(size)])
    found = np.empty((len(others), rows), np.uint8)
    found[:] = others[:, None]
    for atom in part.columns:
        found[atom >> 3] |= _truth(columns, part, atom).view(np.uint8) << np.uint8(7 - (atom & 7))
    return np.ascontiguousarray(found.T)
