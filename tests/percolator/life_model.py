"""Programs of changes, what a library should hold after each, and the reference's answers on documents."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st
from percolator_trees import WHOLE_SCHEMA, whole, whole_documents

from percolator.checks import check
from percolator.library.answer import Answer
from percolator.library.collection import Collection
from percolator.library.refusal import RefusedError
from percolator.library.standing import NEVER, StandingQuery
from percolator.library.writer import Library
from percolator.query.errors import QueryError
from percolator.query.parse import parse
from percolator.query.print import to_text
from percolator.query.tree import Node
from percolator.reference import hit
from percolator.schema import Schema

Document = Mapping[str, Any]
Held = dict[str, StandingQuery]
Change = tuple[Any, ...]
"""("add", query), ("remove", id), ("expire", time), ("load", queries), ("compact", whole), ("reopen",)"""


def executable(node: Node) -> bool:
    """True if the schema allows it."""
    try:
        check(node, WHOLE_SCHEMA)
    except QueryError:
        return False
    return True


query_texts = st.lists(whole.filter(executable).map(to_text), min_size=30, max_size=36)
document_lists = st.lists(whole_documents, min_size=24, max_size=28)
BAD = ("(a", "a NEAR/x b", "nofield:a", "price:[5 TO 1]", "")
TIMES = (10, 20, 30)


def programs(texts: Sequence[str], ids: int, length: int) -> st.SearchStrategy[list[Change]]:
    """Programs over queries of these texts."""
    queries = st.builds(
        StandingQuery,
        st.integers(0, ids).map("q{}".format),
        st.sampled_from([*texts, *texts, *BAD]),
        st.sampled_from([None, None, None, 1, 2, 3]),
        st.sampled_from([{}, {}, {"source": ("a",)}, {"source": ("b", "c"), "desk": ("x",)}]),
        st.sampled_from([(), ("t",)]),
        st.sampled_from([0, 5]),
        st.sampled_from([NEVER, NEVER, *TIMES]),
    )
    change = st.one_of(
        st.tuples(st.just("load"), st.lists(queries, min_size=3, max_size=12)),
        st.tuples(st.just("add"), queries),
        st.tuples(st.just("add"), queries),
        st.tuples(st.just("remove"), st.integers(0, ids).map("q{}".format)),
        st.tuples(st.just("remove"), st.integers(0, ids).map("q{}".format)),
        st.tuples(st.just("expire"), st.sampled_from(TIMES)),
        st.tuples(st.just("compact"), st.booleans()),
        st.tuples(st.just("reopen")),
    )
    first = st.tuples(st.just("load"), st.lists(queries, min_size=ids, max_size=2 * ids))
    rest = st.lists(change, min_size=length, max_size=length + 4)
    return st.builds(lambda begin, more: [begin, *more], first, rest)


def should(held: Held, query: StandingQuery) -> StandingQuery | str:
    """The query as it is held once added, or the code of the refusal."""
    try:
        check(parse(query.query), WHOLE_SCHEMA)
    except QueryError as error:
        return str(error.code)
    known = held.get(query.id)
    if known is None:
        return replace(query, version=1 if query.version is None else query.version)
    assert known.version is not None
    if replace(query, version=0) == replace(known, version=0) and query.version in (None, known.version):
        return known
    version = known.version + 1 if query.version is None else query.version
    return replace(query, version=version) if version > known.version else "PQ22"


def expected(held: Held, change: Change) -> Held:
    """The queries held after a change."""
    after = dict(held)
    match change:
        case ("add", query):
            if not isinstance(found := should(held, query), str):
                after[query.id] = found
        case ("remove", id_):
            after.pop(id_, None)
        case ("expire", time):
            after = {id_: query for id_, query in held.items() if query.expires > time}
        case ("load", queries):
            seen = set()
            for query in queries:
                found = should(after, query)
                twice = query.id in seen and (query.version is None or found == after.get(query.id))
                if not isinstance(found, str) and not twice:
                    after[query.id] = found
                    seen.add(query.id)
    return after


def do(library: Library, change: Change, held: Held) -> None:
    """Does the change, and checks what the library says to it."""
    match change:
        case ("add", query):
            wanted = should(held, query)
            try:
                found: StandingQuery | str = library.add(query).query
            except RefusedError as error:
                found = error.refusal.code
            assert found == wanted
        case ("remove", id_):
            assert library.remove(id_) == (id_ in held)
        case ("expire", time):
            assert library.expire(time) == sum(1 for query in held.values() if query.expires <= time)
        case ("load", queries):
            report = library.load([json.dumps(query.as_json()) for query in queries])
            assert report.taken + len(report.refused) == len(queries)
        case ("compact", whole):
            library.compact(whole)


@dataclass
class Oracle:
    """The reference over a list of documents; it remembers what it has found."""

    documents: Sequence[Document]
    schema: Schema = WHOLE_SCHEMA

    def __post_init__(self) -> None:
        self._found: dict[tuple[str, int], Any] = {}
        self.pairs = 0

    def answers(
        self, held: Held, number: int, metadata: Mapping[str, str], time: int | None
    ) -> list[tuple[str, tuple[str, ...], Any]]:
        """Id, names and highlights of the queries that hit a document."""
        found = []
        for id_, query in sorted(held.items()):
            self.pairs += 1
            if time is not None and query.expires <= time:
                continue
            if not all(metadata.get(key) in values for key, values in query.filter.items()):
                continue
            key = query.query, number
            if key not in self._found:
                self._found[key] = hit(parse(query.query), self.documents[number], self.schema)
            one = self._found[key]
            if one is not None:
                found.append((id_, one.names, dict(one.highlights)))
        return found

    def judge(self, queries: Collection, held: Held) -> None:
        """Assert that a collection holds what it should, and answers every document as the reference does."""
        assert len(queries) == len(held)
        assert {query.id: query for query in queries} == held
        for number, document in enumerate(self.documents):
            metadata = ({}, {"source": "a"}, {"source": "c", "desk": "x"})[number % 3]
            time = (None, 9, 10, 25)[number % 4]
            answer = queries.match(document, metadata, time, highlight=True)
            assert shown(answer) == self.answers(held, number, metadata, time), document


def shown(answer: Answer) -> list[tuple[str, tuple[str, ...], Any]]:
    """Id, names and highlights of the hits."""
    assert not answer.undecided
    for one in answer.hits:
        assert one.complete
    return [(one.query.id, one.names, dict(one.highlights or {})) for one in answer.hits]
