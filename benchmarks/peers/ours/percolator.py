"""Our standing queries in one process: documents to the ids of the queries that hit.

python -m peers.ours.percolator      in the folder `benchmarks`
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import percolator_match
import pyarrow as pa

from peers.ours.answering import Stopwatch, hold
from percolator.library.collection import Collection
from percolator.library.load import load as load_queries
from percolator.matching.compiled import load
from percolator.matching.matcher import Matcher

FIELD = "body"
COLUMNS = ["document", "query", "highlights"]


def lines(path: str) -> list[str]:
    """Texts of a file with one string of JSON a line."""
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


class Commands:
    """set_up, match, highlight, results."""

    matcher: Matcher
    ids: pa.Array
    collection: Collection

    def __init__(self) -> None:
        self._highlighted: list[str] = []
        self._found: list[tuple[int, npt.NDArray[np.int32], npt.NDArray[np.int32]]] = []

    def set_up(self, queries: str, sample: str) -> dict[str, object]:
        """Parses queries and builds their segment, with a sample of documents that says what is rare."""
        watch = Stopwatch()
        texts = lines(queries)
        segment, _, _ = percolator_match.built(texts, lines(sample))
        self.matcher = Matcher(percolator_match.SCHEMA, [segment], engine=load())
        self.ids = pa.array([self.matcher.id_of(place) for place in range(len(texts))])
        return watch.answer()

    def set_up_highlights(self, queries: str) -> dict[str, object]:
        """Takes queries into a collection, the form that gives highlights."""
        watch = Stopwatch()
        self.collection = Collection(percolator_match.SCHEMA, engine=load())
        written = [json.dumps({"id": str(n), "query": text}) for n, text in enumerate(lines(queries))]
        load_queries(self.collection, written)
        return watch.answer()

    def match(self, documents: str, batch: int) -> dict[str, object]:
        """Documents in batches, or with `batch` 1 each alone; their hits' ids are at hand afterwards."""
        texts, taken = lines(documents), []
        column = pa.array(texts, pa.string())
        self._found = []
        watch = Stopwatch()
        for first in range(0, len(texts), batch):
            begin = time.perf_counter_ns()
            if batch == 1:
                hits = self.matcher.match({FIELD: texts[first]})
            else:
                hits = self.matcher.match_batch({FIELD: column[first : first + batch]})
            self.ids.take(pa.array(hits.query))
            taken.append((time.perf_counter_ns() - begin) / 1e3)
            if hits.undecided:
                raise SystemExit(f"undecided: {hits.undecided[:3]}")
            self._found.append((first, hits.document, hits.query))
        return watch.answer(microseconds=taken)

    def highlight(self, documents: str, batch: int) -> dict[str, object]:
        """Documents in batches, or with `batch` 1 each alone, with the places of what was found, to be read.

        An answer is gone when the next one comes, as in a stream: kept, they would be the collector's work.
        """
        texts, taken = lines(documents), []
        column = pa.array(texts, pa.string())
        watch = Stopwatch()
        for first in range(0, len(texts), batch):
            begin = time.perf_counter_ns()
            if batch == 1:
                for hit in self.collection.match({FIELD: texts[first]}, highlight=True).hits:
                    dict(hit.highlights or {})
            else:
                found = self.collection.highlight_batch({FIELD: column[first : first + batch]})
                pa.table([pa.array(found.document), self.collection.ids(found.query), found.arrow()], COLUMNS)
            taken.append((time.perf_counter_ns() - begin) / 1e3)
        self._highlighted = texts
        return watch.answer(microseconds=taken)

    def results(self, out: str) -> dict[str, object]:
        """Writes the pairs (document, query) of the last `match`, big-endian numbers of four bytes."""
        rows = [np.stack([first + doc, query], axis=1) for first, doc, query in self._found]
        _write(out, rows)
        return {}

    def highlights(self, out: str) -> dict[str, object]:
        """Runs the last `highlight` again and writes (document, query, start, end), in the same form."""
        found = self.collection.highlight_batch({FIELD: pa.array(self._highlighted, pa.string())})
        queries = np.array(self.collection.ids(found.query).to_pylist(), np.int32)
        pairs = np.stack([found.document, queries], axis=1)
        rows = np.repeat(pairs, found.counts.sum(axis=1), axis=0)
        _write(out, [np.column_stack([rows, found.start, found.end])])
        return {}


def _write(out: str, rows: Sequence[npt.NDArray[np.int32]]) -> None:
    Path(out).write_bytes(np.concatenate(rows).astype(">i4").tobytes())


def main() -> None:
    """Answers until the input ends."""
    commands = Commands()
    names = ("set_up", "set_up_highlights", "match", "highlight", "results", "highlights")
    hold({name: getattr(commands, name) for name in names})


if __name__ == "__main__":
    main()
