"""Explanations say what the reference says, and why-not names what is in the way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from percolator_trees import WHOLE_SCHEMA, whole, whole_documents

from percolator.checks import check
from percolator.explain import Explanation, Reason, explain, why_not
from percolator.query.errors import QueryError
from percolator.query.parse import parse
from percolator.query.tree import Node
from percolator.reference import hit, matches
from percolator.schema import Schema

SCHEMA = Schema.of({"title": "text", "body": "text english", "price": "number", "lang": "keyword"})
DOCUMENT = {
    "title": "Product recall at Acme",
    "body": "The supply of chains was short. A lawsuit followed after seven long "
    "years of silence.\n\nAcme fell.",
    "price": 12,
    "lang": "en",
}

REASONS = {
    "recall title:fire": "`fire` is not in title",
    "title:recals": "`recals` is not in title; the nearest word is 'recall'",
    '"supply chain"': '`"supply chain"` is not in title, body: its words are there, but not '
    "together like this",
    '"chain reaction"': '`"chain reaction"` is not in title, body: there is no reaction',
    "lawsuit NEAR/2 silence": "`lawsuit NEAR/2 silence`: the nearest two have 6 words between them, 2 may be",
    "silence ONEAR/9 lawsuit": "`silence ONEAR/9 lawsuit`: the two never stand in this order in one "
    "field, each for itself",
    "acme NOT NEAR/3 (recall OR fell)": "`acme NOT NEAR/3 (recall OR fell)`: wherever the first stands, the "
    "second is that near",
    "atleast/3 acme": "`atleast/3 acme`: places in one field: 1; needed: 3",
    "first/3 acme": "`first/3 acme`: the first place ends at word 4, 3 are looked at",
    "sentence(supply, lawsuit)": "`sentence(supply, lawsuit)`: each stands in some sentence, but in "
    "none of them all",
    "price:>20": "price is 12; `price:>20` is asked for",
    "lang:de": "lang is en; `de` is asked for",
    "recall NOT acme": "`acme` is true (title: 'Acme'; body: 'Acme'), and must not be",
    "NOT price:12": "`price:12` is true, and must not be",
    "title:yak AND zebra": "all of these are needed, and are not true:\n  `yak` is not in title\n"
    "  `zebra` is not in title, body",
    "x = (zebra OR yak)": "none of these is true:\n  `zebra` is not in title, body\n  `yak` is "
    "not in title, body",
    "2 of (recall, zebra, yak)": "1 of 3 branches are true, 2 are needed:\n  `zebra` is not in title, body\n"
    "  `yak` is not in title, body",
    "recall NEAR/3 zebra": "`zebra` is not in title, body",
}


@pytest.mark.parametrize("query", REASONS)
def test_what_is_in_the_way_is_named(query: str) -> None:
    reason = why_not(parse(query), DOCUMENT, SCHEMA)
    assert reason is not None
    assert reason.text() == REASONS[query]
    json.dumps(reason.json())


def test_an_explanation_shows_every_part_with_its_text() -> None:
    query = parse('recall AND (risk = (lawsuit NEAR/9 silence) OR zebra) NOT "supply chain"')
    assert explain(query, DOCUMENT, SCHEMA).text().splitlines() == [
        'yes recall AND (risk = (lawsuit NEAR/9 silence) OR zebra) AND NOT "supply chain"',
        "  yes recall    title: 'recall'",
        "  yes risk = (lawsuit NEAR/9 silence) OR zebra",
        "    yes risk = (lawsuit NEAR/9 silence)",
        "      yes lawsuit NEAR/9 silence",
        "        yes lawsuit    body: 'lawsuit'",
        "        yes silence    body: 'silence'",
        "    no  zebra",
        '  yes NOT "supply chain"',
        '    no  "supply chain"',
    ]


def _all(explanation: Explanation) -> Iterator[Explanation]:
    yield explanation
    for operand in explanation.operands:
        yield from _all(operand)


def _reasons(reason: Reason) -> Iterator[Reason]:
    yield reason
    for part in reason.parts:
        yield from _reasons(part)


@pytest.mark.slow
@given(whole, st.lists(whole_documents, min_size=2, max_size=6))
@settings(max_examples=examples(300), deadline=None)
def test_every_query_is_explained_as_the_reference_answers_it(node: Node, documents: list[Any]) -> None:
    try:
        check(node, WHOLE_SCHEMA)
    except QueryError:
        return
    for document in documents:
        true, found = matches(node, document, WHOLE_SCHEMA), hit(node, document, WHOLE_SCHEMA)
        explanation = explain(node, document, WHOLE_SCHEMA)
        assert explanation.true == true
        assert explanation.highlights == (found.highlights if found else {})
        assert all(part.true or not part.highlights for part in _all(explanation))
        reason = why_not(node, document, WHOLE_SCHEMA)
        assert (reason is None) == true
        assert reason is None or all(one.message for one in _reasons(reason))
