"""Lucene's and Factiva's queries become the trees that they mean, or errors with a place."""

from __future__ import annotations

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from percolator.query.dialects import DIALECTS
from percolator.query.errors import QueryError
from percolator.query.parse import parse
from percolator.query.print import to_text
from percolator.query.tree import Node, Phrase, children

LUCENE = {
    "a b": "a OR b",
    "a OR b AND c": "a OR (b AND c)",
    "a && b || !c": "(a AND b) OR NOT c",
    "+a -b": "a NOT b",
    "+a +b c": "a AND b AND (c OR *:*)",
    "a b -c": "(a OR b) NOT c",
    "a NOT b": "a NOT b",
    "a OR NOT b": "a OR NOT b",
    "-a": "NOT a",
    "-a -b": "NOT a AND NOT b",
    "a^2 b^0.5": "a OR b",
    '"a b"~3^2': '"a b"~3',
    "+close* +round* +revol*": "close* round* revol*",
    "roam~ roam~1": "roam~2 OR roam~1",
    "roam~0": "roam",
    'title:(+return +"pink panther")': 'title:(return "pink panther")',
    "mod_date:[20020101 TO 20030101]": "mod_date:[20020101 TO 20030101]",
    "price:{10 TO *}": "price:{10 TO *}",
    "price:>=10": "price:>=10",
    "/[mb]oat/": "/[mb]oat/",
    "_exists_:title title:*": "title:* OR title:*",
    "*:* *": "*:* OR *:*",
    "te?t tes*": "te?t OR tes*",
    "\\(1\\+1\\)\\:2": "\\(1+1\\)\\:2",
    '"jakarta \\"apache\\""': '"jakarta \\"apache\\""',
    "(a b) AND c": "(a OR b) c",
    "state-of-the-art": "state-of-the-art",
}

FACTIVA = {
    "a and b OR not c": "a b OR NOT c",
    "interest rate cut*": '"interest rate cut*"',
    "a adj5 b": "a ONEAR/4 b",
    "a adj b": "a ONEAR/0 b",
    "a w/5 b": "a ONEAR/4 b",
    "a w5 b": "a ONEAR/4 b",
    "(a or b) near10 (c or d)": "(a OR b) NEAR/9 (c OR d)",
    "a b near3 c": '"a b" NEAR/2 c',
    "a same b same c": "paragraph(a, b, c)",
    "atleast3 fraud": "atleast/3 fraud",
    "/f50/ fraud": "first/50 fraud",
    "hd=(acme or zenith) and la=en": "title:(acme OR zenith) AND la:en",
    'hd="acme corp" not merger': 'title:"acme corp" NOT merger',
    "wc>500 and wc<=900": "wc:>500 AND wc:<=900",
    '"bed and breakfast"': '"bed and breakfast"',
    'oil "and" gas': '"oil and gas"',
    "organi?e": "organi?e",
    "co=(ibm or msft)": "co:(ibm OR msft)",
}


@pytest.mark.parametrize(("dialect", "text"), [("lucene", text) for text in LUCENE])
def test_lucene_means_this(dialect: str, text: str) -> None:
    assert DIALECTS[dialect](text) == parse(LUCENE[text])


@pytest.mark.parametrize("text", FACTIVA)
def test_factiva_means_this(text: str) -> None:
    assert DIALECTS["factiva"](text) == parse(FACTIVA[text])


def test_lucene_phrases_have_no_signs_of_ours() -> None:
    assert DIALECTS["lucene"]('"a* {B}?"') == Phrase("a\\* \\{B\\}\\?")


REFUSED = {
    ("lucene", " "): ("PQ01", None),
    ("lucene", "+++"): ("PQ05", 3),
    ("lucene", "a @@"): ("PQ02", 2),
    ("lucene", '"a'): ("PQ03", 0),
    ("lucene", "(a"): ("PQ03", 0),
    ("lucene", "a)"): ("PQ04", 1),
    ("lucene", "a AND"): ("PQ05", 5),
    ("lucene", "a OR"): ("PQ05", 4),
    ("lucene", "OR a"): ("PQ05", 0),
    ("lucene", "a OR OR b"): ("PQ05", 5),
    ("lucene", "()"): ("PQ05", 1),
    ("lucene", "title:"): ("PQ05", 6),
    ("lucene", "a~0.5"): ("PQ06", 1),
    ("lucene", "a^b"): ("PQ06", 1),
    ("lucene", "(" * 5000): ("PQ08", 100),
    ("lucene", "[1 TO 2]"): ("PQ13", 0),
    ("factiva", " "): ("PQ01", None),
    ("factiva", "a and"): ("PQ05", 5),
    ("factiva", "and a"): ("PQ05", 0),
    ("factiva", "a near b"): ("PQ06", 2),
    ("factiva", "a adj0 b"): ("PQ06", 2),
    ("factiva", "(a and b) near5 c"): ("PQ07", 1),
    ("factiva", "(a or b) c"): ("PQ13", 9),
    ("factiva", "comp$3"): ("PQ12", 4),
    ("factiva", '"a b'): ("PQ03", 0),
    ("factiva", "(" * 5000): ("PQ08", 500),
    ("factiva", "hd= a"): ("PQ05", 3),
    ("factiva", "+++"): ("PQ02", 0),
}


@pytest.mark.parametrize(("dialect", "text"), REFUSED, ids=lambda text: text[:20])
def test_what_a_dialect_does_not_have_is_refused_with_its_place(dialect: str, text: str) -> None:
    with pytest.raises(QueryError) as raised:
        DIALECTS[dialect](text)
    assert (raised.value.code, raised.value.position) == REFUSED[dialect, text]


_FRAGMENTS = [
    *("a", "é", "3", "x:", "hd=", ">=", "AND", "or", "NOT", "!", "-", "+", "(", ")", '"', "{", "}", "[", "]"),
    *("~", "~1", "*", "?", ":", "^2", "\\", " ", " ", " ", "*:*", "[1 TO 2]", "\x00", "\ud800", "near2", "/"),
    *("adj", "same", "w/3", "atleast2", "/f3/", "&&", "||", "_exists_:", "$", "wc>3"),
]


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["lucene", "factiva"])
@given(st.text(max_size=30) | st.lists(st.sampled_from(_FRAGMENTS), max_size=12).map("".join))
@settings(max_examples=examples(1500), deadline=None)
def test_random_text_gives_a_tree_of_ours_or_an_error_with_a_place(dialect: str, text: str) -> None:
    result = _attempt(dialect, text)
    if isinstance(result, QueryError):
        assert result.position is None or 0 <= result.position <= len(text)
    else:
        assert parse(to_text(result)) == result
        _check_spans(result, 0, len(text))


def _attempt(dialect: str, text: str) -> Node | QueryError:
    try:
        return DIALECTS[dialect](text)
    except QueryError as error:
        return error


def _check_spans(node: Node, start: int, end: int) -> None:
    assert start <= node.span.start < node.span.end <= end, node
    for child in children(node):
        _check_spans(child, node.span.start, node.span.end)
