"""What a key space remembers, in segments: the first is the base, each later one a batch's difference to it.

A segment is a value. Of a key that stands in several, a later one either says everything, and what earlier
ones have of it is void (and if it says nothing, the key is forgotten); or it goes on where they end: runs
that began while none of the earlier ones could move. So a batch cuts out the keys that it may change, at a
cost that depends on them alone, and adds a segment with what has become of them and with what has begun.
Only the rows behind events and texts stay where they were first written, and are found by number.

Keys stand in the order of their hashes, in which segments are merged as in a log-structured merge tree
(O'Neil et al., 1996): `cep.matching.memory` says when, `cep.matching.gathering` how.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.matching import kernel
from cep.matching.numbered import Numbered
from cep.matching.rows import grouped
from cep.matching.runs import Runs, ranges
from cep.routing.shards import Hashes

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Columns = tuple[pa.Array, ...]
KEY, RULE, FROM_HERE = range(3)
"""Columns of the rows of histories and sightings: numbers of key and rule; what follows is theirs."""
FEW = 32
"""Runs of a key and rule in one segment beyond which the key is looked at whenever it has an event."""
SPARSE = 64
"""Numbers among which one is used, where it costs as much to mark those used as to sort them."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What is kept of keys, which have numbers: runs by width, histories and sightings, sorted by key."""

    runs: Mapping[int, Runs]
    histories: Ints
    sightings: Ints

    def something(self, keys: int) -> Bools:
        """Of which of so many keys anything is kept."""
        found = np.zeros(keys, bool)
        for runs in self.runs.values():
            found[runs.lists[:, kernel.KEPT_KEY]] = True
        found[self.histories[:, KEY]] = True
        found[self.sightings[:, KEY]] = True
        return found

    @property
    def size(self) -> int:
        """How much is kept, about in numbers of 64 bits: the same in one segment as spread over several."""
        parts = [part for r in self.runs.values() for part in (r.runs, r.threads, r.nodes)]
        return sum(part.size for part in parts) + 8 * (len(self.histories) + len(self.sightings))


@dataclass(frozen=True, slots=True)
class Content:
    """What a segment says of keys, which are numbered by their place in `keys`, a column per field.

    `hashes` are those of the keys and rise; keys of one hash are in order of value. `whole`: of which keys
    this is everything; of the others it goes on where earlier segments end. `due` is the first instant at
    which time changes something about a key. `events` by stream and `texts` are named by their numbers for
    good.
    """

    keys: Columns
    hashes: Hashes
    whole: Bools
    due: Ints
    rows: Rows
    events: Mapping[str, Numbered]
    texts: Numbered


@dataclass(frozen=True, slots=True)
class Segment:
    """A content and the ways to find something in it. `number` is its own in the shard for good, `weight`
    its size as that of rows, and one for each key.

    `distinct`: no two keys have the same hash. `times` are the instants at which something is due, `of_time`
    the keys in that order. `crowded` are the hashes of keys with more than FEW runs of a rule.
    `lists_of_key` says for each width where the lists of a key begin, and `firsts` where what belongs to a
    list begins; so do `histories_of_key` and `sightings_of_key`. Each of these has one place more, which says
    where the last one ends.
    """

    number: int
    content: Content
    weight: int
    something: Bools
    distinct: bool
    crowded: Hashes
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

    def having(self, hashes: Hashes) -> Ints:
        """The keys with one of the hashes (rising, each once)."""
        mine = self.content.hashes
        if not len(mine):
            return np.zeros(0, np.int64)
        first = np.searchsorted(mine, hashes)
        if self.distinct:
            inside = np.minimum(first, len(mine) - 1)
            return first.compress(mine[inside] == hashes)
        return ranges(first, np.searchsorted(mine, hashes, side="right") - first)

    def weight_of(self, keys: Ints) -> int:
        """The weight of some keys."""
        weight = len(keys)
        if not weight:
            return 0
        if 2 * weight > len(self):
            others = np.ones(len(self), bool)
            others[keys] = False
            return self.weight - self.weight_of(np.flatnonzero(others))
        for width, runs in self.content.rows.runs.items():
            of_key, firsts = self.lists_of_key[width], self.firsts[width]
            counts = (firsts[of_key[keys + 1]] - firsts[of_key[keys]]).sum(axis=0)
            rows = zip(counts.tolist(), (runs.runs, runs.threads, runs.nodes), strict=True)
            weight += sum(count * part.shape[1] for count, part in rows)
        for of_rows in (self.histories_of_key, self.sightings_of_key):
            weight += 8 * int((of_rows[keys + 1] - of_rows[keys]).sum())
        return weight

    def cut(self, keys: Ints, numbers: Ints, shared: bool = False) -> Rows:
        """What is kept of some keys (rising), under other numbers that rise, too.

        A copy; `shared`: of all keys it may be the very arrays, as far as they are the same.
        """
        if shared and len(keys) == len(self):
            return self._all(numbers)
        rows, runs = self.content.rows, {}
        for width, of_width in rows.runs.items():
            chosen, of = _rows_of(self.lists_of_key[width], keys)
            if len(chosen):
                parts = lists_of(of_width, self.firsts[width], chosen)
                parts.lists[:, kernel.KEPT_KEY] = numbers[of]
                runs[width] = parts
        return Rows(
            runs,
            _of_keys(rows.histories, self.histories_of_key, keys, numbers),
            _of_keys(rows.sightings, self.sightings_of_key, keys, numbers),
        )

    def _all(self, numbers: Ints) -> Rows:
        rows, runs = self.content.rows, {}
        for width, of_width in rows.runs.items():
            lists = of_width.lists.copy()
            lists[:, kernel.KEPT_KEY] = numbers[lists[:, kernel.KEPT_KEY]]
            runs[width] = replace(of_width, lists=lists)
        histories, sightings = rows.histories.copy(), rows.sightings.copy()
        for part in (histories, sightings):
            part[:, KEY] = numbers[part[:, KEY]]
        return Rows(runs, histories, sightings)


def indexed(number: int, content: Content) -> Segment:
    """The segment of a content."""
    size, rows = len(content.due), content.rows
    something = rows.something(size)
    of_time = np.flatnonzero(something)
    times = content.due[of_time]
    # Unsigned, for what begins before 1970 may never end.
    order = grouped((times - times.min(initial=kernel.END_OF_TIME)).view(np.uint64))
    of_time, times = of_time[order], times[order]
    crowded = [
        runs.lists[runs.lists[:, kernel.KEPT_RUNS] > FEW, kernel.KEPT_KEY] for runs in rows.runs.values()
    ]
    return Segment(
        number=number,
        content=content,
        weight=rows.size + size,
        something=something,
        distinct=bool(np.all(content.hashes[1:] != content.hashes[:-1])),
        crowded=content.hashes[np.concatenate([np.zeros(0, np.int64), *crowded])],
        times=times,
        of_time=of_time,
        lists_of_key={
            width: _begins(runs.lists[:, kernel.KEPT_KEY], size) for width, runs in rows.runs.items()
        },
        firsts={width: runs.firsts() for width, runs in rows.runs.items()},
        histories_of_key=_begins(rows.histories[:, KEY], size),
        sightings_of_key=_begins(rows.sightings[:, KEY], size),
    )


def _begins(keys: Ints, size: int) -> Ints:
    """For each of so many keys where its rows begin, and where the last ones end, by the keys of all rows."""
    found = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(keys, minlength=size), out=found[1:])
    return found


def events_of(rows: Rows) -> Ints:
    """The numbers of the events that live runs took, rising."""
    nodes = [runs.nodes[:, kernel.N_SEQUENCE] for runs in rows.runs.values() if len(runs.nodes)]
    if not nodes:
        return np.zeros(0, np.int64)
    first, last = min(of.min() for of in nodes), max(of.max() for of in nodes)
    if last - first < SPARSE * sum(map(len, nodes)):
        taken = np.zeros(last - first + 1, bool)
        for numbers in nodes:
            taken[numbers - first] = True
        return np.asarray(np.flatnonzero(taken) + first)
    # Sorting is many times as fast as what numpy.unique does with a million numbers.
    numbers = np.sort(np.concatenate(nodes))
    return numbers[np.diff(numbers, prepend=-1) > 0]


def lists_of(runs: Runs, firsts: Ints, which: Ints) -> Runs:
    """Some lists with all that belongs to them, copied."""
    lists, begin = runs.lists.take(which, axis=0), firsts.take(which, axis=0)
    parts = (
        rows.take(ranges(begin[:, n], lists[:, kernel.KEPT_RUNS + n]), axis=0)
        for n, rows in enumerate((runs.runs, runs.threads, runs.nodes))
    )
    return Runs(lists, *parts)


def _of_keys(rows: Ints, of_key: Ints, keys: Ints, numbers: Ints) -> Ints:
    """The rows of some keys, under other numbers."""
    if not len(rows):
        return rows
    chosen, of = _rows_of(of_key, keys)
    mine = rows[chosen]
    mine[:, KEY] = numbers[of]
    return mine


def _rows_of(of_key: Ints, keys: Ints) -> tuple[Ints, Ints]:
    """The rows of some keys, and the place of the key of each."""
    first = of_key[keys]
    counts = of_key[keys + 1] - first
    return ranges(first, counts), np.repeat(np.arange(len(keys)), counts)
