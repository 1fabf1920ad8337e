"""The memory of a key space, in segments: the first is the base, each later one a batch's difference to it.

A segment is a value. Of a key that stands in several, a later one either says everything, and what earlier
ones have of it is void (and if it says nothing, the key is forgotten); or it goes on where they end: runs
that began while none of the earlier ones could move. So a batch cuts out the keys that it may change, at a
cost that depends on them alone, and adds a segment with what has become of them and with what has begun.
Only the rows behind events and texts stay where they were first written, and are found by number.

Keys stand in the order of their hashes, in which segments are merged as in a log-structured merge tree
(O'Neil et al., 1996): `cep.shard.memory` says when, `cep.state.gathering` how.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.events import MAX_TIME
from cep.hashing.rows import order_of
from cep.hashing.shards import Hashes
from cep.state.keyed_rows import InSegment, Kept, KeyIndex, ranges, size_of, something
from cep.state.numbered import Numbered

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Columns = tuple[pa.Array, ...]
FEW = 32
"""Runs of a key and rule in one segment beyond which the key is looked at whenever it has an event."""
MOST_SEGMENTS = 20
"""Segments beyond which runs of a key might be too many although each segment has few."""


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a segment: keys, which are numbered by their place in `keys`, a column per field.

    `hashes` are those of the keys and rise; keys of one hash are in order of value. `whole`: of which keys
    this is everything; of the others it goes on where earlier segments end. `due` is the first instant at
    which time changes something about a key. `events` by stream and `texts` are named by their numbers for
    good.
    """

    keys: Columns
    hashes: Hashes
    whole: Bools
    due: Ints
    rows: InSegment
    events: Mapping[str, Numbered]
    texts: Numbered


@dataclass(frozen=True, slots=True)
class Segment:
    """A content and the ways to find something in it. `number` is its own in the shard for good, `weight`
    its size as that of rows, and one for each key.

    `distinct`: no two keys have the same hash. `times` are the instants at which something is due, `of_time`
    the keys in that order. `crowded` are the hashes of keys with more than FEW runs of a rule.
    `indexes` find by kind of state what is kept of a key.
    """

    number: int
    content: Content
    weight: int
    something: Bools
    distinct: bool
    crowded: Hashes
    times: Ints
    of_time: Ints
    indexes: Mapping[str, KeyIndex]

    def __len__(self) -> int:
        return len(self.content.due)

    def due(self, after: int, until: int) -> Ints:
        """The keys about which time changes something after one instant, up to and including another."""
        begin, end = np.searchsorted(self.times, (after, until), side="right")
        return np.sort(self.of_time[begin:end])

    def next_due(self, after: int) -> int:
        """The first instant after another at which time changes something about a key, or MAX_TIME."""
        at = np.searchsorted(self.times, after, side="right")
        return int(self.times[at]) if at < len(self.times) else MAX_TIME

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
        return weight + sum(index.weight_of(keys) for index in self.indexes.values())

    def cut(self, keys: Ints, numbers: Ints, shared: bool = False) -> Kept:
        """The rows of some keys (rising), under other numbers that rise, too.

        A copy; `shared`: of all keys it may be the very arrays, as far as they are the same.
        """
        if shared and len(keys) == len(self):
            return {kind: rows.renumbered(numbers) for kind, rows in self.content.rows.items()}
        return {kind: index.cut(keys, numbers) for kind, index in self.indexes.items()}


def indexed(number: int, content: Content) -> Segment:
    """The segment of a content."""
    size, rows = len(content.due), content.rows
    kept = something(rows, size)
    of_time = np.flatnonzero(kept)
    times = content.due[of_time]
    order = order_of(times)
    of_time, times = of_time[order], times[order]
    crowded = [of_kind.crowded(FEW) for of_kind in rows.values()]
    compact = {kind: of_kind.compacted(size) for kind, of_kind in rows.items()}
    return Segment(
        number=number,
        content=replace(content, rows=compact),
        weight=size_of(rows) + size,
        something=kept,
        distinct=bool(np.all(content.hashes[1:] != content.hashes[:-1])),
        crowded=content.hashes[np.concatenate([np.zeros(0, np.int64), *crowded])],
        times=times,
        of_time=of_time,
        indexes={kind: of_kind.indexed(size) for kind, of_kind in compact.items()},
    )
