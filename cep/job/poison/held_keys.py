"""The keys of which a shard remembers something, one by one: to forget some, and to look for poison.

An event that was taken by a partial match lies in what is remembered of its key, and may end whatever goes on
with that: when a later event of the key comes, or when its time is over. So the key begins anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.decode.letters import DeadLetter
from cep.decode.parquet_rows import as_json
from cep.events import MIN_TIME
from cep.job.poison.events import HELD, Poison
from cep.job.poison.search import Indices, blamed
from cep.job.poison.trial import CannotTellError, Death, tried
from cep.operators.running import running
from cep.plan.plan import Plan, Space
from cep.shard.memory import Merging, Remaining, ShardMemory, SpaceMemory, recall, remember
from cep.state.gathering import Gathered, gathered
from cep.state.keyed_rows import events_of
from cep.state.keys import Keys

Bools = NDArray[np.bool_]
_MERGING = Merging(anew=2)
"""What is not asked for is not recalled."""
_SHOWN = 100
"""So many of the events that were remembered of a key are kept with its dead letter."""


@dataclass(frozen=True, slots=True)
class HeldKeys:
    """Those of a memory, in spaces that are laid out as the plan has them: by number, space after space."""

    memory: ShardMemory
    spaces: Mapping[str, Space]
    gathered: Mapping[str, Gathered]

    @classmethod
    def of(cls, plan: Plan, memory: ShardMemory) -> HeldKeys:
        """The keys of which a memory has something."""
        spaces = {
            space.id: space
            for space in plan.spaces
            if (held := memory.spaces.get(space.id)) and held.segments and held.layout.plan == plan.id
        }
        return cls(memory, spaces, {name: _all(memory.spaces[name]) for name in spaces})

    def __len__(self) -> int:
        return sum(one.keys.count for one in self.gathered.values())

    def without(self, forgotten: Bools) -> ShardMemory:
        """The memory in which nothing is left of some keys."""
        spaces, numbers, begin = dict(self.memory.spaces), count(self.memory.next_part), 0
        for name, of in self.gathered.items():
            which = np.flatnonzero(forgotten[begin : begin + of.keys.count])
            begin += of.keys.count
            if len(which):
                keys = Keys(of.keys.of(which), len(which))
                spaces[name] = _forgotten(spaces[name], self.spaces[name], keys, numbers)
        left = {name: space for name, space in spaces.items() if not space.empty}
        return ShardMemory(left, next(numbers))

    def named(self, poison: Iterable[Poison]) -> dict[int, Poison]:
        """Those keys, by number, that are poison."""
        found: dict[int, Poison] = {}
        begin = 0
        for name, of in self.gathered.items():
            for one in poison:
                if (one.what, one.path) == (HELD, name):
                    inside = (of.hashes >= np.uint64(one.first)) & (of.hashes < np.uint64(one.end))
                    found |= {begin + number: one for number in np.flatnonzero(inside).tolist()}
            begin += of.keys.count
        return found

    def poison(self, number: int, shard: int, reason: str) -> Poison:
        """A key as poison."""
        name, place = self._place(number)
        hash_ = int(self.gathered[name].hashes[place])
        stream = self.spaces[name].streams[0].stream
        return Poison(stream, name, hash_, hash_ + 1, shard, reason, HELD)

    def letter(self, number: int, poison: Poison) -> DeadLetter:
        """The dead letter of a key: JSON of it and of events that were remembered of it, a line each."""
        try:
            data = tried(lambda: self._shown(number))
        except CannotTellError:
            data = Death("")
        return replace(poison.letter(b"" if isinstance(data, Death) else data, 0), file="")

    def _shown(self, number: int) -> bytes:
        name, place = self._place(number)
        of, memory = self.gathered[name], self.memory.spaces[name]
        key = {f"k{n}": column[0] for n, column in enumerate(of.keys.of(np.array([place])))}
        lines = [as_json(key)]
        mine = [
            segment.cut(segment.having(of.hashes[[place]]), np.zeros(1, np.int64))
            for segment in memory.segments
        ]
        taken = np.unique(np.concatenate([events_of(rows) for rows in mine]))
        for segment in memory.segments:
            for rows in segment.content.events.values():
                for row in rows.find(taken)[1][:_SHOWN].tolist():
                    lines.append(as_json({c: rows.table.column(c)[row] for c in rows.table.column_names}))
        return b"\n".join(lines[: _SHOWN + 1])

    def _place(self, number: int) -> tuple[str, int]:
        for name, of in self.gathered.items():
            if number < of.keys.count:
                return name, number
            number -= of.keys.count
        raise IndexError(number)


def searched(held: HeldKeys, shard: int, dies: Callable[[ShardMemory], Death | None]) -> list[Poison]:
    """The keys that a shard has to forget to go on with the others; `dies` tries with what is remembered."""

    def dies_with(chosen: Indices) -> Death | None:
        forgotten = np.ones(len(held), np.bool_)
        forgotten[chosen] = False
        return dies(held.without(forgotten))

    return [
        held.poison(number, shard, one.death.how)
        for one in blamed(len(held), dies_with, independent=True) or ()
        for number in one.events.tolist()
    ]


def _all(space: SpaceMemory) -> Gathered:
    columns: tuple[pa.Array, ...] = ()
    return gathered(space.segments, columns, np.zeros(0, np.uint64), np.zeros(0, np.bool_), None)


def _forgotten(memory: SpaceMemory, space: Space, keys: Keys, numbers: Iterable[int]) -> SpaceMemory:
    """A space in which nothing is left of some keys; new parts get numbers."""
    wanted = np.ones(keys.count, np.bool_)
    groups = running(space)
    recalled, _ = recall(memory, memory.layout, groups, keys, wanted, MIN_TIME, MIN_TIME, _MERGING)
    nobody = np.full(len(memory.layout.rules), -1)
    rows = {kind: of_kind.of_rules(nobody) for kind, of_kind in recalled.rows.items()}
    left = Remaining(rows, {}, recalled.texts.slice(0, 0))
    pending = memory.pending
    kept = remember(memory, memory.layout, groups, recalled, left, memory.sequence, iter(numbers), _MERGING)
    return replace(kept, pending=pending)
