"""Suppression: which alerts are raised, which are withheld, and how many the next one speaks for.

Decided over all alerts of a batch together, in order, because alerts that withhold one another may come from
different shards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from alerts.raised import Raised
from alerts.stages.stage import Passing, Store

Slot = tuple[str, str, str]
"""What withholds what: pack, rule, withholding key."""

_END = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Suppression:
    """The last raised alert of a slot: it withholds from `since` until before `until`.

    Both are nanoseconds of event time. `pending` counts the alerts withheld since; the next one raised
    carries it.
    """

    since: int
    until: int
    pending: int = 0

    def withholds(self, time: int, duration: int) -> bool:
        """True if it withholds an alert of that time, of a rule that now suppresses for `duration`."""
        return self.since <= time < self.until and time - self.since < duration

    def over(self, now: int) -> bool:
        """True if it can withhold nothing from event time `now` on, and has no count to pass on."""
        return not self.pending and self.until <= now


class Suppressions(Protocol):
    """The stage's memory: the last raised alert by slot."""

    @property
    def suppressions(self) -> Store[Slot, Suppression]: ...


@dataclass(frozen=True, slots=True)
class Suppress:
    """Withholds what the rules' `suppress` says.

    Alerts come in order, and none is earlier than those of earlier batches: so the result does not depend on
    where batches were cut.
    """

    name: ClassVar[str] = "suppress"

    def __call__(self, coming: Sequence[Raised], memory: Suppressions, now: int, /) -> Passing[Raised]:
        """Those raised go on, and speak for those withheld before them."""
        slots = {place for one in coming if (place := slot(one)) is not None}
        if not slots:
            return Passing(coming)
        before = memory.suppressions.read(slots)
        passing, after = withheld(coming, before)
        changed = {place: one for place, one in after.items() if before.get(place) != one}
        memory.suppressions.write({place: None if s.over(now) else s for place, s in changed.items()})
        return passing


def slot(raised: Raised) -> Slot | None:
    """Where an alert's suppression is kept, None if its rule has none."""
    if raised.withholding is None:
        return None
    # a lone surrogate has no UTF-8 and could not be stored
    key = raised.withholding.key.encode("utf-8", "backslashreplace").decode()
    return raised.pack, raised.rule, key


def withheld(
    raised: Sequence[Raised], before: Mapping[Slot, Suppression]
) -> tuple[Passing[Raised], dict[Slot, Suppression]]:
    """The alerts to raise and those withheld, and what is known of all slots after.

    A raised alert withholds those of its slot that come less than its rule's duration later; where a deploy
    has shortened the duration since, the shorter one counts.
    """
    after = dict(before)
    on: list[Raised] = []
    held: list[Raised] = []
    for one in raised:
        place = slot(one)
        if place is None or one.withholding is None:
            on.append(one)
            continue
        duration, last = one.withholding.duration, after.get(place)
        if last is not None and last.withholds(one.time, duration):
            after[place] = Suppression(last.since, last.until, last.pending + 1)
            held.append(one)
            continue
        if last is not None:
            one = one.speaking_for(last.pending)
        after[place] = Suppression(one.time, min(one.time + duration, _END))
        on.append(one)
    return Passing(on, held), after
