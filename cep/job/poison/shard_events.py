"""The events that a shard works on in a batch, one by one: to go without some, and to look for poison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cep.batch.payload import BATCH, BITS, COUNTED, OFFSET, ORIGIN, TIME, SpaceEvents, pack, unpack
from cep.batch.waiting import PendingPart, Waiting
from cep.decode.letters import DeadLetter
from cep.decode.parquet_rows import as_json
from cep.job.poison.events import EVENTS, Poison
from cep.job.poison.search import Dies, Indices, blamed
from cep.job.poison.trial import CannotTellError, Death, tried
from cep.routing.classify import SEPARATOR
from cep.shard.memory import ShardMemory, SpaceMemory

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ShardEvents:
    """Those that came and those that wait, each once, in order of time.

    `streams`, `files` and `offsets` are their places. `tables` are where they stand, those of `came`
    first and then those of `memory`; `numbers` has for every table the number of each row's event.
    """

    memory: ShardMemory
    came: Sequence[SpaceEvents]
    streams: Sequence[str]
    files: Sequence[str]
    offsets: Indices
    tables: Sequence[pa.Table]
    numbers: Sequence[Indices]

    @classmethod
    def of(cls, memory: ShardMemory, payloads: Iterable[bytes | memoryview]) -> ShardEvents:
        """The events of payloads that came and of a memory. Raises PayloadError."""
        came = [one for payload in payloads for one in unpack(payload)]
        waiting = [
            part for space in memory.spaces.values() for of in space.pending.parts for part in of.events
        ]
        stand = [(one.stream, one.table) for one in came] + [(one.stream, one.table) for one in waiting]
        tables = [table for _, table in stand]
        origins: dict[tuple[str, str], int] = {}
        rows = [np.zeros((0, 3), np.int64)]
        for stream, table in stand:
            places = [(stream, origin.rpartition(SEPARATOR)[2]) for origin in _origins(table)]
            codes = [origins.setdefault(place, len(origins)) for place in places]
            times, offsets = (table.column(name).to_numpy() for name in (TIME, OFFSET))
            rows.append(np.stack([times, np.array(codes, np.int64), offsets], axis=1))
        distinct, numbers = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
        names = list(origins)
        of_events = [names[code] for code in distinct[:, 1].tolist()]
        ends = np.cumsum([len(table) for table in tables])[:-1].tolist()
        return cls(
            memory,
            came,
            [stream for stream, _ in of_events],
            [file for _, file in of_events],
            distinct[:, 2],
            tables,
            np.split(numbers.reshape(-1), ends) if tables else [],
        )

    def __len__(self) -> int:
        return len(self.offsets)

    def named(self, poison: Iterable[Poison]) -> dict[int, Poison]:
        """Those events, by number, that are poison."""
        found = {}
        for one in poison:
            if one.what != EVENTS:
                continue
            inside = (self.offsets >= one.first) & (self.offsets < one.end)
            for number in np.flatnonzero(inside).tolist():
                if (self.streams[number], self.files[number]) == (one.stream, one.path):
                    found[number] = one
        return found

    def only(self, chosen: Bools) -> tuple[ShardMemory, list[bytes | memoryview]]:
        """The memory and the payloads with those events alone."""
        came = len(self.came)
        left = [
            replace(one, table=_filtered(one.table, chosen[numbers]))
            for one, numbers in zip(self.came, self.numbers[:came], strict=True)
        ]
        numbers = iter(self.numbers[came:])
        fresh = count(self.memory.next_part)
        spaces = {
            name: _remembered(space, numbers, chosen, fresh) for name, space in self.memory.spaces.items()
        }
        memory = ShardMemory({name: space for name, space in spaces.items() if not space.empty}, next(fresh))
        some = [one for one in left if len(one.table)]
        return memory, [pack(some)] if some else []

    def letter(self, number: int, poison: Poison) -> DeadLetter:
        """The dead letter of an event, with what the shard had of it."""
        try:
            data = tried(lambda: self._row(number))
        except CannotTellError:
            data = Death("")
        kept = b"" if isinstance(data, Death) else data
        return poison.letter(kept, int(self.offsets[number]))

    def _row(self, number: int) -> bytes:
        for table, numbers in zip(self.tables, self.numbers, strict=True):
            for row in np.flatnonzero(numbers == number).tolist():
                own = (BITS, COUNTED, BATCH, ORIGIN)
                return as_json({n: table.column(n)[row] for n in table.column_names if n not in own})
        return b""


def searched(events: ShardEvents, shard: int, dies: Dies) -> list[Poison]:
    """The events without which a shard can go on with the others; `dies` tries with some of them."""
    found = []
    for one in blamed(len(events), dies, independent=False) or ():
        for number in one.events.tolist():
            offset = int(events.offsets[number])
            stream, file = events.streams[number], events.files[number]
            found.append(Poison(stream, file, offset, offset + 1, shard, one.death.how))
    return found


def _origins(table: pa.Table) -> list[str]:
    return table.column(ORIGIN).to_pylist()  # type: ignore[no-any-return]


def _filtered(table: pa.Table, chosen: Bools) -> pa.Table:
    return table if chosen.all() else table.filter(pa.array(chosen))


def _remembered(
    space: SpaceMemory, numbers: Iterator[Indices], chosen: Bools, fresh: Iterator[int]
) -> SpaceMemory:
    """A space without the waiting events that are not chosen; parts that change get fresh numbers."""
    parts = []
    for part in space.pending.parts:
        kept = [(events, chosen[next(numbers)]) for events in part.events]
        if all(mask.all() for _, mask in kept):
            parts.append(part)
        elif left := _waiting(kept):
            last = max(pc.max(events.table.column(TIME)).as_py() for events in left)
            parts.append(PendingPart(next(fresh), part.batch, last, left))
    return replace(space, pending=replace(space.pending, parts=tuple(parts)))


def _waiting(kept: Iterable[tuple[Waiting, Bools]]) -> tuple[Waiting, ...]:
    found = (replace(events, table=_filtered(events.table, mask)) for events, mask in kept)
    return tuple(events for events in found if len(events.table))
