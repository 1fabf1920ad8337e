"""Shared by the tests of the matcher: segments of queries, the reference's pairs, columns of documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from percolator_trees import WHOLE_SCHEMA

from percolator.build import SegmentBuilder
from percolator.checks import check
from percolator.matching.matcher import HitPairs, Matcher
from percolator.query.errors import QueryError
from percolator.query.print import to_text
from percolator.query.tree import Node
from percolator.reference import Reader
from percolator.schema import Schema
from percolator.segment import QuerySegment

Document = Mapping[str, Any]


def accepted(queries: Sequence[Node]) -> list[Node]:
    """Those that the schema allows."""
    found = []
    for node in queries:
        try:
            check(node, WHOLE_SCHEMA)
        except QueryError:
            continue
        found.append(node)
    return found


def segment_of(queries: Sequence[Node], schema: Schema = WHOLE_SCHEMA) -> QuerySegment:
    """A segment of these queries; their texts are their ids."""
    builder = SegmentBuilder(schema)
    for node in queries:
        builder.add(to_text(node), node)
    return builder.segment()


def brute(
    queries: Sequence[Node], rows: Sequence[Document], schema: Schema = WHOLE_SCHEMA
) -> list[tuple[int, int]]:
    """The pairs that the reference finds."""
    found = []
    for document, row in enumerate(rows):
        reader = Reader(row, schema)
        found.extend(
            [(document, query) for query, node in enumerate(queries) if reader.true(node, schema.default)]
        )
    return found


def pairs(hits: HitPairs) -> list[tuple[int, int]]:
    """Hits as a list."""
    assert hits.document.dtype == hits.query.dtype == np.int32
    assert not hits.undecided
    return list(zip(hits.document.tolist(), hits.query.tolist(), strict=True))


def difference(
    found: Sequence[tuple[int, int]],
    wanted: Sequence[tuple[int, int]],
    queries: Sequence[Node],
    rows: Sequence[Document],
) -> str:
    """The extra and missed pairs, one a line, each with its query and document."""
    return "\n".join(
        f"{'extra' if pair in found else 'missed'}: {to_text(queries[pair[1]])}   on   {rows[pair[0]]}"
        for pair in sorted(set(found) ^ set(wanted))
    )


def singly(matcher: Matcher, rows: Sequence[Document]) -> list[tuple[int, int]]:
    """The hits of each document alone."""
    return [(document, query) for document, row in enumerate(rows) for _, query in pairs(matcher.match(row))]


def columns(rows: Sequence[Document]) -> dict[str, pa.Array]:
    """Arrow columns of documents of WHOLE_SCHEMA; lists for what has lists."""

    def several(name: str, type_: pa.DataType) -> pa.Array:
        values = [row.get(name) for row in rows]
        lists = [None if one is None else list(one) if isinstance(one, list) else [one] for one in values]
        return pa.array(lists, pa.list_(type_))

    return {
        "title": pa.array([row.get("title") for row in rows], pa.string()),
        "body": several("body", pa.string()),
        "lang": several("lang", pa.string()),
        "price": several("price", pa.float64()),
        "day": pa.array([row.get("day") for row in rows], pa.string()),
        "ip": pa.array([row.get("ip") for row in rows], pa.string()),
        "paid": pa.array([row.get("paid") for row in rows], pa.bool_()),
    }
