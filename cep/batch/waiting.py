"""Events that wait for the watermark, and how their predicate bits are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from cep.batch.payload import TIME
from cep.events import MAX_TIME, MIN_TIME
from cep.plan.plan import ByStream, Plan, RuleId, Space

Slots = Mapping[RuleId, tuple[ByStream, ByStream]]
"""For each rule and stream, by place, the bit of each predicate, and the number of each computed column."""


@dataclass(frozen=True, slots=True)
class PlanLayout:
    """The numbers that a plan gives the rules of a space, and how its predicate bits are read.

    `number`: as a part of a shard's memory.
    """

    number: int
    plan: str
    rules: tuple[RuleId, ...]
    slots: Slots


@dataclass(frozen=True, slots=True)
class Waiting:
    """Events above the watermark, with the layout of the plan that they came under (decision 0001)."""

    stream: str
    layout: PlanLayout
    table: pa.Table

    def after(self, time: int) -> Waiting:
        """Those later than a time."""
        later = pc.greater(self.table.column(TIME), time)
        return self if pc.all(later).as_py() else replace(self, table=self.table.filter(later))


@dataclass(frozen=True, slots=True)
class PendingPart:
    """Events that waited when they came: in batch `batch` or later ones, up to the one that wrote this.

    `last` is the greatest of their times. `number`: as a part.
    """

    number: int
    batch: int
    last: int
    events: tuple[Waiting, ...]

    def __len__(self) -> int:
        return sum(len(events.table) for events in self.events)


@dataclass(frozen=True, slots=True)
class AtWatermark:
    """By stream the ids of events at the watermark, of which a repeated one may still come. `number`: as a
    part."""

    number: int
    ids: Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True)
class Pending:
    """Events that wait for the watermark, and ids. Of the events those up to `until` have been matched: they
    stay where they stand until all of their part have."""

    until: int = MIN_TIME
    parts: tuple[PendingPart, ...] = ()
    known: AtWatermark | None = None

    @property
    def waiting(self) -> list[Waiting]:
        """The events, those that came first before the others."""
        waiting = (events.after(self.until) for part in self.parts for events in part.events)
        return [events for events in waiting if len(events.table)]

    @property
    def empty(self) -> bool:
        """True if there is none of either."""
        return not self.parts and self.known is None

    def next_due(self, watermark: int) -> int:
        """The first event time after the watermark at which one of either waits no more, or MAX_TIME."""
        if self.known is not None:
            return watermark + 1
        waiting = (pc.min(events.table.column(TIME)).as_py() for events in self.waiting)
        return min(waiting, default=MAX_TIME)

    @property
    def ids(self) -> Mapping[str, pa.Table]:
        """By stream the ids of events at the watermark."""
        return {} if self.known is None else self.known.ids


NOTHING_PENDING = Pending()


def layout_of(plan: Plan, space: Space, number: int) -> PlanLayout:
    """The layout of a space under a plan."""
    return PlanLayout(number, plan.id, space.keeping, space.slots)
