"""The watermark after a batch, worked out alike by every shard from what the mappers saw."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from cep.events import MAX_TIME, MIN_TIME

Partition = tuple[str, str]
"""Stream and source partition."""


def progress(
    before: Mapping[Partition, int], seen: Iterable[Mapping[Partition, int]]
) -> dict[Partition, int]:
    """The greatest event time of each partition so far: before the batch, and in each part of it."""
    after = dict(before)
    for part in seen:
        for partition, time in part.items():
            after[partition] = max(time, after.get(partition, time))
    return after


def earliest(before: Mapping[str, int], seen: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The time of the earliest event of each stream so far: before the batch, and in each part of it."""
    after = dict(before)
    for part in seen:
        for stream, time in part.items():
            after[stream] = min(time, after.get(stream, time))
    return after


def watermark(
    before: int,
    greatest: Mapping[Partition, int],
    lateness: Mapping[str, int],
    read: Collection[str],
    silent: Collection[Partition] = (),
    forced: int | None = None,
    drain: bool = False,
) -> int:
    """The watermark after a batch; it never falls below the one `before`.

    `greatest` is the greatest event time of each partition so far (`progress`), `lateness` by stream in
    nanoseconds, `read` the streams that some rule reads. A stream of these that never delivered holds the
    watermark back, unless it is in `silent` (with any partition name, or ""). Silent partitions hold
    nothing back; while all are silent, the watermark stays. `forced` sets it (tests and cases), `drain`
    ends time.
    """
    if drain:
        return MAX_TIME
    if forced is not None:
        return max(before, forced)
    quiet_streams = {stream for stream, _ in silent}
    bounds: list[int] = []
    for stream in read:
        own = {partition: time for partition, time in greatest.items() if partition[0] == stream}
        if not own and stream not in quiet_streams:
            return before
        bounds.extend(
            max(time - lateness.get(stream, 0), MIN_TIME)
            for partition, time in own.items()
            if partition not in silent
        )
    return max(before, min(bounds, default=before))
