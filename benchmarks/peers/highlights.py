"""Lucene's HighlightsMatch and ours on one core: the hits of documents, and where they stand.

Luwak's queries are words and prefixes, all of them required: both sides show every place of each. Ours takes
batches and gives columns of documents, ids and ranges; of Lucene's objects every place is looked at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import wikipedia

from peers import java, lucene
from peers.documents import Sentences
from peers.process import Answer, Conversation, conversation
from peers.turns import Comparison

COUNT, ACCEPT = 1_000, 40.0


def compare(folder: Path, turns: int, small: bool) -> Iterator[Comparison]:
    """The one row."""
    count = COUNT // lucene.SMALL_PART if small else COUNT
    work = lucene.Workload("Luwak's 2,000", wikipedia.queries(), Sentences(3), count, ACCEPT)
    with (
        conversation([sys.executable, "-m", "peers.ours.percolator"], folder / "ours.log", 1) as ours,
        conversation(java.program("lucene", lucene.JVM), folder / "lucene.log", 1) as theirs,
    ):
        yield from lucene.rows(Highlights(folder, work, ours, theirs), turns, small)


@dataclass(slots=True)
class Highlights(lucene.Match):
    """The places of hits, as characters of the text."""

    title: ClassVar[str] = "Lucene, highlights"

    def _set_up(self) -> Answer:
        return self.ours_process.ask("set_up_highlights", queries=self.path("queries"))

    def check(self) -> str:
        """The hits with their places."""
        for side, name in ((self.ours_process, "ours"), (self.theirs_process, "theirs")):
            side.ask("highlights", out=self.path(name))
        return lucene.same_rows(Path(self.path("ours")), Path(self.path("theirs")), 4, "places")

    def _ask(self, side: Conversation, batch: int, **more: object) -> Answer:
        return side.ask("highlight", documents=self.path("documents"), batch=batch, **more)
