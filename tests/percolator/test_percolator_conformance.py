"""The published cases: the reference gives all their results, the index those that it executes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from percolator.checks import check
from percolator.compile import parse_executable
from percolator.index import Index
from percolator.query.errors import QueryError
from percolator.query.parse import parse
from percolator.query.tree import Node
from percolator.reference import hit
from percolator.schema import Schema

_LINES = (Path(__file__).parent / "data" / "percolate.jsonl").read_text("utf-8").splitlines()
CASES: dict[str, Any] = {case["id"]: case for case in map(json.loads, _LINES)}

NOT_YET = {"near-09", "near-11", "near-12", "hl-05", "text-10", "range-04", "range-06", "range-10", "meta-02"}


@dataclass(frozen=True)
class _Query:
    node: Node
    allowed: Mapping[str, Any]

    def lets_pass(self, metadata: Mapping[str, Any]) -> bool:
        return all(metadata.get(key) in values for key, values in self.allowed.items())


@pytest.mark.parametrize("id_", sorted(CASES))
def test_the_reference_gives_every_published_result(id_: str) -> None:
    case = CASES[id_]
    schema = Schema.of(case["schema"], case["default"])
    queries: dict[str, _Query] = {}
    for step, wanted in zip(case["steps"], case["results"], strict=True):
        if "add" in step:
            query = step["add"]
            if "error" in wanted:
                with pytest.raises(QueryError) as raised:
                    check(parse(query["query"]), schema)
                assert raised.value.position == wanted["error"]["position"]
            else:
                node = parse(query["query"])
                check(node, schema)
                queries[query["id"]] = _Query(node, query.get("filter", {}))
        elif "remove" in step:
            del queries[step["remove"]]
        else:
            assert _hits(queries, schema, step["match"], case["highlight"]) == wanted["hits"], step


def _hits(
    queries: Mapping[str, _Query], schema: Schema, document: Mapping[str, Any], highlight: bool
) -> list[dict[str, Any]]:
    found = []
    for id_, query in sorted(queries.items()):
        if not query.lets_pass(document.get("metadata", {})):
            continue
        result = hit(query.node, document["fields"], schema)
        if result is not None:
            one: dict[str, Any] = {"query": id_}
            if highlight:
                one["highlights"] = {
                    name: [list(at) for at in ranges] for name, ranges in result.highlights.items()
                }
            found.append(one)
    return found


@pytest.mark.parametrize("id_", sorted(CASES.keys() - NOT_YET))
def test_the_index_gives_the_published_results(id_: str) -> None:
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
            index = Index.build(sorted(queries.items()), schema)
            fields = step["match"]["fields"]
            hits = index.match({name: pa.array([fields.get(name)], pa.string()) for name in schema.fields})
            assert [index.ids[query] for query in hits.query] == [hit["query"] for hit in wanted["hits"]]


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
