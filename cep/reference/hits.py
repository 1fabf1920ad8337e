"""The hits of documents: every query asked of every document, by the percolator's reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from alerts.notation import json_value, plain
from cep.expressions.held import value_at
from cep.reference.runs import HitLookup
from cep.standing.lines import lines_in
from percolator.library.collection import tree_of
from percolator.library.refusal import RefusedError
from percolator.library.standing import StandingQuery, read_line
from percolator.query.errors import QueryError
from percolator.query.tree import Node
from percolator.reference import hit
from percolator.schema import Kind, Schema
from rules.text_schema import document_schema, leaves
from rules.typed import Pack, QueryHits, Stream
from rules.types import Scalar, Type

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Set:
    """The queries of a stream of hits by id, and how documents are read."""

    queries: dict[str, tuple[StandingQuery, Node]]
    schema: Schema
    types: dict[str, Type | None]


def hit_lookup(pack: Pack) -> HitLookup:
    """Asks the queries of the pack's files, which are read once, all of them for each document."""
    sets = {
        stream.name: _read(pack, pack.stream(stream.origin.documents), stream.origin.queries)
        for stream in pack.streams
        if isinstance(stream.origin, QueryHits)
    }

    def lookup(name: str, values: Mapping[str, object], time: int) -> list[Mapping[str, object]]:
        return list(_hits(sets[name], values, time))

    return lookup


def _read(pack: Pack, documents: Stream, name: str) -> _Set:
    schema = document_schema((f.name, f.type, f.analyser) for f in documents.fields)
    types = {path: of for f in documents.fields for path, of in leaves(f.name, f.type)}
    (queries,) = (one for one in pack.queries if one.name == name)
    found: dict[str, tuple[StandingQuery, Node]] = {}
    for line in lines_in(Path(queries.path).read_bytes(), queries.path):
        try:
            query = read_line(line)
            node = tree_of(query, schema)
        except (RefusedError, QueryError):
            continue
        known = found.get(query.id)
        if known is not None and (query.version or 0) <= (known[0].version or 1):
            continue
        if all(key in types and types[key] is not Scalar.TEXT for key in query.filter):
            found[query.id] = query, node
    return _Set(found, schema, types)


def _hits(of: _Set, values: Mapping[str, object], time: int) -> Iterator[Mapping[str, object]]:
    document = {
        name: _field(value_at(values, tuple(name.split("."))), declared.kind)
        for name, declared in of.schema.fields.items()
    }
    for id_, (query, node) in sorted(of.queries.items()):
        if time // 1000 >= query.expires or not _passes(query, of, values):
            continue
        found = hit(node, document, of.schema)
        if found is not None:
            yield {"query": id_, "tags": query.tags, "priority": query.priority, "names": found.names}


def _passes(query: StandingQuery, of: _Set, values: Mapping[str, object]) -> bool:
    """True if of every key of the filter one of its texts is a value of the document."""
    for key, allowed in query.filter.items():
        value = value_at(values, tuple(key.split(".")))
        items = value if isinstance(value, tuple | list) else (value,)
        if not {plain(json_value(item, of.types[key])) for item in items if item is not None} & set(allowed):
            return False
    return True


def _field(value: object, kind: Kind) -> object:
    """A value as documents of the percolator have it: times by the microsecond."""
    if isinstance(value, tuple | list):
        return [_field(item, kind) for item in value]
    if kind is Kind.DATE and isinstance(value, int):
        return _EPOCH + timedelta(microseconds=value // 1000)
    return value
