"""The published cases: the reference and the matcher give all their results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from percolator.build import SegmentBuilder
from percolator.checks import check, parse_checked
from percolator.matching.matcher import Matcher
from percolator.query.errors import QueryError
from percolator.query.parse import parse
from percolator.query.tree import Node
from percolator.reference import hit
from percolator.schema import Schema

_LINES = (Path(__file__).parent / "data" / "percolate.jsonl").read_text("utf-8").splitlines()
CASES: dict[str, Any] = {case["id"]: case for case in map(json.loads, _LINES)}


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


@pytest.mark.parametrize("id_", sorted(CASES))
def test_the_matcher_gives_every_published_hit(id_: str) -> None:
    case = CASES[id_]
    schema = Schema.of(case["schema"], case["default"])
    queries: dict[str, _Query] = {}
    for step, wanted in zip(case["steps"], case["results"], strict=True):
        if "add" in step:
            query = step["add"]
            if "error" in wanted:
                with pytest.raises(QueryError) as raised:
                    parse_checked(query["query"], schema)
                assert raised.value.position == wanted["error"]["position"]
            else:
                queries[query["id"]] = _Query(
                    parse_checked(query["query"], schema), _lists(query.get("filter", {}))
                )
        elif "remove" in step:
            del queries[step["remove"]]
        else:
            builder = SegmentBuilder(schema)
            for id_, one in sorted(queries.items()):
                builder.add(id_, one.node, one.allowed)
            matcher = Matcher(schema, [builder.segment()])
            hits = matcher.match(step["match"]["fields"], step["match"].get("metadata"))
            assert [matcher.id_of(query) for query in hits.query] == [hit["query"] for hit in wanted["hits"]]


def _lists(filters: Mapping[str, Any]) -> dict[str, list[str]]:
    return {key: [one] if isinstance(one, str) else list(one) for key, one in filters.items()}
