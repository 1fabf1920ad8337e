"""Before the shuffle: one lane's share of a batch's files becomes payloads for shards.

Runs in Spark's Python workers. Every mapper sends every shard the greatest event times that it saw, so that
each shard works out the same watermark; that is also what brings a batch to shards without events.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from cep.automata.plan import HitStream, Plan
from cep.counters import Counts, PoisonEvents, StreamEvents
from cep.decode.blocks import Aside, Decoder, decoder, none_aside
from cep.decode.letters import DeadLetter, Decoded
from cep.events import Events, event_schema
from cep.feeds import Split, read
from cep.formats import FeedFormat
from cep.job import extents, poison
from cep.job.extents import Differences
from cep.job.late import late_rows
from cep.job.manifest import Lost, Manifest, parse
from cep.job.parcels import Sender
from cep.job.revisions import Plans
from cep.job.rows import Kind, pack
from cep.job.share import ListedFile, share
from cep.routing.classify import classify
from cep.watermark import Partition, Seen

if TYPE_CHECKING:
    from cep.job.careful import Searching
    from cep.standing.answers import QuerySet
    from cep.standing.hits import QuerySets
    from cep.standing.shelf import Shelf

MANIFEST = "cep.manifest"
"""The property by which a batch's tasks get its manifest."""
CAREFUL = "cep.careful"
"""The property by which they are told to look for poison: not empty."""

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
        whole = {(one.stream, one.path) for one in manifest.poison if one.whole}
        files = [
            ListedFile(one.stream, one.path, one.length)
            for name, one in came.extents.items()
            if name not in whole
        ]
        if careful():
            self._check(files)
        with closing(Sender(self.parcels, task_name())) as sender:
            mapping = _Mapping(self, plan, manifest, sender, came)
            yield from mapping.rows(share(files, self.formats, lane, self.lanes) if files else [], lane)

    def _check(self, files: Iterable[ListedFile]) -> None:
        """Raises PoisonError where a file cannot even be looked into: all lanes have to know."""
        from cep.job.careful import unopened

        if found := unopened([(one.stream, one.path, one.length) for one in files], self.formats):
            raise poison.found(found)


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
    text = _property(MANIFEST)
    if not text:
        raise RuntimeError("a task without a manifest")
    return parse(text)


def careful() -> bool:
    """Whether this task is to look for events that end its process."""
    return bool(_property(CAREFUL))


def _property(name: str) -> str | None:
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.getLocalProperty(name) if context else None


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
        self._poison = [one for one in manifest.poison if one.shard == poison.NO_SHARD]
        self._searching = self._search() if careful() else None
        self._seen = Seen()
        self._counts = Counts()
        self._seconds: dict[str, float] = {"decode": 0.0, "classify": 0.0}
        self._waiting: list[Events] = []
        self._number = self._bytes = 0

    def rows(self, parts: Sequence[tuple[str, Split]], lane: int) -> Iterator[pa.RecordBatch]:
        """All rows of the lane."""
        if lane == 0 and self._manifest.lost:
            yield self._lost(self._manifest.lost)
        if lane == 0 and (whole := [one.letter() for one in self._poison if one.whole]):
            yield self._dead(whole)
        for stream, split in parts:
            yield from self._split(stream, split)
        yield from self._classified()
        if self._searching is not None and self._searching.found:
            raise poison.found(self._searching.found)
        counted = pack((self._counts, dict(self._seconds)))
        seen = pack(self._seen)
        keys = self._task.keys
        yield self._rows([(key, Kind.SEEN, seen) for key in keys] + [(keys[0], Kind.READ, counted)])

    def _split(self, stream: str, split: Split) -> Iterator[pa.RecordBatch]:
        reader = self._decoder(stream)
        if reader is None:
            return
        begun = time.perf_counter()
        for block in self._blocks(stream, split, reader):
            self._seconds["decode"] += time.perf_counter() - begun
            if block.dead:
                yield self._dead(block.dead)
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
            for part in self._readable(stream, split, reader):
                yield from read(part, reader, raising=True) if isinstance(part, Split) else (part,)
        except OSError as error:
            raise extents.gone(batch, split.file, extents.unreadable(error)) from error
        if why := self._came.of(stream, split.file):
            raise extents.gone(batch, split.file, why)

    def _lost(self, lost: Iterable[Lost]) -> pa.RecordBatch:
        """A dead letter for every file that the batch goes without."""
        return self._dead(extents.letters(lost))

    def _readable(self, stream: str, split: Split, reader: Decoder) -> Iterator[Split | Decoded]:
        """What of a split is read, and the dead letters of what is not even opened."""
        unread = [
            one for one in self._poison if one.unread and (one.stream, one.path) == (stream, split.file)
        ]
        if self._searching is None and not unread:
            yield split
            return
        from cep.job.careful import pieces, unreadable, within

        if self._searching is not None:
            found = [one for one in unreadable(stream, split, reader.feed) if one not in unread]
            self._searching.found += found
            unread += found
        if any(one.whole for one in unread):
            return
        if not unread:
            yield split
            return
        if letters := tuple(one.letter() for one in within(split, unread)):
            nothing = Events(stream, stream, event_schema(reader.stream).empty_table())
            yield Decoded(nothing, letters)
        yield from pieces(split, unread)

    def _search(self) -> Searching:
        from cep.job.careful import Kept, Searching

        return Searching(Kept(self._poison), self._judge)

    def _judge(self, decoded: Decoded) -> None:
        """What is done with events, for nothing."""
        keys, shelf = self._task.keys, sets(self._task.queries)
        if len(decoded.events.table):
            found = classify(self._plan, len(keys), [decoded.events], self._manifest.watermark, shelf)
            for part in found.late:
                late_rows(self._plan.streams[part.stream], part)

    def _decoder(self, stream: str) -> Decoder | None:
        """The decoder of a stream; None if no pack that runs declares it."""
        if stream not in self._plan.streams:
            return None
        if stream not in self._decoders:
            declared, written = self._plan.streams[stream], self._task.formats[stream]
            made = decoder(declared, written, self._manifest.clock)
            self._decoders[stream] = replace(made, aside=self._aside())
        return self._decoders[stream]

    def _aside(self) -> Aside:
        """What is not decoded."""
        if self._searching is not None:
            return self._searching
        if not self._poison:
            return none_aside
        from cep.job.careful import Kept

        return Kept(self._poison)

    def _classified(self) -> Iterator[pa.RecordBatch]:
        if not self._waiting:
            return
        begun = time.perf_counter()
        keys = self._task.keys
        waiting = _joined(self._waiting)
        found = classify(self._plan, len(keys), waiting, self._manifest.watermark, sets(self._task.queries))
        self._waiting, self._number, self._bytes = [], 0, 0
        self._seen = self._seen.joined([found.seen])
        self._counts.update(found.counts)
        rows = [(keys[shard], Kind.EVENTS, payload) for shard, payload in found.payloads.items()]
        self._seconds["classify"] += time.perf_counter() - begun
        if rows:
            yield self._rows(rows)
        if found.late:
            yield self._late(found.late)

    def _dead(self, dead: Sequence[DeadLetter]) -> pa.RecordBatch:
        self._counts.update(StreamEvents(one.feed, "dead") for one in dead)
        self._counts.update(PoisonEvents(one.feed, "decode") for one in dead if one.stage == "poison")
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
