"""The memory of shards between batches: bytes in Spark's hands, values in the process that ran them.

Spark has the last word. Its head names everything that a shard remembers (cep.shard.state_bytes), so that
what this process holds is used if it is exactly that, and otherwise only for the parts that are the same:
after a task that failed, a batch that is replayed, or batches that another process ran.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from cep.shard.memory import ShardMemory
from cep.shard.state_bytes import StoredPart, Written, parts_of, read, stored_parts, write

MOST_BYTES = 1 << 30
"""How many bytes of state, as stored, one process holds as values."""


class Variables(Protocol):
    """Where the state of one shard is stored."""

    def head(self) -> bytes | None:
        """The head; None where nothing is remembered."""

    def part(self, number: int, length: int) -> bytes | None:
        """A part of so many bytes; None where there is none."""

    def store(self, written: Written, before: Mapping[int, StoredPart]) -> None:
        """Store a state in place of one that had these parts."""


@dataclass(frozen=True, slots=True)
class Held:
    """The state of a shard at one moment: its head, the parts that it names, and their values."""

    head: bytes | None
    stored: Mapping[int, StoredPart]
    memory: ShardMemory

    @property
    def size(self) -> int:
        """The number of bytes that are stored."""
        return len(self.head or b"") + sum(part.length for part in self.stored.values())


@dataclass(slots=True)
class ShardStates:
    """The states that this process holds, the one used last at the end. `shard` is any name for one."""

    most_bytes: int = MOST_BYTES
    _held: OrderedDict[object, Held] = field(default_factory=OrderedDict)

    def open(self, shard: object, variables: Variables) -> Held:
        """The state of a shard. Raises StateError."""
        head = variables.head()
        held = self._held.get(shard)
        if held is None or held.head != head:
            known = (
                {} if held is None else {p.number: (held.stored[p.number], p) for p in parts_of(held.memory)}
            )
            held = Held(head, stored_parts(head), read(head, variables.part, known))
        self._hold(shard, held)
        return held

    def store(self, shard: object, before: Held, after: ShardMemory, variables: Variables) -> Held:
        """Store what a shard remembers now."""
        if after is before.memory:
            return before
        written = write(after, before.stored)
        variables.store(written, before.stored)
        held = Held(written.head, written.stored, after)
        self._hold(shard, held)
        return held

    def _hold(self, shard: object, held: Held) -> None:
        self._held[shard] = held
        self._held.move_to_end(shard)
        total = sum(one.size for one in self._held.values())
        while total > self.most_bytes and len(self._held) > 1:
            _, given_up = self._held.popitem(last=False)
            total -= given_up.size
