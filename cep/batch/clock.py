"""Event time of a batch: the watermark before and after it, equal in every shard, as every mapper tells every
shard what it saw."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cep.events import MAX_TIME, MIN_TIME

if TYPE_CHECKING:
    from cep.plan.plan import Plan, RuleName, RulePlan

Partition = tuple[str, str]
"""Stream and source partition."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Times of events, in nanoseconds: of a batch, of a part of it, or of all batches so far.

    `greatest` by partition, of late events too; `first` the least by stream, of events in time.
    """

    greatest: Mapping[Partition, int] = field(default_factory=dict)
    first: Mapping[str, int] = field(default_factory=dict)

    def joined(self, others: Iterable[Seen]) -> Seen:
        """All that was seen, here and in the others."""
        greatest, first = dict(self.greatest), dict(self.first)
        for other in others:
            for partition, time in other.greatest.items():
                greatest[partition] = max(time, greatest.get(partition, time))
            for stream, time in other.first.items():
                first[stream] = min(time, first.get(stream, time))
        return Seen(greatest, first)


@dataclass(frozen=True, slots=True)
class BatchStart:
    """Event time as it stands when a batch begins; together with the events it fixes what the batch raises.

    `number` is that of the batch, `watermark` the one before it, `seen` what the batches before saw. `since`
    has for rules that were deployed to a running job the watermark of that moment. `idle` partitions hold
    nothing back unless they deliver in this batch; a stream that never delivered is one, under any name or
    "". `paced` is the watermark that the clock alone gives where no stream read delivers. `forced` sets the
    watermark after the batch (tests and cases), `drain` ends time. `one_partition`: events of all streams
    come interleaved, their offsets alone order those of one instant (cases, tests).
    """

    number: int = 0
    watermark: int = MIN_TIME
    seen: Seen = field(default_factory=Seen)
    since: Mapping[RuleName, int] = field(default_factory=dict)
    idle: Collection[Partition] = ()
    paced: int = MIN_TIME
    forced: int | None = None
    drain: bool = False
    one_partition: bool = False


BEGINNING = BatchStart()
"""The start of the first batch of all."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The batch's number, the watermark before and after it, and since when rules watch.

    `since` has for rules that were deployed to a running job the watermark of that moment, `first` for every
    stream the time of its earliest event so far. `one_partition`: as in BatchStart.
    """

    batch: int
    watermark_before: int
    watermark_after: int
    since: Mapping[RuleName, int] = field(default_factory=dict)
    one_partition: bool = False
    first: Mapping[str, int] = field(default_factory=dict)

    def watching(self, plan: RulePlan) -> int:
        """Since when a rule has been watching: the first event of its streams, or its deploy."""
        return max(self.first_of(plan), self.since.get(plan.name, MIN_TIME))

    def first_of(self, plan: RulePlan) -> int:
        """The time of the first event of a rule's streams."""
        return min((self.first[name] for name in plan.rule.streams if name in self.first), default=MAX_TIME)


def clock_of(start: BatchStart, plan: Plan, seen: Seen) -> Clock:
    """The clock by which a shard matches a batch; `seen` is what all parts of the batch saw."""
    return Clock(
        start.number,
        start.watermark,
        watermark_after(start, plan, seen),
        start.since,
        start.one_partition,
        start.seen.joined([seen]).first,
    )


def next_start(start: BatchStart, clock: Clock, seen: Seen) -> BatchStart:
    """Where the batch after this one starts, with nothing idle, forced or ended."""
    return BatchStart(
        start.number + 1,
        clock.watermark_after,
        start.seen.joined([seen]),
        start.since,
        one_partition=start.one_partition,
    )


def watermark_after(start: BatchStart, plan: Plan, seen: Seen) -> int:
    """The watermark after a batch, never below the one before; `seen` is what all its parts saw.

    Every partition holds it at its greatest event time less the lateness of its stream. A stream that some
    rule reads and that never delivered holds it where it is, unless it is idle; while all are idle, it stays,
    but for `paced`.
    """
    if start.drain:
        return MAX_TIME
    if start.forced is not None:
        return max(start.watermark, start.forced)
    delivered = {stream for stream, _ in seen.greatest}
    lateness = {stream: plan.streams[stream].lateness for stream in plan.read}
    idle, so_far = _still_idle(start, seen), start.seen.joined([seen]).greatest
    after = max(start.watermark, of_partitions(lateness, so_far, idle))
    return after if delivered & lateness.keys() else max(after, start.paced)


def _still_idle(start: BatchStart, seen: Seen) -> set[Partition]:
    delivered = {stream for stream, _ in seen.greatest}
    return {
        (stream, partition)
        for stream, partition in start.idle
        if (stream, partition) not in seen.greatest and not (partition == "" and stream in delivered)
    }


def of_partitions(
    lateness: Mapping[str, int], greatest: Mapping[Partition, int], idle: Collection[Partition] = ()
) -> int:
    """The least of the watermarks of all partitions that are not idle; MIN_TIME where that is none.

    `lateness` has the streams that hold it back, with theirs in ns, `greatest` the greatest event time of
    each partition so far. A stream without any holds it at MIN_TIME, unless it has an idle partition.
    """
    idle_streams = {stream for stream, _ in idle}
    delivered = {stream for stream, _ in greatest}
    if any(stream not in delivered and stream not in idle_streams for stream in lateness):
        return MIN_TIME
    own = ((partition, time) for partition, time in greatest.items() if partition[0] in lateness)
    bounds = (
        max(time - lateness[partition[0]], MIN_TIME) for partition, time in own if partition not in idle
    )
    return min(bounds, default=MIN_TIME)
