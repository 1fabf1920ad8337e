"""The speed of highlights: documents a second and microseconds a hit, one core, processor time.

    python benchmarks/highlights.py

Luwak's queries and articles, as examples/media ships them. The first two rows pass every document alone: its
hits, its hits with highlights. The next two pass all of them as a column, and have Arrow's columns of ids and
ranges made. The last is what the highlights of the same hits take by percolator.highlight alone, which shows
the queries that the kernel has no code for. In each run of the first four 12 of 196 words of every document
are new, never seen before; queries hit and were shown before. Medians of the runs, turn by turn.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import deque
from collections.abc import Callable, Iterator
from statistics import median

import numpy as np
import pyarrow as pa
import wikipedia
from unseen import NewWords, renewed

from percolator.analysed import Analysed
from percolator.highlight import Highlighter
from percolator.library.answer import Answer
from percolator.library.collection import Collection
from percolator.library.load import load
from percolator.query.parse import parse
from percolator.schema import Schema

SCHEMA = Schema.of({"text": "text"})
RUNS = 7


def main() -> None:
    """Prints the calibration and the figures."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args()
    numbers = np.random.default_rng(1).random(10_000_000)
    start = time.process_time()
    np.sort(numbers)
    print(f"calibration: sorting ten million numbers {1e3 * (time.process_time() - start):.0f} ms")
    articles, new = wikipedia.articles(), NewWords(1)
    texts = wikipedia.queries()
    queries = Collection(SCHEMA)
    load(queries, [json.dumps({"id": str(number), "query": text}) for number, text in enumerate(texts)])

    def unseen() -> list[dict[str, str]]:
        return [{"text": renewed(article, new)} for article in articles]

    def answers(documents: list[dict[str, str]], highlight: bool) -> Iterator[Answer]:
        for document in documents:
            yield queries.match(document, highlight=highlight)

    documents = unseen()
    places, ranges = [], 0
    for answer in answers(documents, True):
        places.append([int(found.query.id) for found in answer.hits])
        ranges += sum(len(one) for found in answer.hits for one in (found.highlights or {}).values())
    highlighters = [Highlighter(parse(text), SCHEMA) for text in texts]

    def by_closures() -> None:
        for document, hits in zip(documents, places, strict=True):
            analysed = Analysed(document, SCHEMA)
            for number in hits:
                highlighters[number].hit(analysed)

    count, hits = len(documents), sum(map(len, places))
    print(f"{count} documents; in each {hits / count:.1f} hits, {ranges / count:.0f} ranges")

    def columns(documents: list[dict[str, str]], highlight: bool) -> None:
        bodies = {"text": pa.array([document["text"] for document in documents])}
        if not highlight:
            queries.ids(queries.match_batch(bodies).query)
            return
        found = queries.highlight_batch(bodies)
        queries.ids(found.query)
        found.arrow()

    # An answer is gone when the next one comes, as where documents stream.
    ways: list[Callable[[list[dict[str, str]]], object]] = [
        lambda some: deque(answers(some, False), 0), lambda some: deque(answers(some, True), 0),
        lambda some: columns(some, False), lambda some: columns(some, True),
    ]  # fmt: skip
    taken: list[list[float]] = [[] for _ in ways]
    for _ in range(RUNS):
        for way, times in zip(ways, taken, strict=True):
            some = unseen()
            times.append(seconds(lambda some=some, way=way: way(some)))  # type: ignore[misc]
    alone, alone_shown, plain, shown = map(median, taken)
    row("hits, alone", alone, count, hits, 0.0)
    row("hits with highlights, alone", alone_shown, count, hits, alone)
    row("hits, by column", plain, count, hits, 0.0)
    row("hits with highlights, by column", shown, count, hits, plain)
    row("highlights, percolator.highlight", seconds(by_closures), count, hits, 0.0)


def seconds(work: Callable[[], object]) -> float:
    """The processor time of some work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def row(name: str, taken: float, documents: int, hits: int, less: float) -> None:
    """Prints a row; microseconds of a hit are those beyond `less`."""
    print(f"{name:<34}{documents / taken:>8.0f} docs/s{1e6 * (taken - less) / hits:>8.1f} us a hit")


if __name__ == "__main__":
    main()
