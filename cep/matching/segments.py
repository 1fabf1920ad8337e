"""What a key space remembers, in segments: the first is the base, each later one a batch's difference to it.

A segment is a value. It holds everything of some keys, of which it may be the newest word or not: of a key
that stands in several the newest holds, and one that has nothing there is forgotten. So a batch cuts out the
keys that it touches, at a cost that depends on them alone, and adds a segment with what has become of them.
Only the rows behind events and texts stay where they were first written, and are found by number.

Segments are merged as in a log-structured merge tree (O'Neil et al., 1996): `cep.matching.memory` says when.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cep.matching import kernel
from cep.matching.numbered import Numbered, joined
from cep.matching.runs import Runs, ranges
from cep.routing.shards import Hashes, hashes_of

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Columns = tuple[pa.Array, ...]
KEY, RULE, FROM_HERE = range(3)
"""Columns of the rows of histories and sightings: numbers of key and rule; what follows is theirs."""


@dataclass(frozen=True, slots=True)
class Content:
    """Everything that is kept of some keys, numbered by their place in `keys`, a column per field of the key.

    `due` is the first instant at which time changes something about a key. `runs` are by width, `histories`
    and `sightings` rows sorted by key. `events` by stream and `texts` are named by their numbers for good.
    """

    keys: Columns
    due: Ints
    runs: Mapping[int, Runs]
    histories: Ints
    sightings: Ints
    events: Mapping[str, Numbered]
    texts: Numbered

    @property
    def something(self) -> Bools:
        """Of which keys anything is kept; of others it is said that there is nothing."""
        found = np.zeros(len(self.due), bool)
        for runs in self.runs.values():
            found[runs.lists[:, kernel.KEPT_KEY]] = True
        found[self.histories[:, KEY]] = True
        found[self.sightings[:, KEY]] = True
        return found

    @property
    def size(self) -> int:
        """How much is kept of these keys, in numbers of 64 bits; what is named by numbers does not count."""
        rows = [rows for r in self.runs.values() for rows in (r.lists, r.runs, r.threads, r.nodes)]
        return sum(part.size for part in (*rows, self.histories, self.sightings))


@dataclass(frozen=True, slots=True)
class Segment:
    """A content and the ways to find something in it. `number` is its own in the shard for good, `weight`
    its size in numbers of 64 bits.

    `hashes` rise, `of_hash` are the keys in that order; `times` are the instants at which something is due,
    `of_time` the keys in that order. `lists_of_key` says for each width where the lists of a key begin, and
    `firsts` where what belongs to a list begins; so do `histories_of_key` and `sightings_of_key`. Each of
    these has one place more, which says where the last one ends.
    """

    number: int
    content: Content
    weight: int
    something: Bools
    hashes: Hashes
    of_hash: Ints
    times: Ints
    of_time: Ints
    lists_of_key: Mapping[int, Ints]
    firsts: Mapping[int, Ints]
    histories_of_key: Ints
    sightings_of_key: Ints

    def __len__(self) -> int:
        return len(self.content.due)

    def due(self, after: int, until: int) -> Ints:
        """The keys about which time changes something after one instant, up to and including another."""
        begin, end = np.searchsorted(self.times, (after, until), side="right")
        return np.sort(self.of_time[begin:end])

    def cut(self, keys: Ints, first: int) -> Content:
        """What is kept of some keys (rising), which get the numbers from `first` on. Events and texts are
        left behind."""
        runs = {}
        for width, of_width in self.content.runs.items():
            chosen, of = _rows(self.lists_of_key[width], keys)
            if len(chosen):
                parts = _of_lists(of_width, self.firsts[width], chosen)
                parts.lists[:, kernel.KEPT_KEY] = first + of
                runs[width] = parts
        columns = tuple(column.take(pa.array(keys)) for column in self.content.keys)
        histories = _of_keys(self.content.histories, self.histories_of_key, keys, first)
        sightings = _of_keys(self.content.sightings, self.sightings_of_key, keys, first)
        return Content(columns, self.content.due[keys], runs, histories, sightings, {}, NO_TEXTS)


NO_TEXTS = Numbered(np.zeros(0, np.int64), pa.table({"t": pa.array([], pa.string())}))


def indexed(number: int, content: Content) -> Segment:
    """The segment of a content."""
    size = len(content.due)
    hashes = hashes_of(content.keys, size)
    of_hash = np.argsort(hashes, kind="stable")
    bounds = np.arange(size + 1)
    something = content.something
    of_time = np.flatnonzero(something)
    of_time = of_time[np.argsort(content.due[of_time], kind="stable")]
    return Segment(
        number=number,
        content=content,
        weight=content.size + size,
        something=something,
        hashes=hashes[of_hash],
        of_hash=of_hash,
        times=content.due[of_time],
        of_time=of_time,
        lists_of_key={
            width: np.searchsorted(runs.lists[:, kernel.KEPT_KEY], bounds)
            for width, runs in content.runs.items()
        },
        firsts={width: runs.firsts() for width, runs in content.runs.items()},
        histories_of_key=np.searchsorted(content.histories[:, KEY], bounds),
        sightings_of_key=np.searchsorted(content.sightings[:, KEY], bounds),
    )


def find(segments: Sequence[Segment], keys: Columns, hashes: Hashes) -> tuple[Ints, Ints]:
    """For each key the newest segment that has it (its place; -1: none), and its number there."""
    where, which = np.full(len(hashes), -1), np.zeros(len(hashes), np.int64)
    for place in range(len(segments) - 1, -1, -1):
        segment = segments[place]
        open_ = np.flatnonzero(where < 0)
        if not len(open_):
            break
        if not len(segment):
            continue
        sought = hashes[open_]
        at = np.searchsorted(segment.hashes, sought)
        while len(open_):
            # Where hashes collide, all keys of a hash are looked at, one after the other.
            inside = np.minimum(at, len(segment) - 1)
            hit = np.flatnonzero((at < len(segment)) & (segment.hashes[inside] == sought))
            open_, sought, at = open_[hit], sought[hit], at[hit]
            there = segment.of_hash[at]
            equal = _equal(segment.content.keys, there, keys, open_)
            where[open_[equal]], which[open_[equal]] = place, there[equal]
            open_, sought, at = open_[~equal], sought[~equal], at[~equal] + 1
    return where, which


def _equal(these: Columns, here: Ints, those: Columns, there: Ints) -> Bools:
    """Which pairs of keys are equal."""
    found = np.ones(len(here), bool)
    for one, other in zip(these, those, strict=True):
        left, right = one.take(pa.array(here)), other.take(pa.array(there))
        if pa.types.is_floating(left.type):
            left, right = left.view(pa.int64()), right.view(pa.int64())
        found &= pc.equal(left, right).to_numpy(zero_copy_only=False)
    return found


def due(segments: Sequence[Segment], after: int, until: int) -> list[Ints]:
    """For each segment the keys of which it is the newest word and that time changes in between."""
    return [newest(segments, place, segment.due(after, until)) for place, segment in enumerate(segments)]


def newest(segments: Sequence[Segment], place: int, keys: Ints) -> Ints:
    """Those of the keys of a segment that stand in no later one."""
    later = segments[place + 1 :]
    if not len(keys) or not later:
        return keys
    columns = tuple(column.take(pa.array(keys)) for column in segments[place].content.keys)
    where, _ = find(later, columns, hashes_of(columns, len(keys)))
    return keys[where < 0]


def cut(segments: Sequence[Segment], keys: Sequence[Ints]) -> Content:
    """What is kept of some keys of each segment (rising), numbered in that order."""
    parts, first = [], 0
    for segment, mine in zip(segments, keys, strict=True):
        if len(mine):
            parts.append(segment.cut(mine, first))
            first += len(mine)
    return together(parts)


def together(parts: Sequence[Content]) -> Content:
    """Contents of keys that are numbered one after the other, as one; without events and texts."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Content(
            (), np.zeros(0, np.int64), {}, *(np.zeros((0, FROM_HERE), np.int64),) * 2, {}, NO_TEXTS
        )
    widths = sorted({width for part in parts for width in part.runs})
    runs = {}
    for width in widths:
        of_width = [part.runs[width] for part in parts if width in part.runs]
        names = ("lists", "runs", "threads", "nodes")
        runs[width] = Runs(*(np.concatenate([getattr(one, name) for one in of_width]) for name in names))
    return Content(
        tuple(pa.concat_arrays(columns) for columns in zip(*(part.keys for part in parts), strict=True)),
        np.concatenate([part.due for part in parts]),
        runs,
        _of_one_width([part.histories for part in parts]),
        _of_one_width([part.sightings for part in parts]),
        {},
        NO_TEXTS,
    )


def _of_one_width(parts: Sequence[Ints]) -> Ints:
    """Rows of several widths, the missing columns 0."""
    width = max(part.shape[1] for part in parts)
    if all(part.shape[1] == width for part in parts):
        return np.concatenate(parts)
    return np.concatenate([np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts])


def merged(
    segments: Sequence[Segment], number: int, whole: bool, texts_of: Callable[[Content], Ints]
) -> Segment:
    """The segments, each later than the one before it and the last the newest of all, as one.

    `whole`: there is none before them, so that what is forgotten needs no mention, and what nobody names can
    go; `texts_of` gives the numbers of the texts that a content names, rising.
    """
    keys = []
    for place, segment in enumerate(segments):
        kept = np.flatnonzero(segment.something) if whole else np.arange(len(segment))
        keys.append(newest(segments, place, kept))
    content = cut(segments, keys)
    contents = [segment.content for segment in segments]
    streams = dict.fromkeys(stream for one in contents for stream in one.events)
    events = {s: joined([one.events[s] for one in contents if s in one.events]) for s in streams}
    texts = joined([one.texts for one in contents])
    if whole:
        taken = events_of(content)
        events = {stream: left for stream, of in events.items() if len((left := of.only(taken)).numbers)}
        texts = texts.only(texts_of(content))
    return indexed(number, replace(content, events=events, texts=texts))


def events_of(content: Content) -> Ints:
    """The numbers of the events that live runs took, rising."""
    nodes = [runs.nodes[:, kernel.N_SEQUENCE] for runs in content.runs.values()]
    return np.unique(np.concatenate(nodes)) if nodes else np.zeros(0, np.int64)


def _of_keys(rows: Ints, of_key: Ints, keys: Ints, first: int) -> Ints:
    """The rows of some keys, which get the numbers from `first` on."""
    if not len(rows):
        return rows
    chosen, of = _rows(of_key, keys)
    mine = rows[chosen]
    mine[:, KEY] = first + of
    return mine


def _rows(of_key: Ints, keys: Ints) -> tuple[Ints, Ints]:
    """The rows of some keys, and the place of the key of each."""
    counts = of_key[keys + 1] - of_key[keys]
    return ranges(of_key[keys], counts), np.repeat(np.arange(len(keys)), counts)


def _of_lists(runs: Runs, firsts: Ints, which: Ints) -> Runs:
    """Some lists with all that belongs to them."""
    lists, begin = runs.lists[which], firsts[which]
    parts = (
        rows[ranges(begin[:, n], lists[:, kernel.KEPT_RUNS + n])]
        for n, rows in enumerate((runs.runs, runs.threads, runs.nodes))
    )
    return Runs(lists, *parts)
