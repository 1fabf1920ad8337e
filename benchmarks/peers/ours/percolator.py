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
        """Documents, each alone whatever the batch, with the places of what was found.

        An answer is gone when the next one comes, as in a stream: kept, they would be the collector's work.
        """
        del batch
        texts, taken = lines(documents), []
        watch = Stopwatch()
        for text in texts:
            begin = time.perf_counter_ns()
            self.collection.match({FIELD: text}, highlight=True)
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
        rows = [
            (document, int(hit.query.id), start, end)
            for document, text in enumerate(self._highlighted)
            for hit in self.collection.match({FIELD: text}, highlight=True).hits
            for start, end in (hit.highlights or {}).get(FIELD, ())
        ]
        _write(out, [np.array(rows, np.int32).reshape(-1, 4)])
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
