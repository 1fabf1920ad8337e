"""The time of a query from text to checked tree: microseconds of processor time, one core.

    python benchmarks/query_parsing.py [--count 20000]

Kinds of queries as they come in sets: Luwak's (two words, or three prefixes), and the operators. `check`
holds the tree against a schema; compiling comes on top of both. Compare figures of different moments by
the calibration line.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence

import numpy as np

from percolator.checks import check
from percolator.query.parse import parse
from percolator.schema import Schema

SCHEMA = Schema.of({"title": "text", "body": "text", "price": "number", "lang": "keyword"})

KINDS: dict[str, Callable[[Callable[[], str]], str]] = {
    "two words": lambda word: f"{word()} {word()}",
    "three prefixes": lambda word: f"+{word()}* +{word()}* +{word()}*",
    "phrase and word": lambda word: f'"{word()} {word()}" {word()}',
    "boolean": lambda word: f"{word()} AND ({word()} OR {word()}) NOT {word()}",
    "near": lambda word: f"({word()} OR {word()}) NEAR/5 {word()}*",
    "fields": lambda word: f"title:{word()} AND body:({word()} OR {word()}) lang:en price:>=10",
    "or of 100 phrases": lambda word: " OR ".join(f'"{word()} {word()}*"' for _ in range(100)),
}


def main() -> None:
    """Prints the calibration and a line for each kind."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--count", type=int, default=20_000)
    options = arguments.parse_args()
    numbers = np.random.default_rng(1).random(10_000_000)
    print(f"calibration: sorting ten million numbers {1e3 * _seconds(lambda: np.sort(numbers)):.0f} ms")
    source = random.Random(1)
    words = ["".join(source.choices("etaoinshrdlu", k=source.randint(3, 9))) for _ in range(20_000)]
    print(f"\n{'us a query':20} {'parse':>8} {'check':>8}")
    for kind, make in KINDS.items():
        count = options.count // 50 if "100" in kind else options.count
        texts = [make(lambda: source.choice(words)) for _ in range(count)]
        nodes = [parse(text) for text in texts]
        parsed = _seconds(lambda texts=texts: _each(texts, parse))  # type: ignore[misc]
        checked = _seconds(lambda nodes=nodes: _each(nodes, lambda node: check(node, SCHEMA)))  # type: ignore[misc]
        print(f"{kind:20} {1e6 * parsed / count:>8.1f} {1e6 * checked / count:>8.1f}")


def _each(items: Sequence[object], work: Callable[..., object]) -> None:
    for item in items:
        work(item)


def _seconds(work: Callable[[], object]) -> float:
    """Processor time of the fastest of three runs."""
    taken = []
    for _ in range(3):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


if __name__ == "__main__":
    main()
