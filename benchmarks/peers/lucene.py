"""Lucene Monitor and the percolator on one core: documents that nobody has seen past standing queries.

Lucene has several ways; which is the quickest depends on the queries, so all are tried first, on documents
of their own, and the quickest is the one that is measured: once one document at a time with a presearcher,
as its users run it, and if batches are quicker, also in those. Ours takes batches of 1,000 each time. In the
columns of latencies both have one document at a time.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import percolator_match
import wikipedia

from peers import java
from peers.documents import Documents, Generated, Sentences
from peers.lucene_queries import form
from peers.process import Answer, Conversation, conversation
from peers.turns import Comparison, Latency, Taken, measured
from percolator.query.parse import parse

JVM = ("-Xms4g", "-Xmx4g")
"""A heap that is never short; the collector is the one that a JVM chooses on one core (Serial)."""
BATCH = 1_000
SAMPLE = 2_000
WARM_UP = 2
"""Turns before the first that counts, behind the trials."""
ALONE = 500
SMALL_PART = 20
"""With --small a turn has so many times fewer documents."""


@dataclass(frozen=True, slots=True)
class Way:
    """Settings of Lucene (see Way.java), and how many documents it is given at once."""

    passes: int
    frequencies: bool = True
    regexps: bool = False
    batch: int = 1

    def __str__(self) -> str:
        presearcher = {0: "no presearcher", 1: "TermFiltered"}.get(self.passes, f"Multipass({self.passes})")
        weights = (", by frequency" if self.frequencies else ", by length") if self.passes else ""
        at_once = "one by one" if self.batch == 1 else f"batches of {self.batch:,}"
        return f"{presearcher}{weights}{', prefixes as regexps' if self.regexps else ''}, {at_once}"


ALONE_WAYS = (Way(1, False), Way(1), Way(2), Way(4), Way(1, regexps=True), Way(2, regexps=True))
BATCHES = (10, 100, BATCH)


@dataclass(frozen=True, slots=True)
class Workload:
    """Queries, the documents they meet, so many in a turn; `accept` is the ratio looked for."""

    name: str
    queries: Sequence[str]
    documents: Documents
    count: int
    accept: float


def workloads(data: Path | None, small: bool) -> Iterator[Workload]:
    """All of them; the analysts' only where `data` has them, since the project may not ship them."""
    for size, count, accept in ((1_000, 4_000, 20), (10_000, 2_000, 25), (100_000, 500, 90)):
        number = size // SMALL_PART if small else size
        documents = Generated(size)
        queries = percolator_match.mixed_queries(number, documents.corpus, random.Random(size))
        yield Workload(f"mix of {number:,}", queries, documents, count, accept)
    yield Workload("Luwak's 2,000", wikipedia.queries(), Sentences(1), 2_000, 15)
    if data is None:
        print("the analysts' queries are left out: name their folder with --data", flush=True)
    else:
        yield Workload("analysts' 7,972", percolator_match.analysts(data), Sentences(2), 1_000, 25)


def compare(folder: Path, turns: int, small: bool, data: Path | None) -> Iterator[Comparison]:
    """The rows, one after the other; both processes are new for every workload."""
    for work in workloads(data, small):
        if small:
            work = replace(work, count=work.count // SMALL_PART)
        with (
            conversation([sys.executable, "-m", "peers.ours.percolator"], folder / "ours.log", 1) as ours,
            conversation(java.program("lucene", JVM), folder / "lucene.log", 1) as theirs,
        ):
            yield from rows(Match(folder, work, ours, theirs), turns, small)


def rows(contest: Match, turns: int, small: bool) -> Iterator[Comparison]:
    """One document at a time with the best presearcher, then in batches if these are quicker."""
    work, seconds = contest.work, 0.2 if small else 3.0
    contest.set_up_ours()
    alone, rate = contest.quickest(ALONE_WAYS[1:3] if small else ALONE_WAYS, seconds)
    contest.use(alone)
    pairs, same = measured(contest, WARM_UP, turns)
    yield Comparison(
        f"{contest.title}: {work.name}; {alone}", "docs", work.count, pairs, work.accept,
        contest.peaks(), contest.latencies(), same,
    )  # fmt: skip
    batches = [*(replace(alone, batch=size) for size in BATCHES), Way(0, batch=BATCH)]
    together, quicker = contest.quickest(batches, seconds)
    if quicker > rate:
        contest.use(together)
        pairs, same = measured(contest, WARM_UP, turns)
        name = f"{contest.title}: {work.name}; {together}"
        yield Comparison(name, "docs", work.count, pairs, same=same)


@dataclass(slots=True)
class Match:
    """The hits of documents that are new every turn."""

    folder: Path
    work: Workload
    ours_process: Conversation
    theirs_process: Conversation
    way: Way = ALONE_WAYS[0]
    registered: Way | None = None

    title: ClassVar[str] = "Lucene"

    def set_up_ours(self) -> None:
        """Writes both sides' queries, and the sample from which both learn what is rare; ours reads them."""
        _write(self.path("queries"), self.work.queries)
        _write(self.path("forms"), [form(parse(text)) for text in self.work.queries])
        _write(self.path("sample"), self.work.documents.texts(SAMPLE))
        said = self._set_up()
        print(f"\n{self.title}: {self.work.name}: set up in {said['seconds']:.1f} s (ours)", flush=True)

    def quickest(self, ways: Sequence[Way], seconds: float) -> tuple[Way, float]:
        """The way with the most documents a second of processor time, and how many; each has some of it."""
        found = []
        for way in ways:
            self.use(way)
            for part in (1, 2):  # the first warms up
                self._write_documents(max(self.work.count, way.batch))
                said = self._ask(self.theirs_process, way.batch, most=part * seconds)
            found.append((said["documents"] / said["processor"], way))
            print(f"  tried: {way}: {found[-1][0]:,.0f} docs/s", flush=True)
        rate, way = max(found, key=lambda one: one[0])
        return way, rate

    def use(self, way: Way) -> None:
        """Has Lucene's queries registered in this way."""
        settings = replace(way, batch=1)
        if settings != self.registered:
            said = self.theirs_process.ask(
                "set_up", queries=self.path("forms"), sample=self.path("sample"), passes=way.passes,
                frequencies=way.frequencies, regexps=way.regexps,
            )  # fmt: skip
            print(f"  set up in {said['seconds']:.1f} s (Lucene)", flush=True)
        self.way, self.registered = way, settings

    def prepare(self) -> None:
        """New documents."""
        self._write_documents(self.work.count)

    def ours(self) -> Taken:
        """In batches, where it has them."""
        return Taken.of(self._ask(self.ours_process, BATCH))

    def theirs(self) -> Taken:
        """In its way."""
        return Taken.of(self._ask(self.theirs_process, self.way.batch))

    def check(self) -> str:
        """The pairs of document and query."""
        for side, name in ((self.ours_process, "ours"), (self.theirs_process, "theirs")):
            side.ask("results", out=self.path(name))
        return same_rows(Path(self.path("ours")), Path(self.path("theirs")), 2, "pairs")

    def latencies(self) -> tuple[Latency, Latency]:
        """Of new documents, each alone, on both sides."""
        self._write_documents(min(ALONE, self.work.count))
        sides = (self.ours_process, self.theirs_process)
        ours, theirs = (Latency.of(self._ask(side, 1)["microseconds"]) for side in sides)
        return ours, theirs

    def peaks(self) -> tuple[int, int]:
        """Bytes of memory."""
        return self.ours_process.peak(), self.theirs_process.peak()

    def path(self, name: str) -> str:
        """A file of the comparison."""
        return str(self.folder / name)

    def _set_up(self) -> Answer:
        return self.ours_process.ask("set_up", queries=self.path("queries"), sample=self.path("sample"))

    def _ask(self, side: Conversation, batch: int, **more: object) -> Answer:
        return side.ask("match", documents=self.path("documents"), batch=batch, **more)

    def _write_documents(self, count: int) -> None:
        _write(self.path("documents"), self.work.documents.texts(count))


def same_rows(ours: Path, theirs: Path, columns: int, unit: str) -> str:
    """What comparing two files of numbers comes to. Raises SystemExit if they differ."""
    left, right = (
        {tuple(row) for row in np.fromfile(path, ">i4").reshape(-1, columns).tolist()}
        for path in (ours, theirs)
    )
    if left == right:
        return f"{len(left):,} {unit}, the same"
    only, missing = sorted(left - right), sorted(right - left)
    raise SystemExit(
        f"{len(only):,} {unit} are ours alone, {len(missing):,} theirs alone: {only[:3]} | {missing[:3]}"
    )


def _write(path: str, values: Sequence[object]) -> None:
    Path(path).write_text("".join(json.dumps(one) + "\n" for one in values), "utf-8")
