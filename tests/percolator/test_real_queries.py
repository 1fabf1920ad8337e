"""Queries that people wrote, on encyclopaedia articles: equal to the reference."""

from __future__ import annotations

import importlib
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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["luwak", "analysts"])
def test_queries_that_people_wrote_hit_what_the_reference_says(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    wikipedia = importlib.import_module("wikipedia")
    if name == "luwak":
        written = wikipedia.queries()
    elif DATA.exists():
        written = importlib.import_module("percolator_match").analysts(DATA)
    else:
        pytest.skip("the analysts' queries are not part of the project")
    nodes = [parse(text) for text in written]
    texts = wikipedia.articles()
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
