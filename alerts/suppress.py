"""Suppression: which alerts are raised, which are withheld, and how many the next one speaks for.

Decided over all alerts of a batch together, in their documented order (engine.md, Delivery), because
alerts that withhold one another may come from different shards. The memory between batches is a value:
the outbox reads it and writes it in the batch's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from types import MappingProxyType

from alerts.raised import Raised

Slot = tuple[str, str, str]
"""What withholds what: pack, rule, withholding key."""

_END = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Held:
    """The last raised alert of a slot: it withholds from `since` until before `until`.

    Both are nanoseconds of event time. `pending` counts the alerts withheld since; the next one raised
    will tell it.
    """

    since: int
    until: int
    pending: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """What suppression must know of the past."""

    held: Mapping[Slot, Held] = field(default_factory=lambda: MappingProxyType({}))


def slot(raised: Raised) -> Slot | None:
    """Where an alert's suppression is kept, None if its rule has none."""
    if raised.withholding is None:
        return None
    # a lone surrogate has no UTF-8 and could not be stored
    key = raised.withholding.key.encode("utf-8", "backslashreplace").decode()
    return raised.pack, raised.rule, key


def in_order(raised: Iterable[Raised]) -> list[Raised]:
    """The alerts by time, rule name (then pack), key values, order of decision, and id: alerts.ranks."""
    return sorted(raised, key=itemgetter(0))


def withhold(raised: Sequence[Raised], memory: Memory) -> tuple[list[Raised], list[Raised], Memory]:
    """The alerts to raise, those withheld, and the memory for the next batch.

    `raised` has the order of `in_order`, and no time before those of earlier batches: so the result does
    not depend on where batches were cut. A raised alert withholds those of its slot that come less than
    its rule's duration later; where a deploy has shortened the duration since, the shorter one counts.
    """
    held = dict(memory.held)
    kept: list[Raised] = []
    withheld: list[Raised] = []
    for one in raised:
        place = None if one.withholding is None else slot(one)
        if place is None:
            kept.append(one)
            continue
        duration = one.withholding.duration if one.withholding else 0
        before = held.get(place)
        if before is not None and _withholds(before, one.time, duration):
            held[place] = Held(before.since, before.until, before.pending + 1)
            withheld.append(one)
            continue
        if before is not None and before.pending:
            one = one.speaking_for(before.pending)
        held[place] = Held(one.time, min(one.time + duration, _END))
        kept.append(one)
    return kept, withheld, forget(Memory(held), raised[-1].time) if raised else memory


def _withholds(before: Held, time: int, duration: int) -> bool:
    return before.since <= time < before.until and time - before.since < duration


def forget(memory: Memory, now: int) -> Memory:
    """The memory without what can withhold nothing from `now` on and has no count to tell."""
    return Memory({place: held for place, held in memory.held.items() if held.pending or held.until > now})
