"""In the shuffle's reader: a shard's events and state become alerts and the next state. A pure function.

Nothing here reads a clock, a random number or the network: equal arguments give equal results, so that a
batch that is replayed raises the same alerts with the same ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np
import pyarrow as pa

from alerts.raised import Raised
from cep.automata.plan import Plan, RuleName, RulePlan, Space
from cep.collector import paused
from cep.counters import Counts, RunsDropped
from cep.events import MAX_TIME, MIN_TIME
from cep.matching.arrivals import (
    Arrivals,
    at_the_watermark,
    in_order,
    parts_of,
    without_duplicates,
)
from cep.matching.beginnings import may_matter
from cep.matching.decisions import Decisions, EventColumns
from cep.matching.delays import delayed
from cep.matching.engines import engine
from cep.matching.keys import Keys, number_keys
from cep.matching.memory import Merging, ShardMemory, SpaceMemory, recall, remember
from cep.matching.pattern_space import Result, run_patterns
from cep.matching.render import renderer
from cep.matching.rows import rising
from cep.matching.single_events import run_single
from cep.matching.trace import Trace
from cep.matching.waiting import AtWatermark, Layout, Pending, layout_of
from cep.routing.payload import Segment, unpack
from rules.typed import Match

MERGING = Merging()


@dataclass(frozen=True, slots=True)
class Clock:
    """The batch's number, the watermark before and after it, and since when rules watch.

    `since` has for rules that were deployed to a running job the watermark of that moment, `first` for every
    stream the time of its earliest event so far.

    `one_partition`: events of all streams came interleaved, their offsets alone order them (cases, tests).
    """

    batch: int
    watermark_before: int
    watermark_after: int
    since: Mapping[RuleName, int] = field(default_factory=dict)
    one_partition: bool = False
    first: Mapping[str, int] = field(default_factory=dict)

    def watching(self, plan: RulePlan) -> int:
        """Since when a rule has been watching: the first event of its streams, or its deploy."""
        body = plan.rule.body
        streams = body.streams if isinstance(body, Match) else (body.stream,)
        begun = min((self.first[name] for name in streams if name in self.first), default=MAX_TIME)
        return max(begun, self.since.get(plan.name, MIN_TIME))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a shard came to in a batch.

    `memory` is the very one from before where nothing has changed. `raised` in no particular order:
    `alerts.stages.order.in_order` gives it.
    """

    memory: ShardMemory
    raised: list[Raised]
    counts: Counts

    @property
    def runs(self) -> dict[RuleName, int]:
        """The live runs by pack and rule, of those that have some; worked out when asked for."""
        return {rule: runs for space in self.memory.spaces.values() for rule, runs in space.runs().items()}


def match_shard(
    plan: Plan,
    before: ShardMemory,
    payloads: Sequence[bytes],
    clock: Clock,
    compiled: bool | None = None,
    trace: Trace | None = None,
    merging: Merging = MERGING,
) -> Outcome:
    """Match what came to one shard, up to the watermark after the batch.

    `compiled` chooses the kernel; None: by the number of events. `trace` is told what happens to runs.
    `merging` says when segments of memory become one. Raises PayloadError.
    """
    came: dict[str, list[Segment]] = {}
    for payload in payloads:
        for segment in unpack(payload):
            came.setdefault(segment.space, []).append(segment)
    if trace is not None:
        for space in plan.spaces:
            if space.id in came:
                of_keys = [trace.narrowed.segment(space, one) for one in came.pop(space.id)]
                if some := [one for one in of_keys if len(one.table)]:
                    came[space.id] = some
        # It tells of what a batch comes to, not of keys that are only written anew.
        merging = replace(merging, anew=2)
    batch = _Batch(plan, clock, count(before.next_part), compiled, trace, merging)
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
    return Outcome(memory, batch.raised, batch.counts)


@dataclass(slots=True)
class _Batch:
    """What the spaces of a shard have in common in a batch. `numbers` are for new parts of its memory."""

    plan: Plan
    clock: Clock
    numbers: Iterator[int]
    compiled: bool | None
    trace: Trace | None
    merging: Merging
    raised: list[Raised] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)

    def leaves(self, old: SpaceMemory) -> bool:
        """Whether a batch without events for a space leaves what is remembered of it as it is."""
        before, after = self.clock.watermark_before, self.clock.watermark_after
        if old.layout.plan != self.plan.id:
            return False
        if before == after:
            return True
        return old.pending.empty and not any(len(segment.due(before, after)) for segment in old.segments)

    def of_space(self, space: Space, old: SpaceMemory | None, came: Sequence[Segment]) -> SpaceMemory:
        """What is remembered of a space after its events of this batch."""
        if old is not None and old.layout.plan == self.plan.id:
            layout = old.layout
        else:
            layout = layout_of(self.plan, space, next(self.numbers))
        old = SpaceMemory(layout) if old is None else old
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
        kept = (
            self._alone(space, old, layout, ready)
            if space.on is not None
            else self._patterns(space, old, layout, ready)
        )
        if not (came or cut or pending.ids):
            return kept if kept.pending is pending else replace(kept, pending=pending)
        parts_left = delayed(
            pending.delayed, rest, clock.batch, clock.watermark_after, self.numbers, self.merging
        )
        known = AtWatermark(next(self.numbers), at_watermark) if at_watermark else None
        return replace(kept, pending=Pending(clock.watermark_after, parts_left, known))

    def _alone(self, space: Space, old: SpaceMemory, layout: Layout, ready: Arrivals) -> SpaceMemory:
        with paused():
            self.raised += run_single(self.plan, space, ready)
        return replace(old, layout=layout)

    def _patterns(self, space: Space, old: SpaceMemory, layout: Layout, ready: Arrivals) -> SpaceMemory:
        before, after = self.clock.watermark_before, self.clock.watermark_after
        keys, of_events = number_keys(len(space.types), ready)
        # A trace tells of all runs of a key that has an event.
        wanted = may_matter(self.plan.id, space, ready, of_events, keys.count)
        wanted |= self.trace is not None
        recalled, numbers = recall(old, layout, space, keys, wanted, before, after, self.merging)
        of_events = numbers[of_events]
        if not recalled.keys.count and old.layout is layout:
            return old
        result = run_patterns(
            self.plan, space, recalled, ready, of_events, after, self.clock.watching,
            engine(len(of_events), self.compiled), self.counts, self.trace,
        )  # fmt: skip
        with paused():
            self.raised += _decisions(result, recalled.keys)
        return remember(
            old, layout, space, recalled, result.left, old.sequence + len(of_events), self.numbers,
            self.merging,
        )  # fmt: skip


def _added(old: Mapping[str, pa.Table], new: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    return {
        stream: pa.concat_tables([old[stream], table]) if stream in old else table
        for stream, table in new.items()
    }


def _decisions(result: Result, keys: Keys) -> list[Raised]:
    """The alerts of all matches of a space."""
    raised: list[Raised] = []
    if not result.found:
        return raised
    numbers = rising(np.concatenate([found.events for found in result.found]))
    columns = EventColumns.of(len(numbers), [source[1:] for source in result.book.sources(numbers)])
    for found in result.found:
        decisions = Decisions.of_matches(found, keys, numbers, columns)
        raised += renderer(found.rule).raised(decisions)
    return raised
