"""A library of standing queries in a folder: the one process that changes it.

    library = Library.create(folder, schema)        or Library.open(folder)
    library.add(StandingQuery("q1", "recall* AND tyres", tags=("safety",)))
    library.load(lines)                             JSON lines; the report names every refused one
    library.remove("q1"); library.expire(time)
    library.pin                                     what readers go to (percolator.library.reader)

A change is on disk when the call returns: one frame of the log (percolator.library.log). A crash at any
moment leaves what was before the call or what is behind it, and nothing in between. When many changes stand
in the log, a process of its own makes them a segment, and a later call puts that in place. One thread at a
time.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import pyarrow as pa

from percolator.disk import Disk
from percolator.library.collection import Change, Collection
from percolator.library.compaction import chosen, merge
from percolator.library.cost import Limits
from percolator.library.damage import DamagedError, LibraryError
from percolator.library.load import LoadReport, prepare_lines
from percolator.library.log import LogWriter, Record, frames
from percolator.library.manifest import Manifest, Pin, generations, read_manifest, remove_others
from percolator.library.reader import take_in
from percolator.library.sample import write_sample
from percolator.library.standing import StandingQuery
from percolator.library.stored import StoredSegment
from percolator.schema import Schema

MOST_IN_LOG = 2_000
"""So many queries of one `load` go to the log; more become a segment at once. As many changes in the log
begin a compaction in the background."""
KEPT = 8
"""Generations that are kept for readers at older pins."""


class Library:
    """`queries` are the standing queries as they are now; change them through the library only.

    `failed` is why the last compaction that began by itself came to nothing: the changes are safe, and
    the next one waits until twice as many stand in the log.
    """

    queries: Collection
    manifest: Manifest

    def __init__(self, folder: Path, limits: Limits, disk: Disk, kept: int, compact_at: int | None) -> None:
        self.folder = folder
        self.failed: str | None = None
        self._compact_at = self._due = compact_at
        self._in_log = 0
        self._limits = limits
        self._disk = disk
        self._kept = max(kept, 1)
        self._stored: dict[str, StoredSegment] = {}
        self._open_log: LogWriter | None = None
        self._child: subprocess.Popen[str] | None = None
        self._child_pin = Pin(0, 0)
        self._lock = (folder / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise LibraryError(f"{folder}: another process writes this library") from None

    @classmethod
    def create(
        cls,
        folder: Path,
        schema: Schema,
        *,
        limits: Limits | None = None,
        disk: Disk | None = None,
        kept: int = KEPT,
        compact_at: int | None = MOST_IN_LOG,
    ) -> Library:
        """An empty one in a folder, which is made where there is none. Raises LibraryError, OSError.

        `compact_at` changes in the log begin a compaction in the background; with None only calls do.
        """
        folder.mkdir(parents=True, exist_ok=True)
        library = cls(folder, limits or Limits(), disk or Disk(), kept, compact_at)
        try:
            if generations(folder):
                raise LibraryError(f"{folder}: there is a library in this folder")
            library._commit(Manifest(1, schema), b"")
        except BaseException:
            library.close()
            raise
        return library

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        limits: Limits | None = None,
        disk: Disk | None = None,
        kept: int = KEPT,
        compact_at: int | None = MOST_IN_LOG,
        verify: bool = True,
    ) -> Library:
        """The library of a folder; what a crash has left of an unfinished change is removed.

        `compact_at` is `create`'s. Raises LibraryError where there is none or another process writes it,
        DamagedError.
        """
        manifest = read_manifest(folder)
        library = cls(folder, limits or Limits(), disk or Disk(), kept, compact_at)
        try:
            # Another writer may have gone on before the lock was ours.
            manifest = read_manifest(folder)
            manifest.verify(folder, contents=verify)
            library._use(manifest)
            library._remove_old()
        except FileNotFoundError as problem:
            library.close()
            raise DamagedError(Path(problem.filename), "the file is missing") from None
        except BaseException:
            library.close()
            raise
        return library

    def __enter__(self) -> Library:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Gives the folder free. Nothing is left to be written; an unfinished compaction is given up."""
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None
        if self._open_log is not None:
            self._open_log.close()
        self._lock.close()

    @property
    def _log(self) -> LogWriter:
        assert self._open_log is not None
        return self._open_log

    @property
    def schema(self) -> Schema:
        """The fields of the documents."""
        return self.manifest.schema

    @property
    def pin(self) -> Pin:
        """The state after the last change."""
        return Pin(self.manifest.generation, self._log.end)

    def add(self, query: StandingQuery) -> Change:
        """Takes a query in, in place of one with its id. Raises RefusedError, OSError."""
        change = self.queries.prepare(query)
        if change.kind != "same":
            self._append([{"add": change.query.as_json()}])
            self.queries.apply(change)
            self._tend()
        return change

    def remove(self, id_: str) -> bool:
        """Takes a query out; whether there was one. Raises OSError."""
        if id_ not in self.queries:
            return False
        self._append([{"remove": id_}])
        self.queries.remove(id_)
        self._tend()
        return True

    def expire(self, time: int) -> int:
        """Takes out what expires at that time (microseconds since 1970 UTC) or before; how many."""
        if not self.queries.expiring(time):
            return 0
        self._append([{"expire": time}])
        gone = self.queries.expire(time)
        self._tend()
        return gone

    def load(self, lines: Iterable[str | bytes], dialect: str = "native") -> LoadReport:
        """Takes in the queries of JSON lines: all good ones in one step, also where a crash comes between."""
        changes, report = prepare_lines(self.queries, lines, dialect)
        if not changes:
            return report
        if len(changes) <= MOST_IN_LOG:
            self._append([{"add": change.query.as_json()} for change in changes])
            for change in changes:
                self.queries.apply(change)
            self._tend()
            return report
        for change in changes:
            self.queries.apply(change)
        try:
            self._merge(frozenset())
        except BaseException:
            # What is in memory is ahead of what is on disk.
            if not self._log.broken:
                self._log.broken = True
                self._use(self.manifest)  # with a log of its own
            raise
        return report

    def set_sample(self, documents: pa.Table) -> None:
        """Documents as they come, some thousands: segments from now on are built for their words.

        Raises DocumentError where a column is not what its field holds (percolator.library.sample).
        """
        write_sample(self.folder, documents, self.schema, self._disk)

    def compact(self, whole: bool = False) -> None:
        """Makes the changes a segment, with those segments whose turn it is; with `whole`, with all."""
        self._merge(chosen(self.manifest, self.queries, whole))

    def compact_in_background(self, whole: bool = False) -> bool:
        """Begins the same in a process of its own, from the state as it is now; false if one is at work.

        Changes go on. The next change puts the result in place, or `finish_compaction`.
        """
        if self._child is not None:
            return False
        names = sorted(chosen(self.manifest, self.queries, whole))
        generation, offset = self.pin
        self._child_pin = self.pin
        self._child = subprocess.Popen(
            [
                sys.executable, "-m", "percolator.library.compaction", str(self.folder.absolute()),
                str(generation), str(offset), self._next_name("c"), json.dumps(names),
            ],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        return True

    def finish_compaction(self, wait: bool = False) -> bool:
        """Puts the result of the compaction in the background in place, if it is there; whether it is.

        It is dropped where a new generation has come between. Raises LibraryError where it failed.
        """
        child = self._child
        if child is None or (child.poll() is None and not wait):
            return False
        printed, problems = child.communicate()
        self._child = None
        if child.returncode:
            last = (problems.strip().splitlines() or ["no reason given"])[-1]
            raise LibraryError(f"the compaction failed, the library is as it was: {last}")
        if self._child_pin.generation != self.manifest.generation:
            self._remove_old()
            return False
        self._commit(Manifest.from_text(printed), self._tail(self._child_pin.offset))
        return True

    def _append(self, records: Sequence[Record]) -> None:
        """Writes changes to the log."""
        self._log.append(records)
        self._in_log += len(records)

    def _tend(self) -> None:
        """Behind a change: puts a compaction that has ended in place, and begins one when it is due."""
        try:
            if self._child is not None:
                if self.finish_compaction():
                    self.failed = None
            elif self._due is not None and self._in_log >= self._due:
                self.compact_in_background()
        except (LibraryError, OSError) as problem:  # the change itself is on disk
            self.failed = str(problem)
            self._due = 2 * self._in_log

    def _merge(self, names: frozenset[str]) -> None:
        manifest = merge(self.folder, self.manifest, self.queries, names, self._next_name("m"), self._disk)
        self._commit(manifest, b"")

    def _next_name(self, kind: str) -> str:
        # A child that outlived its parent must not write into the file of another.
        return f"segment-{self.manifest.generation + 1:08d}-{kind}{os.getpid()}"

    def _tail(self, offset: int) -> bytes:
        """The log from an offset on."""
        with (self.folder / self.manifest.log).open("rb") as file:
            file.seek(offset)
            return file.read(self._log.end - offset)

    def _commit(self, manifest: Manifest, tail: bytes) -> None:
        """Makes a generation the newest: its log, then in one step its manifest."""
        self._disk.write_whole(self.folder / manifest.log, [tail])
        try:
            manifest.save(self.folder, self._disk)
            self._use(manifest)
        except BaseException:
            # Which generation is the newest on disk is not known, or the new one could not be opened: nothing
            # must go into the old one's log.
            if self._open_log is not None:
                self._open_log.broken = True
            raise
        self._remove_old()

    def _use(self, manifest: Manifest) -> None:
        """Goes to the state of a generation and its log."""
        stored = {}
        for entry in manifest.segments:
            stored[entry.name] = self._stored.get(entry.name) or StoredSegment.open(self.folder, entry.name)
        base = [(stored[entry.name], entry.dead_places(self.folder)) for entry in manifest.segments]
        past = None if self._open_log is None else self.queries.hit_counts()
        queries = Collection(manifest.schema, base, limits=self._limits, past_hits=past)
        end = in_log = 0
        for records, behind in frames(self.folder / manifest.log, 0):
            for record in records:
                take_in(record, queries)
            end = behind
            in_log += len(records)
        log = LogWriter(self.folder / manifest.log, self._disk, end)
        if self._open_log is not None:
            self._open_log.close()
        self._open_log = log
        self._stored, self.manifest, self.queries = stored, manifest, queries
        self._in_log, self._due = in_log, self._compact_at

    def _remove_old(self) -> None:
        """Removes older generations than are to be kept, and what belongs to none."""
        # Of a damaged one it is not known what belongs to it: then all stays as it is.
        with suppress(DamagedError):
            kept = [read_manifest(self.folder, one) for one in generations(self.folder)[-self._kept :]]
            remove_others(self.folder, kept, self._disk)
