"""The speed of highlights: documents a second and microseconds a hit, one core, processor time.

    python benchmarks/highlights.py

Luwak's queries and articles, as examples/media ships them. Each row passes every document alone: the hits,
the hits with highlights, and what the highlights of the same hits take by percolator.highlight alone, which
shows the queries that the kernel has no code for. The documents were seen before, queries hit and shown
before.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import deque
from collections.abc import Callable, Iterator

import numpy as np
import wikipedia

from percolator.analysed import Analysed
from percolator.highlight import Highlighter
from percolator.library.collection import Answer, Collection
from percolator.library.load import load
from percolator.query.parse import parse
from percolator.schema import Schema

SCHEMA = Schema.of({"text": "text"})


def main() -> None:
    """Prints the calibration and the figures."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args()
    numbers = np.random.default_rng(1).random(10_000_000)
    start = time.process_time()
    np.sort(numbers)
    print(f"calibration: sorting ten million numbers {1e3 * (time.process_time() - start):.0f} ms")
    documents = [{"text": text} for text in wikipedia.articles()]
    texts = wikipedia.queries()
    queries = Collection(SCHEMA)
    load(queries, [json.dumps({"id": str(number), "query": text}) for number, text in enumerate(texts)])

    def answers(highlight: bool) -> Iterator[Answer]:
        for document in documents:
            yield queries.match(document, highlight=highlight)

    places, ranges = [], 0
    for answer in answers(True):
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
    # An answer is gone when the next one comes, as where documents stream.
    plain = measure("hits", lambda: deque(answers(False), 0), count, hits, 0.0)
    measure("hits with highlights", lambda: deque(answers(True), 0), count, hits, plain)
    measure("highlights, percolator.highlight", by_closures, count, hits, 0.0)


def measure(name: str, work: Callable[[], object], documents: int, hits: int, less: float) -> float:
    """Prints a row and gives the seconds; microseconds of a hit are those beyond `less`."""
    taken = []
    for _ in range(4):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    seconds = min(taken)
    print(f"{name:<34}{documents / seconds:>8.0f} docs/s{1e6 * (seconds - less) / hits:>8.1f} us a hit")
    return seconds


if __name__ == "__main__":
    main()
