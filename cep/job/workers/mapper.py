"""Before the shuffle: one lane's share of a batch becomes payloads for shards.

Runs in Spark's Python workers. Every mapper sends every shard the greatest event times that it saw, so that
each shard computes the same watermark; that is also what brings a batch to shards without events.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import astuple, dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING

import pyarrow as pa

from cep.batch.clock import Partition, Seen
from cep.counters import Counts, PoisonEvents, StreamEvents
from cep.decode.blocks import Aside, Decoder, decoder, none_aside
from cep.decode.letters import DeadLetter, Decoded, without_secrets
from cep.events import Events, event_schema
from cep.job.poison.events import NO_SHARD, poison_error
from cep.job.shipping.blobs import Sender
from cep.job.shipping.folders import Shared
from cep.job.shipping.rows import Kind, pack
from cep.job.shipping.task import Task, current
from cep.job.state_folder import extents, replayed
from cep.job.state_folder.manifest import Lost, Manifest
from cep.job.workers.late import late_rows
from cep.job.workers.replaying import decoded_again
from cep.job.workers.share import Share, share
from cep.job.workers.worker import Worker, worker
from cep.record.writing import LaneRecord, RecordedBatch
from cep.routing.classify import Classified, classify
from cep.sources.source import Extent, Feed, GoneError, Part

if TYPE_CHECKING:
    from cep.job.poison.careful import Searching

_AT_ONCE = 100_000  # events that are classified together
_BYTES_AT_ONCE = 64 << 20  # of their tables: texts are large
_SCHEMA = pa.schema([("shard", pa.int32()), ("kind", pa.int32()), ("payload", pa.binary())])


@dataclass(frozen=True, slots=True)
class Lanes:
    """The values that a mapper gets once, when the query starts: plain ones, for Spark pickles them.

    `keys` are the keys of the shards (cep.job.spark.balance), `feeds` those of the streams. `environ` has
    variables that sources ask for, and that are set on the driver's machine alone.
    """

    shared: Shared
    lanes: int
    keys: tuple[int, ...]
    feeds: Mapping[str, Feed]
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows for all shards, in the lane whose rows of cep.job.spark.listing these are."""
        for _ in batches:
            pass  # the rows hold nothing else that is needed
        os.environ.update(self.environ)
        task = current()
        manifest, lane = task.manifest, task.partition
        watch = Watching(self.feeds)
        whole = {(one.stream, one.path) for one in manifest.poison if one.whole}
        came = [one for one in _came(self, manifest, watch) if (one.stream, one.path) not in whole]
        if task.careful:
            self._check(came)
        with closing(Sender(self.shared.blobs, task.name)) as sender, ExitStack() as stack:
            mapping = _Mapping(self, worker(self.shared), task, sender, watch)
            mapping.record_with(stack)
            yield from mapping.rows(share(came, self.feeds, lane, self.lanes) if came else [], lane)

    @property
    def sources(self) -> extents.Sources:
        """The sources of the feeds."""
        return {name: feed.source for name, feed in self.feeds.items()}

    def _check(self, came: Iterable[Extent]) -> None:
        """Raises PoisonError where an extent cannot even be looked into: all lanes have to know."""
        from cep.job.poison.careful import unopened

        if found := unopened(came, self.feeds):
            raise poison_error(found)


class Watching:
    """Tells of a batch's extents, as often as it is asked, whether they can still be read as they were."""

    def __init__(self, feeds: Mapping[str, Feed]) -> None:
        self._watches = {name: feed.source.watch() for name, feed in feeds.items()}

    def difference(self, extent: Extent) -> str | None:
        """The reason why an extent cannot be read, a predicate; None if it can."""
        return self._watches[extent.stream](extent)


def _came(lanes: Lanes, manifest: Manifest, watch: Watching) -> list[Extent]:
    """The extents that the batch reads. Raises ConfigurationError where one is not there as it was."""
    sources = lanes.sources
    pinned = extents.load(lanes.shared.manifests, sources, manifest.batch, manifest.files)
    found = extents.without(pinned, manifest.lost)
    for one in found:
        if why := watch.difference(one):
            raise extents.gone(sources[one.stream], manifest.batch, one.path, why)
    return found


class _Mapping:
    """One lane's work in one batch."""

    def __init__(self, lanes: Lanes, worker: Worker, task: Task, sender: Sender, watch: Watching) -> None:
        self._lanes = lanes
        self._watch = watch
        self._manifest = task.manifest
        self._plan = worker.plan(task.manifest)
        self._resources = worker.resources(task.manifest)
        self._sender = sender
        self._decoders: dict[str, Decoder] = {}
        self._poison = [one for one in task.manifest.poison if one.shard == NO_SHARD]
        self._searching = self._search() if task.careful else None
        self._seen = Seen()
        self._counts = Counts()
        self._seconds: dict[str, float] = {"decode": 0.0, "classify": 0.0}
        self._waiting: list[Events] = []
        self._number = self._bytes = 0
        self._lane = task.partition
        self._record: LaneRecord | None = None

    def record_with(self, stack: ExitStack) -> None:
        """Record what is accepted, where the job does, until the stack ends."""
        if self._lanes.shared.record is not None:
            plan, manifest = self._plan, self._manifest
            streams = {name: plan.streams[name] for name in plan.read}
            of = RecordedBatch(
                self._lanes.shared.record, manifest.batch, manifest.clock, self._lane, streams,
                mask=self._lanes.shared.mask,
            )  # fmt: skip
            self._record = stack.enter_context(LaneRecord(of))

    def rows(self, parts: Share, lane: int) -> Iterator[pa.RecordBatch]:
        """All rows of the lane."""
        if lane == 0 and self._manifest.lost:
            yield self._lost(self._manifest.lost)
        if lane == 0 and (whole := [one.letter() for one in self._poison if one.whole]):
            yield self._dead(whole)
        for stream, run in groupby(parts, key=lambda one: one[0].stream):
            places, found = zip(*run, strict=True)
            fetched = self._lanes.feeds[stream].source.ahead(found)
            for extent, part in zip(places, fetched, strict=True):
                yield from self._part(extent, part)
        yield from self._again(lane)
        yield from self._classified()
        if self._searching is not None and self._searching.found:
            raise poison_error(self._searching.found)
        if self._record is not None:
            with self._timed("record"):
                self._counts.update(self._record.finish())
        counted = pack((self._counts, dict(self._seconds)))
        seen = pack(self._seen)
        keys = self._lanes.keys
        yield self._rows([(key, Kind.SEEN, seen) for key in keys] + [(keys[0], Kind.READ, counted)])

    def _part(self, extent: Extent, part: Part) -> Iterator[pa.RecordBatch]:
        reader = self._decoder(extent.stream)
        if reader is not None:
            yield from self._taken(self._blocks(extent, part, reader))

    def _again(self, lane: int) -> Iterator[pa.RecordBatch]:
        """The lane's share of the dead letters that the batch reads again."""
        if self._manifest.letters:
            letters = replayed.load(self._lanes.shared.manifests, self._manifest)
            mine = replayed.share(letters, lane, self._lanes.lanes)
            yield from self._taken(decoded_again(mine, self._decoder, self._lanes.feeds))

    def _taken(self, blocks: Iterable[Decoded]) -> Iterator[pa.RecordBatch]:
        """Blocks as they are decoded: dead letters go on at once, events when there are many."""
        begun = time.perf_counter()
        for block in blocks:
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

    def _blocks(self, extent: Extent, part: Part, reader: Decoder) -> Iterator[Decoded]:
        """The decoded blocks of a part. Raises ConfigurationError if its extent is not as it was."""
        batch, source = self._manifest.batch, self._lanes.feeds[extent.stream].source
        try:
            for one in self._readable(extent, part, reader):
                yield from (one,) if isinstance(one, Decoded) else source.read(one, reader, strict=True)
        except GoneError as error:
            raise extents.gone(source, batch, extent.path, str(error)) from error
        if why := self._watch.difference(extent):
            raise extents.gone(source, batch, extent.path, why)

    def _lost(self, lost: Iterable[Lost]) -> pa.RecordBatch:
        """A dead letter for everything that the batch goes without."""
        return self._dead(extents.letters(self._lanes.sources, lost))

    def _readable(self, extent: Extent, part: Part, reader: Decoder) -> Iterator[Part | Decoded]:
        """The pieces of a part that are read, and the dead letters of what is not even opened."""
        stream, feed = extent.stream, self._lanes.feeds[extent.stream]
        unread = [
            one for one in self._poison if one.unread and (one.stream, one.path) == (stream, extent.path)
        ]
        if self._searching is None and not unread:
            yield part
            return
        from cep.job.poison.careful import unreadable, without

        if self._searching is not None:
            found = [one for one in unreadable(feed, part) if one not in unread]
            self._searching.found += found
            unread += found
        if any(one.whole for one in unread):
            return
        if not unread:
            yield part
            return
        letters, left = without(feed, part, unread)
        if letters:
            nothing = Events(stream, stream, event_schema(reader.stream).empty_table())
            yield Decoded(nothing, letters)
        yield from left

    def _search(self) -> Searching:
        from cep.job.poison.careful import KnownPoison, Searching

        return Searching(KnownPoison(self._poison), self._try_classifying)

    def _try_classifying(self, decoded: Decoded) -> None:
        """Does what is done with events, and throws the result away."""
        if len(decoded.events.table):
            found = self._classify([decoded.events])
            for part in found.late:
                late_rows(self._plan.streams[part.stream], part)

    def _decoder(self, stream: str) -> Decoder | None:
        """The decoder of a stream; None if no pack that runs declares it."""
        if stream not in self._plan.streams:
            return None
        if stream not in self._decoders:
            declared, written = self._plan.streams[stream], self._lanes.feeds[stream].format
            made = decoder(declared, written, self._manifest.clock)
            self._decoders[stream] = replace(made, aside=self._aside())
        return self._decoders[stream]

    def _aside(self) -> Aside:
        """The test that sets records aside which are not decoded."""
        if self._searching is not None:
            return self._searching
        if not self._poison:
            return none_aside
        from cep.job.poison.careful import KnownPoison

        return KnownPoison(self._poison)

    def _classified(self) -> Iterator[pa.RecordBatch]:
        if not self._waiting:
            return
        begun = time.perf_counter()
        keys = self._lanes.keys
        found = self._classify(_joined(self._waiting))
        self._waiting, self._number, self._bytes = [], 0, 0
        self._seen = self._seen.joined([found.seen])
        self._counts.update(found.counts)
        rows = [(keys[shard], Kind.EVENTS, payload) for shard, payload in found.payloads.items()]
        self._seconds["classify"] += time.perf_counter() - begun
        if self._record is not None:
            with self._timed("record"):
                for one in found.accepted:
                    self._record.add(one)
        if rows:
            yield self._rows(rows)
        if found.late:
            yield self._late(found.late)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self._seconds[stage] = self._seconds.get(stage, 0.0) + time.perf_counter() - begun

    def _classify(self, events: Sequence[Events]) -> Classified:
        shards = len(self._lanes.keys)
        return classify(self._plan, shards, events, self._manifest.watermark, self._resources)

    def _dead(self, dead: Sequence[DeadLetter]) -> pa.RecordBatch:
        self._counts.update(StreamEvents(one.feed, "dead") for one in dead)
        self._counts.update(PoisonEvents(one.feed, "decode") for one in dead if one.stage == "poison")
        letters = [astuple(self._kept(one)) for one in dead]
        return self._rows([(self._lanes.keys[0], Kind.DEAD, pack(letters))])

    def _kept(self, letter: DeadLetter) -> DeadLetter:
        stream, mask = self._plan.streams.get(letter.feed), self._lanes.shared.mask
        return letter if stream is None or mask is None else without_secrets(letter, stream, mask)

    def _late(self, late: Iterable[Events]) -> pa.RecordBatch:
        events = [
            row
            for part in late
            for row in late_rows(self._plan.streams[part.stream], part, self._lanes.shared.mask)
        ]
        return self._rows([(self._lanes.keys[0], Kind.LATE, pack(events))])

    def _rows(self, rows: Iterable[tuple[int, Kind, bytes | memoryview]]) -> pa.RecordBatch:
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
