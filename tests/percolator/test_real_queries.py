"""Queries that people wrote, on encyclopaedia articles: equal to the reference. Skipped without the data."""

from __future__ import annotations

import gzip
import importlib.util
import json
import random
from pathlib import Path

import pyarrow as pa
import pytest
from effort import examples

from percolator.build import build
from percolator.matching.compiled import load
from percolator.matching.matcher import Matcher
from percolator.query.parse import parse
from percolator.reference import Reader
from percolator.schema import Schema

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
SCHEMA = Schema.of({"body": "text"})

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the data is not part of the project")


@pytest.mark.parametrize("name", ["luwak", "analysts"])
def test_queries_that_people_wrote_hit_what_the_reference_says(name: str) -> None:
    found = importlib.util.spec_from_file_location("workloads", ROOT / "benchmarks" / "percolator_match.py")
    assert found is not None
    assert found.loader is not None
    workloads = importlib.util.module_from_spec(found)
    found.loader.exec_module(workloads)
    nodes = [parse(text) for text in getattr(workloads, name)(DATA)]
    with gzip.open(DATA / "news" / "luwak_wikipedia_999.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    queries = [(str(number), node) for number, node in enumerate(nodes)]
    matcher = Matcher(SCHEMA, [build(queries, SCHEMA)], engine=load())
    hits = matcher.match_batch({"body": pa.array(texts, pa.string())})
    pairs = set(zip(hits.document.tolist(), hits.query.tolist(), strict=True))
    assert len(pairs) > 10_000
    source = random.Random(7)
    # A tenth of the queries on some documents, and on each of these everything that hit it.
    for document in source.sample(range(len(texts)), examples(8)):
        reader = Reader({"body": texts[document]}, SCHEMA)
        hit = {query for row, query in pairs if row == document}
        for query in hit | set(source.sample(range(len(nodes)), len(nodes) // 10)):
            assert reader.true(nodes[query], SCHEMA.default) == (query in hit), (document, query)
