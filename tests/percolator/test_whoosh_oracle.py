"""A second oracle: Whoosh's own query objects over a Whoosh index, for the part it knows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from whoosh import query as whoosh_query
from whoosh.analysis import RegexTokenizer
from whoosh.fields import ID, TEXT
from whoosh.fields import Schema as WhooshSchema
from whoosh.filedb.filestore import RamStorage
from whoosh.query.spans import SpanNear

from percolator.build import build
from percolator.matching.matcher import Matcher
from percolator.query.print import to_text
from percolator.query.tree import And, Near, Node, Not, Or, Phrase, Regex, Wildcard, Word
from percolator.reference import matches
from percolator.schema import Schema

VOCABULARY = ["a", "b", "c", "ab", "abc", "d"]


@pytest.fixture(scope="module", autouse=True)
def _own_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An index in memory writes files, too, in a folder that it then removes, also from under other tests."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("whoosh")))
        yield


def _nest(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.builds(And, several) | st.builds(Or, several) | st.builds(Not, inner)


words = st.sampled_from(VOCABULARY)
queries: st.SearchStrategy[Node] = st.recursive(
    st.builds(Word, words)
    | st.builds(Wildcard, st.sampled_from(["a*", "*c", "?", "a?*"]))
    | st.builds(Phrase, st.lists(words, min_size=2, max_size=3).map(" ".join)),
    _nest,
    max_leaves=6,
)


def _whoosh(node: Node) -> whoosh_query.Query:
    match node:
        case Word():
            return whoosh_query.Term("t", node.text)
        case Wildcard():
            return whoosh_query.Wildcard("t", node.pattern)
        case Phrase():
            return whoosh_query.Phrase("t", node.text.split())
        case Regex():
            return whoosh_query.Regex("t", f"({node.pattern})$")
        case Near():
            left, right = _whoosh(node.left), _whoosh(node.right)
            # Whoosh counts the step from word to word.
            return SpanNear(left, right, slop=node.distance + 1, ordered=node.ordered)
        case And():
            return whoosh_query.And([_whoosh(operand) for operand in node.operands])
        case Or():
            return whoosh_query.Or([_whoosh(operand) for operand in node.operands])
        case Not():
            # Whoosh's Not needs a set to take from.
            return whoosh_query.AndNot(whoosh_query.Every(), _whoosh(node.operand))
        case _:
            raise AssertionError(node)


def _whoosh_hits(nodes: Sequence[Node], texts: Sequence[str]) -> set[tuple[int, int]]:
    storage = RamStorage()
    index = storage.create_index(
        WhooshSchema(n=ID(stored=True), t=TEXT(analyzer=RegexTokenizer(r"\w+"), phrase=True))
    )
    writer = index.writer()
    for number, text in enumerate(texts):
        writer.add_document(n=str(number), t=text)
    writer.commit()
    with index.searcher() as searcher:
        return {
            (int(hit["n"]), query)
            for query, node in enumerate(nodes)
            for hit in searcher.search(_whoosh(node), limit=None)
        }


def _hits(nodes: Sequence[Node], texts: Sequence[str]) -> set[tuple[int, int]]:
    schema = Schema.of({"t": "text"})
    matcher = Matcher(schema, [build([(to_text(node), node) for node in nodes], schema)])
    hits = matcher.match_batch({"t": pa.array(texts, pa.string())})
    return set(zip(hits.document.tolist(), hits.query.tolist(), strict=True))


@given(
    st.lists(queries, min_size=4, max_size=8),
    st.lists(st.lists(words, max_size=8).map(" ".join), min_size=4, max_size=10),
)
@settings(max_examples=examples(60), deadline=None)
def test_whoosh_finds_the_same_documents(nodes: list[Node], texts: list[str]) -> None:
    found = _hits(nodes, texts)
    wanted = _whoosh_hits(nodes, texts)
    assert found == wanted, [(texts[document], to_text(nodes[query])) for document, query in found ^ wanted]


near = st.permutations(VOCABULARY).flatmap(
    lambda order: st.builds(
        Near, st.just(Word(order[0])), st.just(Word(order[1])), st.integers(0, 4), st.booleans()
    )
)
# Whoosh cannot simplify what holds a SpanNear, so these stand alone.
more_queries = near | st.builds(Regex, st.sampled_from(["a.*", ".b", "[ab]+", "a|d", "abc?"]))


@given(
    st.lists(more_queries, min_size=4, max_size=8),
    st.lists(st.lists(words, max_size=8).map(" ".join), min_size=4, max_size=10),
)
@settings(max_examples=examples(60), deadline=None)
def test_whoosh_agrees_on_near_and_regular_expressions(nodes: list[Node], texts: list[str]) -> None:
    schema = Schema.of({"t": "text"})
    reference = {
        (document, query)
        for document, text in enumerate(texts)
        for query, node in enumerate(nodes)
        if matches(node, {"t": text}, schema)
    }
    found = _hits(nodes, texts)
    assert found == reference
    wanted = _whoosh_hits(nodes, texts)
    assert found == wanted, [(texts[document], to_text(nodes[query])) for document, query in found ^ wanted]
