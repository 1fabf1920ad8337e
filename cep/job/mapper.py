"""Before the shuffle: one lane's share of a batch's files becomes payloads for shards.

Runs in Spark's Python workers. Every mapper sends every shard the greatest event times that it saw, so that
each shard works out the same watermark; that is also what brings a batch to shards without events.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from cep.automata.plan import HitStream, Plan
from cep.decode.blocks import Decoder, decoder
from cep.decode.letters import DeadLetter, Decoded
from cep.events import Events
from cep.feeds import Split, read
from cep.formats import FeedFormat
from cep.job import extents
from cep.job.extents import Differences
from cep.job.late import late_rows
from cep.job.manifest import Lost, Manifest, parse
from cep.job.parcels import Sender
from cep.job.revisions import Plans
from cep.job.rows import Kind, pack
from cep.job.share import ListedFile, share
from cep.routing.classify import classify
from cep.watermark import Partition, earliest, progress

if TYPE_CHECKING:
    from cep.standing.answers import QuerySet
    from cep.standing.hits import QuerySets
    from cep.standing.shelf import Shelf

MANIFEST = "cep.manifest"
"""The property by which a batch's tasks get its manifest."""

_AT_ONCE = 100_000  # events that are classified together
_BYTES_AT_ONCE = 64 << 20  # of their tables: texts are large
_SCHEMA = pa.schema([("shard", pa.int32()), ("kind", pa.int32()), ("payload", pa.binary())])


@dataclass(frozen=True, slots=True)
class Lanes:
    """What a mapper is told once, when the query starts: plain values, for Spark pickles it.

    `keys` are the keys of the shards (cep.job.balance), `formats` those of the streams' feeds, `queries` is
    the folder of compiled standing queries, `parcels` that of large payloads, `manifests` that of manifests.
    """

    manifests: Path
    packs: Path
    queries: Path
    parcels: Path
    lanes: int
    keys: tuple[int, ...]
    formats: Mapping[str, FeedFormat]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows for all shards, in the lane whose rows of cep.job.sources these are."""
        lane = _lane(batches)
        manifest = current_manifest()
        plan = plans(self.packs).plan(manifest.revisions)
        came = _came(self.manifests, manifest)
        files = [ListedFile(one.stream, one.path, one.length) for one in came.extents.values()]
        with closing(Sender(self.parcels, task_name())) as sender:
            mapping = _Mapping(self, plan, manifest, sender, came)
            yield from mapping.rows(share(files, self.formats, lane, self.lanes) if files else [], lane)


_plans: dict[Path, Plans] = {}
_shelves: dict[Path, Shelf] = {}


def plans(packs: Path) -> Plans:
    """This worker process's plans."""
    return _plans.setdefault(packs, Plans(packs))


def sets(queries: Path) -> QuerySets:
    """This worker process's standing queries."""

    def opened(hits: HitStream) -> QuerySet:
        from cep.standing.shelf import Shelf  # only where a pack has standing queries

        if queries not in _shelves:
            _shelves[queries] = Shelf(queries)
        return _shelves[queries].open(hits)

    return opened


def current_manifest() -> Manifest:
    """The manifest of the batch that this task belongs to."""
    from pyspark import TaskContext

    context = TaskContext.get()
    text = context.getLocalProperty(MANIFEST) if context else None
    if not text:
        raise RuntimeError("a task without a manifest")
    return parse(text)


def task_name() -> str:
    """A name that no other task of this run of the program has."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return str(context.taskAttemptId() if context else 0)


def _lane(batches: Iterable[pa.RecordBatch]) -> int:
    """The lane whose rows these are; the rows hold nothing else that is needed."""
    from pyspark import TaskContext

    for _ in batches:
        pass
    context = TaskContext.get()
    return context.partitionId() if context else 0


def _came(folder: Path, manifest: Manifest) -> Differences:
    """The files that the batch reads. Raises ConfigurationError where one is not there as it was."""
    found = Differences(extents.without(extents.load(folder, manifest.batch, manifest.files), manifest.lost))
    for stream, path in found.extents:
        if why := found.of(stream, path):
            raise extents.gone(manifest.batch, path, why)
    return found


class _Mapping:
    """One lane's work in one batch."""

    def __init__(
        self, task: Lanes, plan: Plan, manifest: Manifest, sender: Sender, came: Differences
    ) -> None:
        self._task = task
        self._came = came
        self._plan = plan
        self._manifest = manifest
        self._sender = sender
        self._decoders: dict[str, Decoder] = {}
        self._greatest: dict[Partition, int] = {}
        self._first: dict[str, int] = {}
        self._counts: Counter[tuple[str, ...]] = Counter()
        self._seconds: dict[str, float] = {"decode": 0.0, "classify": 0.0}
        self._waiting: list[Events] = []
        self._number = self._bytes = 0

    def rows(self, parts: Sequence[tuple[str, Split]], lane: int) -> Iterator[pa.RecordBatch]:
        """All rows of the lane."""
        if lane == 0 and self._manifest.lost:
            yield self._lost(self._manifest.lost)
        for stream, split in parts:
            yield from self._split(stream, split)
        yield from self._classified()
        counted = pack((dict(self._counts), dict(self._seconds)))
        seen = pack((self._greatest, self._first))
        keys = self._task.keys
        yield self._rows([(key, Kind.SEEN, seen) for key in keys] + [(keys[0], Kind.READ, counted)])

    def _split(self, stream: str, split: Split) -> Iterator[pa.RecordBatch]:
        reader = self._decoder(stream)
        if reader is None:
            self._counts["files", stream, "unwanted"] += 1
            return
        begun = time.perf_counter()
        for block in self._blocks(stream, split, reader):
            self._seconds["decode"] += time.perf_counter() - begun
            if block.dead:
                self._counts["events", stream, "dead"] += len(block.dead)
                yield self._letters(block.dead)
            if len(block.events.table):
                self._waiting.append(block.events)
                self._number += len(block.events.table)
                self._bytes += block.events.table.nbytes
            if self._number >= _AT_ONCE or self._bytes >= _BYTES_AT_ONCE:
                yield from self._classified()
            begun = time.perf_counter()

    def _blocks(self, stream: str, split: Split, reader: Decoder) -> Iterator[Decoded]:
        """The decoded blocks of a split. Raises ConfigurationError if its file is not as it was."""
        batch = self._manifest.batch
        try:
            yield from read(split, reader, raising=True)
        except OSError as error:
            raise extents.gone(batch, split.file, extents.unreadable(error)) from error
        if why := self._came.of(stream, split.file):
            raise extents.gone(batch, split.file, why)

    def _lost(self, lost: Iterable[Lost]) -> pa.RecordBatch:
        """A dead letter for every file that the batch goes without."""
        letters = extents.letters(lost)
        self._counts.update(("events", one.feed, "dead") for one in letters)
        return self._letters(letters)

    def _decoder(self, stream: str) -> Decoder | None:
        """The decoder of a stream; None if no pack that runs declares it."""
        if stream not in self._plan.streams:
            return None
        if stream not in self._decoders:
            declared, written = self._plan.streams[stream], self._task.formats[stream]
            self._decoders[stream] = decoder(declared, written, self._manifest.clock)
        return self._decoders[stream]

    def _classified(self) -> Iterator[pa.RecordBatch]:
        if not self._waiting:
            return
        begun = time.perf_counter()
        keys = self._task.keys
        waiting = _joined(self._waiting)
        found = classify(self._plan, len(keys), waiting, self._manifest.watermark, sets(self._task.queries))
        self._waiting, self._number, self._bytes = [], 0, 0
        self._greatest = progress(self._greatest, [found.greatest])
        self._first = earliest(self._first, [found.first])
        self._counts.update(found.counts)
        rows = [(keys[shard], Kind.EVENTS, payload) for shard, payload in found.payloads.items()]
        self._seconds["classify"] += time.perf_counter() - begun
        if rows:
            yield self._rows(rows)
        if found.late:
            yield self._late(found.late)

    def _letters(self, dead: Iterable[DeadLetter]) -> pa.RecordBatch:
        letters = [(d.feed, d.file, d.offset, d.stage, d.reason, d.data) for d in dead]
        return self._rows([(self._task.keys[0], Kind.DEAD, pack(letters))])

    def _late(self, late: Iterable[Events]) -> pa.RecordBatch:
        events = [row for part in late for row in late_rows(self._plan.streams[part.stream], part)]
        return self._rows([(self._task.keys[0], Kind.LATE, pack(events))])

    def _rows(self, rows: Iterable[tuple[int, Kind, bytes]]) -> pa.RecordBatch:
        sent = [(shard, *self._sender.row(kind, payload)) for shard, kind, payload in rows]
        columns = zip(zip(*sent, strict=True), _SCHEMA.types, strict=True)
        return pa.RecordBatch.from_arrays([pa.array(*column) for column in columns], schema=_SCHEMA)


def _joined(events: Sequence[Events]) -> list[Events]:
    """The events of each source partition as one table: by column, few rows cost as much as many."""
    tables: dict[Partition, list[pa.Table]] = {}
    for part in events:
        tables.setdefault((part.stream, part.partition), []).append(part.table)
    return [
        Events(stream, partition, pa.concat_tables(parts).unify_dictionaries())
        for (stream, partition), parts in tables.items()
    ]
