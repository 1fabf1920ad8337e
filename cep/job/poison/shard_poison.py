"""Events and keys that a shard goes without: poison by the manifest, and in a careful run what it finds.

Events are looked at first, those that came and those that wait. Where an event ends the shard's work only
because of what is remembered of its key, or where that ends with no event at all, keys are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cep.decode.letters import DeadLetter
from cep.job.poison import held_keys, shard_events
from cep.job.poison.careful import death
from cep.job.poison.events import Poison
from cep.job.poison.held_keys import HeldKeys
from cep.job.poison.search import Indices
from cep.job.poison.shard_events import ShardEvents
from cep.job.poison.trial import Death
from cep.plan.plan import Plan
from cep.shard.memory import ShardMemory

Work = Callable[[ShardMemory, Sequence[bytes | memoryview]], object]
"""What a shard does with what it remembers and the payloads that came."""


def without(
    plan: Plan, memory: ShardMemory, payloads: Sequence[bytes | memoryview], poison: Sequence[Poison]
) -> tuple[ShardMemory, Sequence[bytes | memoryview], list[DeadLetter]]:
    """The memory and the payloads without poison, and the dead letters of that."""
    letters = []
    held = HeldKeys.of(plan, memory)
    if keys := held.named(poison):
        letters += [held.letter(number, one) for number, one in keys.items()]
        memory = held.without(_these(len(held), list(keys)))
    events = ShardEvents.of(memory, payloads)
    if named := events.named(poison):
        letters += [events.letter(number, one) for number, one in named.items()]
        memory, payloads = events.only(~_these(len(events), list(named)))
    return memory, payloads, letters


def searched(
    plan: Plan, memory: ShardMemory, payloads: Sequence[bytes | memoryview], shard: int, work: Work
) -> list[Poison]:
    """The events without which the work can be done, or the keys."""
    events = ShardEvents.of(memory, payloads)

    def dies_with(chosen: Indices) -> Death | None:
        return death(lambda: work(*events.only(_these(len(events), chosen))))

    if dies_with(np.arange(len(events))) is None:
        return []
    found = shard_events.searched(events, shard, dies_with)
    few = [number for number in events.named(found) if _alone(plan, events, number, work)]
    some = np.array(few, np.int64)
    if few or not found:
        # With the events that are innocent, or with none: time alone may go on with what is remembered.
        remembered, came = events.only(_these(len(events), some))
        held = HeldKeys.of(plan, remembered)
        keys = held_keys.searched(held, shard, lambda left: death(lambda: work(left, came)))
        if keys:
            return keys
    return found


def _alone(plan: Plan, events: ShardEvents, number: int, work: Work) -> bool:
    """True if an event by itself ends the work, and does not where nothing is remembered of any key."""
    memory, came = events.only(_these(len(events), [number]))
    if death(lambda: work(memory, came)) is None:
        return False
    held = HeldKeys.of(plan, memory)
    nothing = held.without(np.ones(len(held), np.bool_))
    return death(lambda: work(nothing, came)) is None


def _these(count: int, numbers: Sequence[int] | Indices) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    found = np.zeros(count, np.bool_)
    found[np.asarray(numbers, np.int64)] = True
    return found
