"""The JSON form of trees: both ways, versioned, and nothing that no query could be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from percolator_trees import trees

from percolator.query.as_json import TreeFormatError, from_json, to_json
from percolator.query.parse import parse
from percolator.query.tree import Node


@pytest.mark.slow
@given(trees)
@settings(max_examples=examples(500), deadline=None)
def test_every_tree_comes_back_from_json(node: Node) -> None:
    assert from_json(json.loads(json.dumps(to_json(node)))) == node


def test_places_in_the_text_come_back_too() -> None:
    node = parse('risk = (title:apple OR "b c"~2) NOT price:[1 TO *]')
    assert str(from_json(to_json(node))) == str(node)


def test_the_form_of_version_1_stays() -> None:
    node = parse("2 of (a NEAR/3 b, price:>=1)")
    assert json.dumps(to_json(node)) == (
        '{"version": 1, "query": {"kind": "some_of", "count": 2, "operands": ['
        '{"kind": "near", "left": {"kind": "word", "text": "a", "span": [6, 7]}, '
        '"right": {"kind": "word", "text": "b", "span": [15, 16]}, '
        '"distance": 3, "ordered": false, "span": [6, 16]}, '
        '{"kind": "range", "name": "price", "low": "1", "high": null, '
        '"with_low": true, "with_high": false, "span": [18, 27]}], "span": [0, 28]}}'
    )


WORD = {"kind": "word", "text": "a"}
REFUSED: list[tuple[Any, str]] = [
    ([], "version: 1 is needed"),
    ({"version": 2, "query": WORD}, "version: 1 is needed"),
    ({"version": 1, "query": WORD, "more": 1}, "more: not known"),
    ({"version": 1}, "query: an object is needed"),
    ({"version": 1, "query": {"kind": "wrod"}}, "query.kind: one of word, exact"),
    ({"version": 1, "query": {"kind": "word"}}, "query.text: missing"),
    ({"version": 1, "query": {"kind": "word", "text": 1}}, "query.text: a string is needed"),
    ({"version": 1, "query": {**WORD, "boost": 2}}, "query.boost: a word has no such part"),
    ({"version": 1, "query": {**WORD, "span": [1]}}, "query.span: two offsets are needed"),
    ({"version": 1, "query": {"kind": "and", "operands": []}}, "query.operands: a list of nodes is needed"),
    (
        {"version": 1, "query": {"kind": "and", "operands": [WORD, 1]}},
        "query.operands[1]: an object is needed",
    ),
    ({"version": 1, "query": {"kind": "and", "operands": [WORD]}}, "query: no query has this tree"),
    ({"version": 1, "query": {"kind": "word", "text": "+++"}}, "query: no searchable word in +++"),
    ({"version": 1, "query": {"kind": "phrase", "text": "a", "slop": True}}, "query.slop: a whole number"),
    (
        {"version": 1, "query": {"kind": "first", "within": 3, "operand": {"kind": "not", "operand": WORD}}},
        "query: first takes words",
    ),
]


@pytest.mark.parametrize(("data", "message"), REFUSED)
def test_data_that_is_no_tree_is_refused_with_its_path(data: Any, message: str) -> None:
    with pytest.raises(TreeFormatError) as raised:
        from_json(data)
    assert str(raised.value).startswith(message)


def test_deep_data_is_refused() -> None:
    node: Any = WORD
    for _ in range(5000):
        node = {"kind": "not", "operand": node}
    with pytest.raises(TreeFormatError, match="more than 200 levels"):
        from_json({"version": 1, "query": node})


_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=4)
    | st.sampled_from(["word", "and", "near"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["kind", "text", "operands", "operand", "left", "right", "distance", "ordered"]),
            inner,
        )
    ),
    max_leaves=8,
)


@given(_values)
@settings(max_examples=examples(500), deadline=None)
def test_any_data_gives_a_tree_or_an_error(data: Any) -> None:
    try:
        node = from_json({"version": 1, "query": data})
    except TreeFormatError:
        return
    assert from_json(to_json(node)) == node
