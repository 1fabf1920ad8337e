"""The published cases of the query language, as far as this version executes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from percolator.compile import parse_executable
from percolator.index import Index
from percolator.query.errors import QueryError
from percolator.query.tree import Node
from percolator.reference import matches
from percolator.schema import Schema

_LINES = (Path(__file__).parent / "data" / "percolate.jsonl").read_text("utf-8").splitlines()
CASES: dict[str, Any] = {case["id"]: case for case in map(json.loads, _LINES)}

NOT_YET = {"near-09", "near-11", "near-12", "hl-05", "text-10", "range-04", "range-06", "range-10", "meta-02"}


def _index_hits(queries: dict[str, Node], schema: Schema, fields: dict[str, Any]) -> list[str]:
    index = Index.build(sorted(queries.items()), schema)
    hits = index.match({name: pa.array([fields.get(name)], pa.string()) for name in schema.fields})
    return [index.ids[query] for query in hits.query]


def _reference_hits(queries: dict[str, Node], schema: Schema, fields: dict[str, Any]) -> list[str]:
    return [id_ for id_, node in sorted(queries.items()) if matches(node, fields, schema)]


@pytest.mark.parametrize("engine", [_index_hits, _reference_hits])
@pytest.mark.parametrize("id_", sorted(CASES.keys() - NOT_YET))
def test_published_cases_give_the_published_results(id_: str, engine: Any) -> None:
    case = CASES[id_]
    schema = Schema.of(case["schema"], case["default"])
    queries: dict[str, Node] = {}
    for step, wanted in zip(case["steps"], case["results"], strict=True):
        if "add" in step:
            error = _add(queries, step["add"], schema)
            if error is None:
                assert wanted.get("ok")
            else:
                assert "error" in wanted, error
                assert error.position == wanted["error"]["position"]
        elif "remove" in step:
            del queries[step["remove"]]
        else:
            found = engine(queries, schema, step["match"]["fields"])
            assert found == [hit["query"] for hit in wanted["hits"]], step


def _add(queries: dict[str, Node], query: dict[str, Any], schema: Schema) -> QueryError | None:
    try:
        queries[query["id"]] = parse_executable(query["query"], schema)
    except QueryError as error:
        return error
    return None


@pytest.mark.parametrize("id_", sorted(NOT_YET - {"meta-02"}))
def test_what_is_not_executed_yet_says_so(id_: str) -> None:
    case = CASES[id_]
    schema = Schema.of(case["schema"], case["default"])
    errors = [_add({}, step["add"], schema) for step in case["steps"] if "add" in step]
    assert {error.code for error in errors if error is not None} == {"PQ90"}
