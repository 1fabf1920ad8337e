"""Files through an engine: in step by event time or as a job takes them, suppressed and put in order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.compute as pc

from alerts.raised import Raised
from alerts.stages.decided import InProcess
from alerts.stages.order import in_order
from alerts.stages.suppress import Suppress
from cep.automata.plan import hit_streams
from cep.decode import decoder
from cep.events import MAX_TIME, MIN_TIME, TIME, Events
from cep.feeds import BATCH_BYTES, read, splits
from cep.inprocess.engines import Engine
from cep.inprocess.report import Report
from cep.inprocess.sources import Source
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
) -> Iterator[Raised]:
    """The alerts of an engine of packs over events, in the documented order, suppression applied.

    At the end the watermark stands at `watermark`, or with `drain` at the end of time, or where the data
    leave it. `report` is filled.
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
    sources: Sequence[Source], read: Collection[str], report: Report, clock: int | None = None
) -> Batches:
    """The blocks of all files, always of the stream that lags behind, so that none fills the memory.

    The watermark is the least of the streams `read`, those that some rule reads, that have events. `clock` is
    that of `cep.decode.decoder`.
    """
    readings = [_Reading(source, source.stream.name in read, report, clock) for source in sources]
    while reading := min((r for r in readings if not r.ended), key=lambda r: r.reached, default=None):
        for events in reading.more():
            yield [events], _reached(readings)
    yield [], _reached(readings)


def in_batches(
    sources: Sequence[Source], read: Collection[str], report: Report, clock: int | None = None
) -> Batches:
    """The files in the batches in which a job that finds them all at its start takes them.

    So an event is late here if it is late there: the watermark moves between batches, never within one.
    `clock` is that of `cep.decode.decoder`, for all batches.
    """
    readings = {
        source.stream.name: _Reading(source, source.stream.name in read, report, clock) for source in sources
    }
    before = MIN_TIME
    for files in _batches_of(sources):
        waiting: list[Events] = []
        for source in sources:
            # Within a batch events of one instant stand in the order of their streams, files and places.
            for file in sorted(files.get(source.stream.name, ())):
                for events in readings[source.stream.name].of_file(file):
                    waiting.append(events)
                    if sum(part.table.nbytes for part in waiting) >= _AT_ONCE:
                        yield waiting, before
                        waiting = []
        before = _reached(list(readings.values()))
        yield waiting, before
    for reading in readings.values():
        reading.ended = True
    yield [], _reached(list(readings.values()))


def _batches_of(sources: Sequence[Source]) -> Iterator[dict[str, list[str]]]:
    """The files of each batch by stream: of each stream up to so many bytes, at least one file."""
    waiting = {source.stream.name: list(source.files) for source in sources}
    while any(waiting.values()):
        batch: dict[str, list[str]] = {}
        for stream, files in waiting.items():
            size = 0
            while files:
                size += Path(files[0]).stat().st_size
                if stream in batch and size > BATCH_BYTES:
                    break
                batch.setdefault(stream, []).append(files.pop(0))
        yield batch


@dataclass(slots=True)
class _Reading:
    """The files of a stream while they are read; `reached` is its own watermark.

    `moves`: whether some rule reads the stream, so that the watermark waits for it.
    """

    source: Source
    moves: bool
    report: Report
    clock: int | None
    reached: int = MIN_TIME
    ended: bool = False
    _blocks: Iterator[Events] = field(init=False)

    def __post_init__(self) -> None:
        self._blocks = (events for file in self.source.files for events in self.of_file(file))

    @property
    def holds(self) -> bool:
        """True if the watermark waits for the stream: some rule reads it, and it is not empty."""
        return self.moves and not (self.ended and self.reached == MIN_TIME)

    def more(self) -> Iterator[Events]:
        """The next block with events, if there is one."""
        for events in self._blocks:
            yield events
            return
        self.ended = True

    def of_file(self, file: str) -> Iterator[Events]:
        """The events of a file, block by block; what could not be read is reported."""
        report, stream, format_ = self.report, self.source.stream, self.source.format
        using = decoder(stream, format_, self.clock)
        for split in splits(file, Path(file).stat().st_size, feed=format_):
            for decoded in read(split, using, passed=report.passed):
                report.reject(decoded.dead)
                table = decoded.events.table
                if table.num_rows:
                    report.events += table.num_rows
                    self.reached = max(self.reached, pc.max(table.column(TIME)).as_py() - stream.lateness)
                    yield decoded.events


def _reached(readings: Sequence[_Reading]) -> int:
    return min((r.reached for r in readings if r.holds), default=MIN_TIME)


@dataclass(slots=True)
class _InOrder:
    """Alerts of several batches in one order: those at the watermark or after it wait for later batches."""

    report: Report
    stages: InProcess = field(default_factory=InProcess)
    waiting: list[Raised] = field(default_factory=list)

    def take(self, raised: Sequence[Raised], watermark: int) -> Iterator[Raised]:
        """Take a batch's alerts; yield all that lie before the watermark, in order. The rest waits."""
        together = in_order([*self.waiting, *raised]) if self.waiting else list(raised)
        self.waiting = [one for one in together if one.time >= watermark]
        yield from self._decided([one for one in together if one.time < watermark])

    def rest(self) -> Iterator[Raised]:
        """Yield the alerts that still wait when the input has ended."""
        yield from self._decided(self.waiting)

    def _decided(self, raised: Sequence[Raised]) -> Iterator[Raised]:
        passed = self.stages.decide(raised)
        self.report.alerts += len(passed.on)
        self.report.withheld += len(passed.held[Suppress.name])
        yield from passed.on
