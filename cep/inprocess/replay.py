"""Files through an engine: in step by event time or as a job takes them, suppressed and put in order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow.compute as pc

from alerts.raised_columns import RaisedColumns
from alerts.stages.decided import InProcess
from alerts.stages.suppress import Suppress
from cep.batch.clock import Partition, of_partitions
from cep.decode import decoder
from cep.events import MAX_TIME, MIN_TIME, TIME, Events
from cep.inprocess.engines import Engine
from cep.inprocess.report import Report
from cep.inprocess.sources import Input
from cep.plan.plan import hit_streams
from cep.sources.source import BATCH_BYTES, BLOCK, Extent
from rules.typed import Pack

_AT_ONCE = 256 << 20
"""Bytes of decoded events of a batch that an engine is given together."""


Batches = Iterator[tuple[list[Events], int]]
"""Events, and the watermark after them, in ns; it may lie before that of the batch before."""


def replay(
    packs: Sequence[Pack],
    batches: Batches,
    engine: Engine,
    watermark: int | None,
    drain: bool,
    report: Report,
) -> Iterator[RaisedColumns]:
    """The alerts of an engine of packs over events, in the documented order, suppression applied.

    It yields them many at a time, never none. At the end the watermark stands at `watermark`, or with `drain`
    at the end of time, or where the data leave it. `report` is filled.
    """
    out = _InOrder(report)
    now = MIN_TIME
    for events, reached in batches:
        now = max(now, reached)
        if watermark is not None:
            now = min(now, watermark)
        yield from out.take(engine.feed(events, now), now)
    end = MAX_TIME if drain else now if watermark is None else watermark
    yield from out.take(engine.feed([], end), end)
    yield from out.take(engine.finish(), end)
    yield from out.rest()
    report.count(packs, engine.counts)


def streams_read(packs: Sequence[Pack]) -> set[str]:
    """Names of the streams that some rule reads. A rule that reads hits also reads the documents' stream."""
    used = {stream for pack in packs for rule in pack.rules for stream in rule.streams}
    return used | {h.documents.name for pack in packs for h in hit_streams(pack) if h.stream.name in used}


def in_step(
    inputs: Sequence[Input], read: Collection[str], report: Report, clock: int | None = None
) -> Batches:
    """The blocks of all inputs, always of the partition that lags behind, so that none fills the memory.

    The watermark is the least of the partitions of the streams `read`, those that some rule reads, that have
    events. `clock` is that of `cep.decode.decoder`.
    """
    readings = _readings(inputs, read, report, clock)
    lagging = readings.values()
    while reading := min((r for r in lagging if not r.ended), key=lambda r: r.reached, default=None):
        for events in reading.more():
            yield [events], _reached(readings)
    yield [], _reached(readings)


def in_batches(
    inputs: Sequence[Input], read: Collection[str], report: Report, clock: int | None = None
) -> Batches:
    """The inputs in the batches in which a job that finds them all at its start takes them.

    So an event is late here if it is late there: the watermark moves between batches, never within one.
    `clock` is that of `cep.decode.decoder`, for all batches.
    """
    readings = _readings(inputs, read, report, clock)
    before = MIN_TIME
    for extents in _batches_of(inputs):
        waiting: list[Events] = []
        # Within a batch events of one instant stand in the order of their streams, partitions and places.
        for (stream, _), reading in readings.items():
            own = [one for one in extents.get(stream, ()) if reading.has(one)]
            for one in sorted(own, key=lambda one: one.path):
                for events in reading.of(one):
                    waiting.append(events)
                    if sum(part.table.nbytes for part in waiting) >= _AT_ONCE:
                        yield waiting, before
                        waiting = []
        before = _reached(readings)
        yield waiting, before
    for reading in readings.values():
        reading.ended = True
    yield [], _reached(readings)


def _batches_of(inputs: Sequence[Input]) -> Iterator[dict[str, list[Extent]]]:
    """The extents of each batch by stream: of each stream up to so many bytes, at least one extent."""
    waiting = {one.stream.name: list(one.extents) for one in inputs}
    while any(waiting.values()):
        batch: dict[str, list[Extent]] = {}
        for stream, extents in waiting.items():
            size = 0
            while extents:
                size += extents[0].length
                if stream in batch and size > BATCH_BYTES:
                    break
                batch.setdefault(stream, []).append(extents.pop(0))
        yield batch


def _readings(
    inputs: Sequence[Input], read: Collection[str], report: Report, clock: int | None
) -> dict[Partition, _Reading]:
    """The partitions of all inputs, by stream in their order; of a stream without any, one that is empty."""
    found: dict[Partition, _Reading] = {}
    for one in inputs:
        name = one.stream.name
        for partition in sorted({one.source.partition(extent) for extent in one.extents}) or [name]:
            found[name, partition] = _Reading(one, partition, name in read, report, clock)
    return found


@dataclass(slots=True)
class _Reading:
    """A source partition of a stream while it is read; `greatest` is its greatest event time so far.

    `moves`: some rule reads the stream, so that the watermark waits for it.
    """

    input: Input
    partition: str
    moves: bool
    report: Report
    clock: int | None
    greatest: int = MIN_TIME
    ended: bool = False
    _blocks: Iterator[Events] = field(init=False)

    def __post_init__(self) -> None:
        own = filter(self.has, self.input.extents)
        self._blocks = (events for extent in own for events in self.of(extent))

    def has(self, extent: Extent) -> bool:
        """True if the extent is of this partition."""
        return self.input.source.partition(extent) == self.partition

    @property
    def reached(self) -> int:
        """Its own watermark."""
        return max(self.greatest - self.input.stream.lateness, MIN_TIME)

    @property
    def idle(self) -> bool:
        """True if it has ended without an event: the watermark does not wait for it."""
        return self.ended and self.greatest == MIN_TIME

    def more(self) -> Iterator[Events]:
        """The next block with events, if there is one."""
        for events in self._blocks:
            yield events
            return
        self.ended = True

    def of(self, extent: Extent) -> Iterator[Events]:
        """The events of an extent, block by block; what could not be read is reported."""
        report, stream, source = self.report, self.input.stream, self.input.source
        using = decoder(stream, self.input.format, self.clock)
        for part in source.parts(extent, self.input.format, BLOCK):
            for decoded in source.read(part, using, report.passed):
                report.reject(decoded.dead)
                table = decoded.events.table
                if table.num_rows:
                    report.events += table.num_rows
                    self.greatest = max(self.greatest, pc.max(table.column(TIME)).as_py())
                    yield decoded.events


def _reached(readings: Mapping[Partition, _Reading]) -> int:
    """The watermark; a partition without an event holds it at MIN_TIME while it is read."""
    moving = {partition: one for partition, one in readings.items() if one.moves}
    return of_partitions(
        {stream: one.input.stream.lateness for (stream, _), one in moving.items()},
        {partition: one.greatest for partition, one in moving.items()},
        [partition for partition, one in moving.items() if one.idle],
    )


@dataclass(slots=True)
class _InOrder:
    """Alerts of several batches in one order: those at the watermark or after it wait for later batches."""

    report: Report
    stages: InProcess = field(default_factory=InProcess)
    waiting: RaisedColumns = field(default_factory=lambda: RaisedColumns.of(()))

    def take(self, raised: RaisedColumns, watermark: int) -> Iterator[RaisedColumns]:
        """Take a batch's alerts, in order; yield all that lie before the watermark. The rest waits."""
        together = RaisedColumns.ordered([self.waiting, raised]) if self.waiting else raised
        before = int(np.searchsorted(together.time, watermark))
        # A copy, since few wait as a rule: what the batch's bodies are made of is let go.
        self.waiting = together.take(np.arange(before, len(together))).copied()
        yield from self._decided(together.between(0, before))

    def rest(self) -> Iterator[RaisedColumns]:
        """Yield the alerts that still wait when the input has ended."""
        yield from self._decided(self.waiting)

    def _decided(self, raised: RaisedColumns) -> Iterator[RaisedColumns]:
        if not raised:
            return
        passed = self.stages.decide(raised)
        self.report.alerts += len(passed.on)
        self.report.withheld += passed.count(Suppress.name)
        yield passed.on
