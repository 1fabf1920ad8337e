"""In the shuffle's reader: a shard's events and state become alerts and the next state. A pure function.

Nothing here reads a clock, a random number or the network: equal arguments give equal results, so that a
batch that is replayed raises the same alerts with the same ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from alerts.masking import Mask
from alerts.raised import Raised
from cep.batch.arrivals import (
    Arrivals,
    at_the_watermark,
    in_order,
    number_keys,
    parts_of,
    without_duplicates,
)
from cep.batch.clock import Clock
from cep.batch.decisions import Decisions
from cep.batch.payload import SpaceEvents, unpack
from cep.batch.taken import EventBook
from cep.batch.texts import Texts
from cep.batch.trace import Trace
from cep.batch.waiting import AtWatermark, Pending, PlanLayout, layout_of
from cep.collector import paused
from cep.counters import Counts, RunsDropped
from cep.hashing.rows import order_of
from cep.operators.operator import BatchContext
from cep.operators.running import Groups, running, together
from cep.plan.plan import Plan, RuleId, RuleName, Space
from cep.shard.masked_counts import masked
from cep.shard.memory import Merging, Remaining, ShardMemory, SpaceMemory, recall, remember
from cep.shard.pending import pending_parts
from cep.shard.render import MANY, Part, rendered
from cep.state.keyed_rows import Kept, events_of
from cep.state.keys import Keys

Ints = npt.NDArray[np.int64]
MERGING = Merging()


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """Choices that change no decision.

    `mask` hashes the secret values that alerts show; None: they are shown as they are. `compiled` chooses the
    kernel; None: by the number of events. `trace` takes down what happens to runs. `merging` says when
    segments of memory become one. So `many` alerts of one form are written by column.
    """

    compiled: bool | None = None
    trace: Trace | None = None
    merging: Merging = MERGING
    mask: Mask | None = None
    many: int = MANY


DEFAULTS = MatchOptions()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of a shard in a batch.

    `memory` is the very one from before where nothing has changed. What was raised is in `parts`, and one by
    one in `raised`, both in no particular order: `alerts.stages.order.in_order` gives it.
    """

    memory: ShardMemory
    parts: list[Part]
    counts: Counts

    @property
    def raised(self) -> list[Raised]:
        """The alerts before suppression."""
        return [one for part in self.parts for one in part]

    @property
    def runs(self) -> dict[RuleName, int]:
        """The live runs by pack and rule, of those that have some; computed when asked for."""
        found: Counter[RuleName] = Counter()
        for rule, runs in self.kept.items():
            found[rule[:2]] += runs
        return dict(found)

    @property
    def kept(self) -> dict[RuleId, int]:
        """The same by rule and generation."""
        return {rule: count for space in self.memory.spaces.values() for rule, count in space.kept().items()}


def match_shard(
    plan: Plan,
    before: ShardMemory,
    payloads: Sequence[bytes | memoryview],
    clock: Clock,
    options: MatchOptions = DEFAULTS,
) -> Outcome:
    """Match what came to one shard, up to the watermark after the batch. Raises PayloadError."""
    trace, merging = options.trace, options.merging
    came: dict[str, list[SpaceEvents]] = {}
    for payload in payloads:
        for events in unpack(payload):
            came.setdefault(events.space, []).append(events)
    if trace is not None:
        for space in plan.spaces:
            if space.id in came:
                of_keys = [trace.narrowed.selected(space, one) for one in came.pop(space.id)]
                if some := [one for one in of_keys if len(one.table)]:
                    came[space.id] = some
        # It tells of what a batch comes to, not of keys that are only written anew.
        merging = replace(merging, anew=2)
    numbers = count(before.next_part)
    batch = _ShardBatch(plan, clock, numbers, options.compiled, trace, merging, options.mask, options.many)
    after: dict[str, SpaceMemory] = {}
    for space in plan.spaces:
        old, new = before.spaces.get(space.id), came.get(space.id, [])
        if old is not None and not new and batch.leaves(old):
            after[space.id] = old
        elif old is not None or new:
            kept = batch.of_space(space, old, new)
            if not kept.empty:
                after[space.id] = kept
    known = {space.id for space in plan.spaces}
    for name, old in before.spaces.items():
        if name not in known:
            for rule, runs in old.runs().items():
                batch.counts[RunsDropped(*rule, "dropped")] += runs
    changed = after.keys() != before.spaces.keys() or any(
        kept is not before.spaces[name] for name, kept in after.items()
    )
    memory = ShardMemory(after, next(batch.numbers)) if changed else before
    counts = batch.counts if options.mask is None else masked(batch.counts, plan, options.mask)
    return Outcome(memory, batch.raised, counts)


@dataclass(slots=True)
class _ShardBatch:
    """The values that the spaces of a shard share in a batch. `numbers` are for new parts of its memory."""

    plan: Plan
    clock: Clock
    numbers: Iterator[int]
    compiled: bool | None
    trace: Trace | None
    merging: Merging
    mask: Mask | None
    many: int
    raised: list[Part] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)

    def leaves(self, old: SpaceMemory) -> bool:
        """True if a batch without events for a space leaves what is remembered of it as it is."""
        before, after = self.clock.watermark_before, self.clock.watermark_after
        if old.layout.plan != self.plan.id:
            return False
        if before == after:
            return True
        return old.pending.empty and not any(len(segment.due(before, after)) for segment in old.segments)

    def of_space(self, space: Space, old: SpaceMemory | None, came: Sequence[SpaceEvents]) -> SpaceMemory:
        """The memory of a space after its events of this batch."""
        if old is not None and old.layout.plan == self.plan.id:
            layout = old.layout
        else:
            layout = layout_of(self.plan, space, next(self.numbers))
        old = SpaceMemory(layout, live=np.zeros(len(layout.rules), np.int64)) if old is None else old
        pending, clock = old.pending, self.clock
        parts = parts_of(self.plan, layout, pending.waiting, came, clock.batch)
        events = in_order(self.plan, parts, clock.one_partition)
        events = without_duplicates(self.plan, space, events, clock.one_partition, pending.ids, self.counts)
        cut = int(np.searchsorted(events.time, clock.watermark_after, side="right"))
        ready, rest = events.chosen(slice(cut)), events.chosen(slice(cut, None))
        before = int(np.searchsorted(ready.time, clock.watermark_after))
        at_watermark = at_the_watermark(ready.chosen(slice(before, None)), space)
        if clock.watermark_after == clock.watermark_before:
            at_watermark = {**pending.ids, **_added(pending.ids, at_watermark)}
        advance = self._spread if space.spread else self._keyed
        kept = advance(space, old, layout, ready)
        if not (came or cut or pending.ids):
            return kept if kept.pending is pending else replace(kept, pending=pending)
        parts_left = pending_parts(
            pending.parts, rest, clock.batch, clock.watermark_after, self.numbers, self.merging
        )
        known = AtWatermark(next(self.numbers), at_watermark) if at_watermark else None
        return replace(kept, pending=Pending(clock.watermark_after, parts_left, known))

    def _spread(self, space: Space, old: SpaceMemory, layout: PlanLayout, ready: Arrivals) -> SpaceMemory:
        """The events decided one by one: nothing is kept of them."""
        none = np.zeros(0, np.int64)
        context = self._context(space, Keys((), 0), none, Texts.empty(), EventBook((), 0, ready))
        for one in running(space):
            self._raise(one.operator.advance(one.group, {}, ready, context)[0])
        return replace(old, layout=layout)

    def _keyed(self, space: Space, old: SpaceMemory, layout: PlanLayout, ready: Arrivals) -> SpaceMemory:
        """Recall what is kept of the events' keys, and of those that are due; advance; remember."""
        before, after = self.clock.watermark_before, self.clock.watermark_after
        groups = running(space)
        keys, numbers = number_keys(len(space.types), ready)
        # A trace tells of all runs of a key that has an event.
        wanted = np.full(keys.count, self.trace is not None)
        for one in groups:
            wanted |= one.operator.wanted(one.group, self.plan.id, ready, numbers, keys.count)
        recalled, new_numbers = recall(old, layout, groups, keys, wanted, before, after, self.merging)
        numbers = new_numbers.take(numbers)
        if not recalled.keys.count and old.layout is layout:
            return old
        carried = old.layout is not layout
        by_time = not carried and self._takes_by_time(groups, recalled.rows, ready)
        if not by_time and np.any(numbers[1:] < numbers[:-1]):
            order = order_of(numbers)
            ready, numbers = ready.ordered(order), numbers.take(order)
        book = EventBook(recalled.events, recalled.sequence, ready)
        context = self._context(space, recalled.keys, numbers, Texts(recalled.texts), book)
        rows = self._advanced(groups, ready, recalled.rows, context, carried)
        if carried:
            self._count_dropped(old, set(layout.rules))
        taken = events_of(rows)
        if not recalled.everything:
            # Those of earlier batches stay where they are.
            taken = taken[np.searchsorted(taken, book.first) :]
        left = Remaining(rows, book.copied(space, taken), context.texts.values)
        return remember(
            old, layout, groups, recalled, left, old.sequence + len(numbers), self.numbers, self.merging
        )

    def _takes_by_time(self, groups: Groups, kept: Kept, events: Arrivals) -> bool:
        """True if every operator takes the events in order of time."""
        return self.trace is None and all(
            one.operator.takes_by_time(one.group, self.plan.id, one.own(kept), events) for one in groups
        )

    def _advanced(
        self, groups: Groups, events: Arrivals, rows: Kept, context: BatchContext, carried: bool
    ) -> Kept:
        """The rows that are kept after every group has advanced."""
        found = []
        for one in groups:
            kept = one.own(rows)
            if carried:
                kept = one.operator.carry(one.group, kept, context)
            decided, left = one.operator.advance(one.group, kept, events, context)
            self._raise(decided)
            found.append(left)
        return together(found)

    def _raise(self, decided: list[Decisions]) -> None:
        with paused():
            self.raised += rendered(decided, self.mask, self.many)

    def _count_dropped(self, old: SpaceMemory, left: Set[RuleId]) -> None:
        """Count the live runs of rules that are gone or have another structure: they are lost."""
        for name, runs in zip(old.layout.rules, old.live.tolist(), strict=True):
            if name not in left and runs:
                self.counts[RunsDropped(*name[:2], "dropped")] += runs

    def _context(
        self, space: Space, keys: Keys, numbers: Ints, texts: Texts, book: EventBook
    ) -> BatchContext:
        return BatchContext(
            self.plan, space, self.clock, keys, numbers, texts, book, self.counts, self.compiled, self.trace
        )


def _added(old: Mapping[str, pa.Table], new: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    return {
        stream: pa.concat_tables([old[stream], table]) if stream in old else table
        for stream, table in new.items()
    }
