"""Suppression: which alerts are raised, which are withheld, and how many the next one speaks for.

Decided over all alerts of a batch together, in order, because alerts that withhold one another may come from
different shards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from alerts.raised_columns import RaisedColumns
from alerts.stages.stage import Passing, Store

Slot = tuple[str, str, str]
"""The key by which alerts are withheld: pack, rule, withholding key."""

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

    def __call__(self, coming: RaisedColumns, memory: Suppressions, now: int, /) -> Passing[RaisedColumns]:
        """Those raised go on, and speak for those withheld before them."""
        some = tuple(_suppressible(coming))
        if not some:
            return Passing(coming)
        before = memory.suppressions.read({one.slot for one in some})
        withheld, counts, after = decided(some, before)
        changed = {place: one for place, one in after.items() if before.get(place) != one}
        memory.suppressions.write({place: None if s.over(now) else s for place, s in changed.items()})
        coming = coming.speaking_for(counts)
        if not withheld:
            return Passing(coming)
        on = np.ones(len(coming), bool)
        on[withheld] = False
        return Passing(coming.where(on), coming.where(~on))


class Suppressible(NamedTuple):
    """An alert of a rule with `suppress`: its row, slot and time, and the rule's duration, both in ns."""

    row: int
    slot: Slot
    time: int
    duration: int


def _suppressible(coming: RaisedColumns) -> Iterator[Suppressible]:
    rows = coming.suppressible()
    rules, times = coming.rule[rows].tolist(), coming.time[rows].tolist()
    for row, number, time, key in zip(
        rows.tolist(), rules, times, coming.withholding_keys(rows), strict=True
    ):
        pack, rule, _, duration = coming.rules[number]
        assert duration is not None
        # a lone surrogate has no UTF-8 and could not be stored
        text = key.decode("utf-8", "surrogatepass").encode("utf-8", "backslashreplace").decode()
        yield Suppressible(row, (pack, rule, text), time, duration)


def decided(
    some: Iterable[Suppressible], before: Mapping[Slot, Suppression]
) -> tuple[list[int], dict[int, int], dict[Slot, Suppression]]:
    """The rows withheld; by row how many a raised alert speaks for; and what is known of all slots after.

    A raised alert withholds those of its slot that come less than its rule's duration later; where a deploy
    has shortened the duration since, the shorter one counts.
    """
    after = dict(before)
    withheld: list[int] = []
    counts: dict[int, int] = {}
    for row, slot, time, duration in some:
        last = after.get(slot)
        if last is not None and last.withholds(time, duration):
            after[slot] = Suppression(last.since, last.until, last.pending + 1)
            withheld.append(row)
            continue
        if last is not None:
            counts[row] = last.pending
        after[slot] = Suppression(time, min(time + duration, _END))
    return withheld, counts, after
