"""How many documents a second pass standing queries, on one core, words split included.

    python benchmarks/percolator_match.py [--documents 20000] [--queries 10 100 1000]

Documents are 180 words each, drawn from 60,000 words by a Zipf law, and never seen before by the index.
Queries are a mix of boolean, phrase, NOT and prefix queries over words of middle frequency. The figures
of different moments compare by the calibration lines: fixed pieces of work.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from percolator.index import Index
from percolator.query.parse import parse
from percolator.schema import Schema

WORDS_A_DOCUMENT = 180
VOCABULARY = 60_000
BATCH = 4096


def main() -> None:
    """Prints the calibration and the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--documents", type=int, default=20_000)
    arguments.add_argument("--queries", type=int, nargs="+", default=[10, 100, 1000])
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    generator = np.random.default_rng(options.seed)
    words = vocabulary(random.Random(options.seed))
    calibrate(generator, words)
    # The first batch warms the vocabulary up, as a running stream has done.
    texts = documents(generator, words, options.documents + BATCH)
    print("\n queries  parse us  build us   docs/s     cold  one ms  hits/doc")
    for count in options.queries:
        row(count, texts, words, random.Random(options.seed))


def calibrate(generator: np.random.Generator, words: list[str]) -> None:
    """Two fixed pieces of work, in milliseconds and microseconds: the best of five."""
    numbers = generator.random(10_000_000)
    print(f"calibration: sorting ten million numbers {1e3 * best(lambda: np.sort(numbers)):.0f} ms")
    text = " ".join(documents(generator, words, 4)[:4])
    text = " ".join(text.split()[:668])
    known = dict.fromkeys(words, 1)
    find = re.compile(r"\w+").findall
    seconds = best(lambda: [known.get(word) for word in find(text)], 200)
    print(f"calibration: findall and dict of a 668-word document {1e6 * seconds:.0f} us")


def best(work: Callable[[], object], times: int = 5) -> float:
    """Seconds of the fastest of several runs."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def vocabulary(source: random.Random) -> list[str]:
    """Distinct words of 2 to 12 letters, the most frequent first and shorter."""
    found: dict[str, None] = {}
    while len(found) < VOCABULARY:
        length = min(12, 2 + int(len(found) ** 0.17 * source.uniform(0.8, 1.6)))
        found["".join(source.choices("etaoinshrdlucmfwypvbgk", k=length))] = None
    return list(found)


def documents(generator: np.random.Generator, words: list[str], count: int) -> list[str]:
    """Texts with capitals and punctuation, word frequencies by Zipf's law."""
    weights = 1 / (np.arange(len(words)) + 2.7)
    drawn = generator.choice(len(words), size=(count, WORDS_A_DOCUMENT), p=weights / weights.sum())
    return [
        " ".join(
            words[number].capitalize() + "," if place % 11 == 0 else words[number]
            for place, number in enumerate(document)
        )
        + "."
        for document in drawn.tolist()
    ]


def query(source: random.Random, words: list[str], texts: list[str]) -> str:
    """One of the mix. Phrases are taken from documents, so that some are true."""

    def word() -> str:
        return words[int(200 * 30 ** source.random())]

    kind = source.randrange(5)
    if kind == 0:
        return f"{word()} AND ({word()} OR {word()})"
    if kind == 1:
        text = source.choice(texts).replace(",", "").replace(".", "").lower().split()
        start = source.randrange(len(text) - 3)
        return f'"{" ".join(text[start : start + 2])}" OR "{word()} {word()}"~2'
    if kind == 2:
        return f"{word()} {word()} NOT {word()}"
    if kind == 3:
        return f"{word()[:4]}* AND {word()}"
    return f"{word()} OR ({word()} AND {word()} AND NOT ({word()} OR {word()}))"


def row(count: int, texts: list[str], words: list[str], source: random.Random) -> None:
    """Measures one number of queries."""
    queries = [query(source, words, texts) for _ in range(count)]
    start = time.perf_counter()
    nodes = [(str(number), parse(text)) for number, text in enumerate(queries)]
    parsed = time.perf_counter()
    schema = Schema.of({"body": "text"})
    index = Index.build(nodes, schema)
    built = time.perf_counter()
    column = pa.array(texts, pa.string())
    start_cold = time.perf_counter()
    index.match({"body": column.slice(0, BATCH)})
    cold = BATCH / (time.perf_counter() - start_cold)
    hits = 0
    start_warm = time.perf_counter()
    for at in range(BATCH, len(texts), BATCH):
        hits += len(index.match({"body": column.slice(at, BATCH)}).query)
    warm = (len(texts) - BATCH) / (time.perf_counter() - start_warm)
    single = statistics.median(
        best(lambda at=at: index.match({"body": column.slice(at, 1)}), 1)
        for at in range(200)  # type: ignore[misc]
    )
    print(
        f"{count:>8} {1e6 * (parsed - start) / count:>9.1f} {1e6 * (built - parsed) / count:>9.1f} "
        f"{warm:>8.0f} {cold:>8.0f} {1e3 * single:>7.2f} {hits / (len(texts) - BATCH):>9.2f}"
    )


if __name__ == "__main__":
    main()
