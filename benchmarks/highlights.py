"""How long highlights take: documents a second and microseconds a hit, one core, processor time.

    python benchmarks/highlights.py --documents DOCUMENTS.jsonl.gz --queries QUERIES.txt

Documents are JSON lines with `text`, queries one a line. The hits are found before; measured is what comes
after them: analysing the document once, then the ranges of every query that hits it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from percolator.build import build
from percolator.highlight import Analysed, Highlighter
from percolator.matching.matcher import Matcher
from percolator.query.parse import parse
from percolator.schema import Schema

SCHEMA = Schema.of({"text": "text"})


def main() -> None:
    """Prints the calibration and the figures."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--documents", type=Path, required=True)
    arguments.add_argument("--queries", type=Path, required=True)
    options = arguments.parse_args()
    numbers = np.random.default_rng(1).random(10_000_000)
    start = time.process_time()
    np.sort(numbers)
    print(f"calibration: sorting ten million numbers {1e3 * (time.process_time() - start):.0f} ms")
    with gzip.open(options.documents, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    nodes = [parse(line) for line in options.queries.read_text("utf-8").splitlines() if line]
    queries = [(str(number), node) for number, node in enumerate(nodes)]
    hits = Matcher(SCHEMA, [build(queries, SCHEMA)]).match_batch({"text": pa.array(texts, pa.string())})
    by_document: list[list[int]] = [[] for _ in texts]
    for document, query in zip(hits.document.tolist(), hits.query.tolist(), strict=True):
        by_document[document].append(query)
    highlighters = [Highlighter(node, SCHEMA) for node in nodes]
    taken, ranges = [], 0
    for _ in range(3):
        ranges, start = 0, time.process_time()
        for text, queries in zip(texts, by_document, strict=True):
            analysed = Analysed({"text": text}, SCHEMA)
            for query in queries:
                found = highlighters[query].hit(analysed)
                assert found is not None
                ranges += len(found.highlights["text"])
        taken.append(time.process_time() - start)
    seconds, count = min(taken), len(hits.query)
    print(f"{len(texts)} documents; in each {count / len(texts):.1f} hits, {ranges / len(texts):.0f} ranges")
    print(
        f"{len(texts) / seconds:.0f} docs/s, {1e6 * seconds / count:.1f} us a hit with the document's share"
    )


if __name__ == "__main__":
    main()
