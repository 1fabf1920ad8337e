"""Suppression: which alerts are raised, which are withheld, and how many the next one speaks for.

Decided over all alerts of a batch together, in their documented order (engine.md, Delivery), because
alerts that withhold one another may come from different shards. The memory between batches is a value:
the outbox reads it and writes it in the batch's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from alerts.alert import Alert, Raised
from alerts.identity import canonical

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
    return raised.alert.pack, raised.alert.rule, key


def in_order(raised: Iterable[Raised]) -> list[Raised]:
    """The alerts by time, rule name (then pack), key values, order of decision, and id.

    Key values compare as JSON values: null, false and true, numbers, strings by code point.
    """
    return sorted(
        raised,
        key=lambda r: (
            r.time,
            r.alert.rule,
            r.alert.pack,
            [*map(_rank, r.alert.key.values())],
            r.order,
            r.alert.id,
        ),
    )


def _rank(value: object) -> tuple[int, bool | int | float | str]:
    match value:
        case None:
            return 0, 0
        case bool():
            return 1, value
        case int() | float():
            return 2, value
        case str():
            return 3, value
        case _:
            return 4, canonical(value)


def suppress(raised: Sequence[Raised], memory: Memory) -> tuple[list[Alert], list[Alert], Memory]:
    """The alerts to raise, those withheld, and the memory for the next batch.

    `raised` has the order of `in_order`, and no time before those of earlier batches: so the result does
    not depend on where batches were cut. A raised alert withholds those of its slot that come less than
    its rule's duration later; where a deploy has shortened the duration since, the shorter one counts.
    """
    kept, withheld, after = withhold(raised, memory)
    return [r.alert for r in kept], [r.alert for r in withheld], after


def withhold(raised: Sequence[Raised], memory: Memory) -> tuple[list[Raised], list[Raised], Memory]:
    """As `suppress`, with all that an engine said of each alert."""
    held = dict(memory.held)
    kept: list[Raised] = []
    withheld: list[Raised] = []
    for one in raised:
        place = slot(one)
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
            one = replace(one, alert=replace(one.alert, suppressed=before.pending))
        held[place] = Held(one.time, min(one.time + duration, _END))
        kept.append(one)
    return kept, withheld, forget(Memory(held), raised[-1].time) if raised else memory


def _withholds(before: Held, time: int, duration: int) -> bool:
    return before.since <= time < before.until and time - before.since < duration


def forget(memory: Memory, now: int) -> Memory:
    """The memory without what can withhold nothing from `now` on and has no count to tell."""
    return Memory({place: held for place, held in memory.held.items() if held.pending or held.until > now})
