"""The rows that several segments have of a key, put together: for a batch, and when segments become one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cep.events import MAX_TIME
from cep.hashing.rows import rising
from cep.hashing.shards import Hashes
from cep.state.keyed_rows import Kept, events_of, put_together
from cep.state.keys import Keys
from cep.state.numbered import joined
from cep.state.segments import Bools, Columns, Content, Ints, Segment, indexed

SAMPLED, ENOUGH = 64, 32
"""One of so many keys that are asked for is looked up first. Where enough are there to say that most of all
are, the others need not be found."""


@dataclass(frozen=True, slots=True)
class Entries:
    """Keys of segments, which go from the first to the newest: of segment n those (rising) that stand in
    `places` from `ends[n]` up to `ends[n + 1]`."""

    segments: Sequence[Segment]
    places: Ints
    ends: Sequence[int]

    @classmethod
    def of(cls, segments: Sequence[Segment], places: Sequence[Ints]) -> Entries:
        """Some keys of each segment."""
        ends = [0, *np.cumsum([len(mine) for mine in places]).tolist()]
        return cls(segments, np.concatenate([np.zeros(0, np.int64), *places]), ends)

    def __len__(self) -> int:
        return len(self.places)

    @property
    def hashes(self) -> Hashes:
        """The hashes of the keys."""
        found = [segment.content.hashes[self.places[mine]] for segment, mine in self._by_segment()]
        return np.concatenate((np.zeros(0, np.uint64), *found))

    @property
    def due(self) -> Ints:
        """When time next changes something about what the segment says of the keys."""
        found = [segment.content.due[self.places[mine]] for segment, mine in self._by_segment()]
        return np.concatenate((np.zeros(0, np.int64), *found))

    @property
    def whole(self) -> Bools:
        """Of which keys the segment says everything."""
        found = [segment.content.whole[self.places[mine]] for segment, mine in self._by_segment()]
        return np.concatenate((np.zeros(0, bool), *found))

    @property
    def something(self) -> Bools:
        """Of which keys the segment keeps anything."""
        found = [segment.something[self.places[mine]] for segment, mine in self._by_segment()]
        return np.concatenate((np.zeros(0, bool), *found))

    def columns(self, then: Sequence[Columns] = ()) -> Columns:
        """The keys, and others after them."""
        pieces = [
            segment.content.keys
            if mine.stop - mine.start == len(segment)
            else tuple(column.take(pa.array(self.places[mine])) for column in segment.content.keys)
            for segment, mine in self._by_segment()
        ]
        return tuple(map(pa.concat_arrays, zip(*pieces, *then, strict=True)))

    def chosen(self, which: Bools) -> Entries:
        """Some of them."""
        if which.all():
            return self
        mine = [slice(a, b) for a, b in pairwise(self.ends)]
        return Entries.of(self.segments, [self.places[part].compress(which[part]) for part in mine])

    def rows(self, numbers: Ints, shared: bool = False) -> Kept:
        """The rows that are kept of the keys, under numbers that rise in every segment.

        A copy; `shared`: some of the arrays may be those of a segment.
        """
        return put_together(
            [segment.cut(self.places[mine], numbers[mine], shared) for segment, mine in self._by_segment()]
        )

    def _by_segment(self) -> Iterator[tuple[Segment, slice]]:
        for segment, (a, b) in zip(self.segments, pairwise(self.ends), strict=True):
            if b > a:
                yield segment, slice(a, b)


def numbered(hashes: Hashes, columns: Columns, order: Ints) -> tuple[Ints, Ints]:
    """Numbers for keys, equal for equal ones, that rise with their hashes, and with their values where hashes
    are equal; for each number the place of one such key. In `order` hashes rise."""
    ranked = hashes[order]
    fresh = np.ones(len(order), bool)
    fresh[1:] = ranked[1:] != ranked[:-1]
    again = np.flatnonzero(~fresh)
    if len(again) and not _equal(columns, order[again], order[again - 1]):
        # Different keys of one hash.
        codes = _codes(columns)
        order = np.lexsort((codes, hashes))
        fresh[1:] = (hashes[order][1:] != hashes[order][:-1]) | (codes[order][1:] != codes[order][:-1])
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(fresh) - 1
    return numbers, order.compress(fresh)


def _equal(columns: Columns, these: Ints, those: Ints) -> bool:
    """True if all pairs of keys are equal."""
    for column in columns:
        left, right = column.take(pa.array(these)), column.take(pa.array(those))
        if pa.types.is_floating(left.type):
            left, right = left.view(pa.int64()), right.view(pa.int64())
        if not pc.all(pc.equal(left, right)).as_py():
            return False
    return True


def _codes(columns: Columns) -> Ints:
    """Numbers for keys, in the order of their values; equal ones for equal keys."""
    codes = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        encoded = column.dictionary_encode()
        rank = np.empty(len(encoded.dictionary), np.int64)
        rank[pc.array_sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(rank))
        of_column = rank[encoded.indices.to_numpy(zero_copy_only=False)]
        codes = np.unique(codes * (len(column) + 1) + of_column, return_inverse=True)[1]
    return codes


def holding(numbers: Ints, whole: Bools, count: int) -> Bools:
    """A mask of the entries after which none says everything about their key, one of `count`."""
    last = np.zeros(count, np.int64)
    says = np.flatnonzero(whole)
    np.maximum.at(last, numbers[says], says)
    held: Bools = np.arange(len(numbers)) >= last[numbers]
    return held


@dataclass(frozen=True, slots=True)
class Gathered:
    """Keys in the order of their hashes, and what is kept of them.

    `asked` are the numbers of the keys that were given, in their order. `known`: of which keys there is a
    word in a segment, and everything that is kept in `rows`; of the others that is not asked. `everything`:
    all keys are there of which anything is kept; then runs, ways and nodes may be the very arrays of a
    segment.
    """

    keys: Keys
    hashes: Hashes
    asked: Ints
    known: Bools
    everything: bool
    rows: Kept


def gathered(
    segments: Sequence[Segment],
    keys: Columns,
    hashes: Hashes,
    wanted: Bools,
    ripe: tuple[int, int] | None,
    most: float = math.inf,
) -> Gathered:
    """Some keys, with everything that is kept of those wanted; and keys about which time changes something
    after one instant until another, with everything, too (`ripe`). All keys, where `ripe` is None or these
    weigh `most` and more, or are so many of all as `most` is of what all weigh."""
    places: Sequence[Ints] = ()
    order = _order(hashes)
    if ripe is not None:
        asked = hashes[order.compress(wanted[order])]
        if _most_are_asked(segments, asked[::SAMPLED], most):
            ripe = None
    if ripe is not None:
        due = Entries.of(segments, [segment.due(*ripe) for segment in segments])
        sought = rising(np.concatenate((asked, due.hashes)), runs=True)
        places = [segment.having(sought) for segment in segments]
        if _weigh(segments, places, most):
            ripe = None
    if ripe is None:
        places = [np.arange(len(segment)) for segment in segments]
    entries = Entries.of(segments, places)
    columns = entries.columns([keys] if len(hashes) else [])
    # All of them are runs that rise: a stable sort merges such.
    merging = np.argsort(np.concatenate((entries.hashes, hashes[order])), kind="stable")
    order = np.concatenate((np.arange(len(entries)), len(entries) + order))[merging]
    hashes = np.concatenate((entries.hashes, hashes))
    numbers, firsts = numbered(hashes, columns, order)
    of_entry, asked = numbers[: len(entries)], numbers[len(entries) :]
    held = holding(of_entry, entries.whole, len(firsts))
    times = entries.due
    falls_due = held & entries.something
    if ripe is not None:
        falls_due &= (times > ripe[0]) & (times <= ripe[1])
    # What was void already when it fell due changes nothing.
    there = _of_any(of_entry, falls_due, len(firsts))
    there[asked] = True
    held &= there[of_entry]
    renumbered = np.cumsum(there) - 1
    of_entry, firsts = renumbered[of_entry.compress(held)], firsts.compress(there)
    return Gathered(
        keys=Keys(columns, len(firsts), firsts),
        hashes=hashes[firsts],
        asked=renumbered[asked],
        known=_of_any(of_entry, np.ones(len(of_entry), bool), len(firsts)),
        everything=ripe is None,
        rows=entries.chosen(held).rows(of_entry, shared=ripe is None),
    )


def merged(segments: Sequence[Segment], number: int, base: bool, texts_of: Callable[[Kept], Ints]) -> Segment:
    """The segments, each later than the one before it and the last the newest of all, as one.

    `base`: there is none before them, so that what is forgotten needs no mention, and what nobody names can
    go; `texts_of` gives the numbers of the texts that are named, rising.
    """
    entries = Entries.of(segments, [np.arange(len(segment)) for segment in segments])
    hashes, columns = entries.hashes, entries.columns()
    numbers, firsts = numbered(hashes, columns, np.argsort(hashes, kind="stable"))
    held = holding(numbers, entries.whole, len(firsts))
    if base:
        held &= _of_any(numbers, held & entries.something, len(firsts))[numbers]
    there = _of_any(numbers, held, len(firsts))
    numbers, firsts = (np.cumsum(there) - 1)[numbers.compress(held)], firsts.compress(there)
    entries = entries.chosen(held)
    rows = entries.rows(numbers, shared=True)
    due = np.full(len(firsts), MAX_TIME, np.int64)
    some = entries.something
    np.minimum.at(due, numbers[some], entries.due[some])
    contents = [segment.content for segment in segments]
    streams = dict.fromkeys(stream for one in contents for stream in one.events)
    events = {s: joined([one.events[s] for one in contents if s in one.events]) for s in streams}
    texts = joined([one.texts for one in contents])
    if base:
        taken = events_of(rows)
        events = {stream: left for stream, of in events.items() if len((left := of.only(taken)).numbers)}
        texts = texts.only(texts_of(rows))
    content = Content(
        keys=tuple(column.take(pa.array(firsts)) for column in columns),
        hashes=hashes[firsts],
        whole=_of_any(numbers, entries.whole, len(firsts)) | base,
        due=due,
        rows=rows,
        events=events,
        texts=texts,
    )
    return indexed(number, content)


def _most_are_asked(segments: Sequence[Segment], sample: Hashes, most: float) -> bool:
    """True if keys that are asked for are, going by a sample of them, so much of all as `most` is of what all
    weigh."""
    weight = sum(segment.weight for segment in segments)
    if most > weight or len(sample) < ENOUGH:
        return False
    found = sum(len(segment.having(sample)) for segment in segments)
    return found >= ENOUGH and found * SAMPLED * weight >= most * sum(map(len, segments))


def _weigh(segments: Sequence[Segment], places: Sequence[Ints], most: float) -> bool:
    """True if some keys of each segment weigh so much together."""
    weight = sum(segment.weight for segment in segments)
    for segment, keys in zip(segments, places, strict=True):
        if weight < most:
            # The first ones are heavy: little is known to be little before all is weighed.
            break
        weight -= segment.weight - segment.weight_of(keys)
    return weight >= most


def _order(hashes: Hashes) -> Ints:
    """An order in which hashes rise: radix sorts, as numpy has them for 16 bits, by the higher half of them,
    which leave little to do."""
    order = np.argsort((hashes >> np.uint64(32)).astype(np.uint16), kind="stable")
    order = order[np.argsort((hashes >> np.uint64(48)).astype(np.uint16)[order], kind="stable")]
    ranked = hashes[order]
    if np.any(ranked[1:] < ranked[:-1]):
        order = order[np.argsort(ranked, kind="stable")]
    return order


def _of_any(numbers: Ints, which: Bools, count: int) -> Bools:
    """For each of so many keys whether it is so of any of its entries."""
    found = np.zeros(count, bool)
    found[numbers.compress(which)] = True
    return found
