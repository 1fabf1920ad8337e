"""Hits with highlights by column: as many Python objects as are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from percolator.hit import Hit, Range

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

_END = 0xFFFFFFFF
_AT_ONCE = 1024
"""So many pairs' ranges become Python's objects together."""
RANGES = pa.list_(pa.struct([("field", pa.string()), ("start", pa.int32()), ("end", pa.int32())]))
"""The type of the highlights of a hit as Arrow has them."""


@dataclass(frozen=True, slots=True, eq=False)
class HighlightedPairs:
    """Pairs (document, query) in this order, as `HitPairs`, and what made each true.

    `ranges` are start << 32 | end in code points, by pair, field and place; `counts` has a row a pair: the
    number of its ranges in each of the `fields`. `names` has by number of the pair, where there are any, the
    names of its true parts. `incomplete` are pairs with too many places to be listed.
    """

    document: Ints
    query: Ints
    fields: tuple[str, ...]
    counts: Longs
    ranges: Longs
    names: Mapping[int, tuple[str, ...]]
    incomplete: frozenset[int] = frozenset()
    undecided: Sequence[tuple[int, int]] = ()

    @property
    def start(self) -> Ints:
        """The first code point of each range."""
        return (self.ranges >> 32).astype(np.int32)

    @property
    def end(self) -> Ints:
        """The code point behind each range."""
        return self.ranges.astype(np.int32)

    def taken(self, places: Longs, undecided: Sequence[tuple[int, int]] | None = None) -> HighlightedPairs:
        """Some of the pairs, in that order, with other undecided ones where they are given."""
        new = {old: number for number, old in enumerate(places.tolist())} if self._some_told() else {}
        return HighlightedPairs(
            self.document[places],
            self.query[places],
            self.fields,
            self.counts[places],
            self.ranges[_taken_ranges(self.counts.sum(axis=1), places)],
            {new[number]: names for number, names in self.names.items() if number in new},
            frozenset(new[number] for number in self.incomplete if number in new),
            self.undecided if undecided is None else undecided,
        )

    def with_hits(self, hits: Iterable[tuple[int, Hit | None]]) -> HighlightedPairs:
        """The same with hits for some pairs, ascending, that have no ranges yet; None for incomplete ones."""
        counts, names, incomplete = self.counts.copy(), dict(self.names), set(self.incomplete)
        parts: list[Longs] = []
        ends = np.cumsum(counts.sum(axis=1))
        done = 0
        for pair, hit in hits:
            end = int(ends[pair])
            parts.append(self.ranges[done:end])
            done = end
            if hit is None:
                incomplete.add(pair)
                continue
            if hit.names:
                names[pair] = hit.names
            for place, name in enumerate(self.fields):
                ranges = np.array(hit.highlights.get(name, ()), np.int64).reshape(-1, 2)
                counts[pair, place] = len(ranges)
                parts.append(ranges[:, 0] << 32 | ranges[:, 1])
        return replace(
            self, counts=counts, ranges=np.concatenate([*parts, self.ranges[done:]]), names=names,
            incomplete=frozenset(incomplete),
        )  # fmt: skip

    def _some_told(self) -> bool:
        return bool(self.names or self.incomplete)

    def highlights(self) -> Iterator[dict[str, list[Range]]]:
        """By pair its ranges by field, as `Hit` has them."""
        ends = np.cumsum(self.counts.sum(axis=1))
        begin = 0
        for first in range(0, len(ends), _AT_ONCE):
            counts = self.counts[first : first + _AT_ONCE]
            end = int(ends[first + len(counts) - 1])
            yield from by_field(self.fields, counts, self.ranges[begin:end])
            begin = end

    def arrow(self) -> pa.ListArray:
        """The ranges of each pair as RANGES, null where they are incomplete."""
        ends = np.zeros(len(self.document) + 1, np.int64)
        np.cumsum(self.counts.sum(axis=1), out=ends[1:])
        each = pa.StructArray.from_arrays(
            [self._field_names(), pa.array(self.start), pa.array(self.end)], fields=list(RANGES.value_type)
        )
        gaps = np.zeros(len(self.document), np.bool_)
        gaps[list(self.incomplete)] = True
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), each, mask=pa.array(gaps))

    def _field_names(self) -> pa.StringArray:
        """The field of each range."""
        if len(self.fields) == 1:
            return pa.repeat(pa.scalar(self.fields[0], pa.string()), len(self.ranges))
        numbers = np.repeat(np.tile(np.arange(len(self.fields)), len(self.document)), self.counts.ravel())
        return pa.array(self.fields, pa.string()).take(pa.array(numbers))


def by_field(fields: tuple[str, ...], counts: Longs, ranges: Longs) -> Iterator[dict[str, list[Range]]]:
    """By pair its ranges by field, fields that have none left out."""
    pairs = list(zip((ranges >> 32).tolist(), (ranges & _END).tolist(), strict=True))
    begin = 0
    if len(fields) == 1:
        (name,) = fields
        for end in np.cumsum(counts).tolist():
            yield {name: pairs[begin:end]} if end > begin else {}
            begin = end
        return
    for row in counts.tolist():
        found = {}
        for name, count in zip(fields, row, strict=True):
            if count:
                found[name] = pairs[begin : begin + count]
            begin += count
        yield found


def _taken_ranges(counts: Longs, places: Longs) -> Longs:
    """The ranges of some pairs, one pair's behind the other's."""
    begins = np.cumsum(counts) - counts
    lengths = counts[places]
    ends = np.cumsum(lengths)
    shifts = np.repeat(begins[places] - (ends - lengths), lengths)
    return shifts + np.arange(len(shifts))
