"""Idle partitions, and how far the clock alone moves event time.

Described in docs/job.md (Idle feeds, pauses and the clock). Time here is batch time: the time in which the
program ran and took batches, added up over all its runs (cep.job.clocks.running_time). While the job is down
or paused no partition becomes idle; after a pause as long as a stream's `idle`, each of its partitions has
the whole `idle` anew, for what fed it may have paused as well.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from cep.batch.clock import Partition
from cep.events import MAX_TIME, MIN_TIME
from cep.job.clocks.running_time import Pause

IDLE = 60_000_000_000
"""Nanoseconds after which a partition is idle where its stream does not say."""


@dataclass(frozen=True, slots=True)
class AllIdle:
    """The batch time since which all partitions have been idle, and the watermark at that moment."""

    since: int
    watermark: int


def excused(
    last_active: Mapping[Partition, int],
    read: Collection[str],
    timeouts: Mapping[str, int | None],
    elapsed: int,
    pauses: Collection[Pause],
) -> dict[Partition, int]:
    """`last_active`, where partitions whose `idle` a pause reached count from its end, also those of no event
    yet. `timeouts` has the `idle` of streams, `elapsed` is batch time now.
    """
    after = dict(last_active)
    delivered = {stream for stream, _ in last_active}
    for partition in [*last_active, *((stream, "") for stream in read if stream not in delivered)]:
        allowed = timeouts.get(partition[0]) or IDLE
        ends = [elapsed - pause.since for pause in pauses if pause.length >= allowed]
        if ends:
            after[partition] = max(after.get(partition, 0), *ends)
    return after


def delivering(
    last_active: Mapping[Partition, int], seen: Collection[Partition], elapsed: int
) -> dict[Partition, int]:
    """`last_active` after a batch in which the partitions of `seen` delivered."""
    streams = {stream for stream, _ in seen}
    before = {p: at for p, at in last_active.items() if p[1] or p[0] not in streams}
    return before | dict.fromkeys(seen, elapsed)


def idle_partitions(
    last_active: Mapping[Partition, int],
    read: Collection[str],
    timeouts: Mapping[str, int | None],
    elapsed: int,
) -> tuple[Partition, ...]:
    """The partitions of the streams read that have delivered nothing for their stream's `idle`, sorted.

    `last_active` has the batch time at which each partition last delivered, or was excused. A stream that
    never delivered has one partition, "", which counts from batch time 0 unless it was excused.
    """
    found: list[Partition] = []
    for stream in read:
        own = {p: at for p, at in last_active.items() if p[0] == stream} or {(stream, ""): 0}
        allowed = timeouts.get(stream) or IDLE
        found.extend(partition for partition, at in own.items() if elapsed - at >= allowed)
    return tuple(sorted(found))


def all_idle_since(
    before: AllIdle | None,
    idle_now: Collection[Partition],
    last_active: Mapping[Partition, int],
    read: Collection[str],
    elapsed: int,
    watermark: int,
) -> AllIdle | None:
    """Since when all partitions of the streams read have been idle; None while one is not."""
    every = {p for p in last_active if p[0] in read}
    every |= {(s, "") for s in read if not any(p[0] == s for p in every)}
    if not every or not every <= set(idle_now):
        return None
    return before or AllIdle(elapsed, watermark)


def next_change(
    last_active: Mapping[Partition, int],
    read: Collection[str],
    timeouts: Mapping[str, int | None],
    elapsed: int,
    of: AllIdle | None,
    due: int,
) -> int:
    """In how many nanoseconds of batch time the clock alone changes something, if no event comes.

    It does where a partition becomes idle, or where it has moved event time up to `due`. MAX_TIME: never.
    """
    waits = [MAX_TIME]
    for stream in read:
        own = [at for (name, _), at in last_active.items() if name == stream] or [0]
        allowed = timeouts.get(stream) or IDLE
        waits += [at + allowed - elapsed for at in own if elapsed - at < allowed]
    if paced(of, read, timeouts, elapsed, MAX_TIME) > MIN_TIME and of is not None:
        waits.append(max(0, due - (of.watermark + elapsed - of.since)))
    return min(waits)


def paced(
    of: AllIdle | None, read: Collection[str], timeouts: Mapping[str, int | None], elapsed: int, clock: int
) -> int:
    """The watermark that the clock alone gives; MIN_TIME where it gives none.

    Only where a stream writes `idle`, only after the first event, and never past the clock.
    """
    if of is None or of.watermark == MIN_TIME or not any(timeouts.get(stream) for stream in read):
        return MIN_TIME
    return min(of.watermark + elapsed - of.since, clock)
