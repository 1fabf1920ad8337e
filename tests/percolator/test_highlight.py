"""Highlights for production are those of the reference."""

from __future__ import annotations

from typing import Any

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from percolator_trees import WHOLE_SCHEMA, whole, whole_documents

from percolator.analysed import Analysed, BudgetError
from percolator.checks import check
from percolator.edges import edges
from percolator.highlight import Highlighter
from percolator.query.errors import QueryError
from percolator.query.parse import parse
from percolator.query.print import to_text
from percolator.query.tree import Node
from percolator.reference import hit
from percolator.schema import Schema
from percolator.words import token_spans


def allowed(nodes: list[Node]) -> list[Node]:
    """Those that the schema allows."""
    kept = []
    for node in nodes:
        try:
            check(node, WHOLE_SCHEMA)
        except QueryError:
            continue
        kept.append(node)
    return kept


@pytest.mark.slow
@given(st.lists(whole, min_size=4, max_size=8), st.lists(whole_documents, min_size=4, max_size=8))
@settings(max_examples=examples(300), deadline=None)
def test_production_finds_what_the_reference_finds(nodes: list[Node], documents: list[Any]) -> None:
    queries = [(node, Highlighter(node, WHOLE_SCHEMA)) for node in allowed(nodes)]
    for document in documents:
        analysed = Analysed(document, WHOLE_SCHEMA)
        for node, highlighter in queries:
            assert highlighter.hit(analysed) == hit(node, document, WHOLE_SCHEMA), (to_text(node), document)


@pytest.mark.slow
@given(st.text("ab_1.' \n'\x00-") | st.text("aé.’'\u0301\u0308 😀\ud800") | st.text("a手\u3099か. "))
@settings(max_examples=examples(1500), deadline=None)
def test_words_begin_and_end_where_the_definition_says(text: str) -> None:
    wanted = [*zip(*token_spans(text), strict=True)] or [(), (), ()]
    assert [tuple(found) for found in edges(text)] == wanted


SCHEMA = Schema.of({"title": "text", "body": "text english"})

SHOWN = {
    "test": ("this is a test", ["test"]),
    '"is a test"': ("this is a test", ["is a test"]),
    '"a b"~2': ("x a y b z", ["a y b"]),
    "aa OR (bb ONEAR/1 cc)": ("aa bb x x x cc", ["aa"]),
    "bb ONEAR/1 cc": ("bb x x bb x cc cc", ["bb", "cc"]),
    "(a NEAR/1 b) NEAR/1 c": ("a b x x a b c a", ["a", "b", "c"]),
    "aa NOT bb": ("aa cc", ["aa"]),
    "a NOT NEAR/1 b": ("a x b a b", ["a"]),
    "runs": ("Running, he ran", ["Running"]),
    "caf?": ("café 😀 cafe\u0301 x", ["café", "cafe\u0301"]),
    "sentence(a, b)": ("a cc. a b bb. b", ["a", "b"]),
    "paragraph(a, b)": ("a. b.\n\na c", ["a", "b"]),
    "first/2 a": ("x a a", ["a"]),
    "atleast/2 a": ("a b a", ["a", "a"]),
    "手": ("手机", ["手"]),
    "手机": ("大手机店", ["手机"]),
    "{WHO}": ("who WHO Who", ["WHO"]),
    '"the {WHO}"': ("the who the WHO", ["the WHO"]),
    "'a b' OR b": ("a b", ["a", "b"]),
    '"a b" OR b': ("a b", ["a b"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("query", SHOWN)
def test_the_parts_that_were_true_are_shown(query: str) -> None:
    text, wanted = SHOWN[query]
    for engine in (hit(parse(query), {"body": text}, SCHEMA), _production(query, {"body": text})):
        assert engine is not None
        assert [text[start:end] for start, end in engine.highlights["body"]] == wanted


def _production(query: str, document: Any) -> Any:
    return Highlighter(parse(query), SCHEMA).hit(Analysed(document, SCHEMA))


def test_ranges_count_in_the_values_joined_by_one_character() -> None:
    values = ["", "one two", "three", "two"]
    found = _production("two", {"body": values})
    assert [" ".join(values)[start:end] for start, end in found.highlights["body"]] == ["two", "two"]


def test_names_of_true_parts_come_in_the_order_of_the_query() -> None:
    query = "b OR x = (a) OR y = (c OR z = (b)) OR x = (b) OR NOT w = (a)"
    assert _production(query, {"body": "a b"}).names == ("x", "y", "z", "w")


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "query",
    [
        '"a a"~3',
        "a NEAR/1000000 b",
        '"a b a b"~3',
        "a NOT NEAR/0 b",
        "atleast/10000 a",
        "/(a*)*(a*)*b/",
    ],
)
def test_a_document_with_twenty_thousand_places_is_shown_at_once(query: str) -> None:
    found = _production(query, {"body": "a b " * 10_000})
    assert found is not None or query.startswith("/")


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_more_places_than_anybody_would_look_at_are_refused_in_time() -> None:
    with pytest.raises(BudgetError, match="NEAR"):
        _production("(a NEAR/1000000 b) NEAR/1 c", {"body": "a b " * 20_000 + "c"})
    with pytest.raises(BudgetError, match="slop"):
        _production('"a a a a a"~500', {"body": "a " * 20_000})
