"""The parser reads what the language says, and the printer's text gives the same tree."""

from __future__ import annotations

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from percolator_trees import trees

from percolator.query.errors import QueryError
from percolator.query.parse import MAX_HEIGHT, parse
from percolator.query.print import to_text
from percolator.query.tree import (
    And,
    AtLeast,
    Everything,
    Exact,
    Fielded,
    First,
    Fuzzy,
    Named,
    Near,
    Node,
    Not,
    NotNear,
    Or,
    Phrase,
    Present,
    Range,
    Regex,
    SomeOf,
    Span,
    Together,
    Wildcard,
    Word,
    children,
)

A, B, C = Word("a"), Word("b"), Word("c")

READS = {
    "a b": And((A, B)),
    "a AND b c": And((A, B, C)),
    "a b OR c": Or((And((A, B)), C)),
    "a OR b AND NOT c": Or((A, And((B, Not(C))))),
    "a NOT b": And((A, Not(B))),
    "a -b": And((A, Not(B))),
    "-(a b)": Not(And((A, B))),
    "NOT NOT a": Not(Not(A)),
    "NOT a NEAR/5 b": Not(Near(A, B, 5, False)),
    "a NEAR/5 b NEAR/3 c": Near(Near(A, B, 5, False), C, 3, False),
    "a ONEAR/0 (b OR c)": Near(A, Or((B, C)), 0, True),
    "a NOT NEAR/5 b c": And((NotNear(A, B, 5), C)),
    "a AND(b)OR(c)": Or((And((A, B)), C)),
    "(a b) c": And((And((A, B)), C)),
    "and or not near": And((Word("and"), Word("or"), Word("not"), Word("near"))),
    "NOT-FOR-PROFIT": Word("NOT-FOR-PROFIT"),
    "AT&T c++ U.S": And((Word("AT&T"), Word("c++"), Word("U.S"))),
    'x"a b"~3 c': And((Word("x"), Phrase("a b", 3), C)),
    '"a \\"b\\" c"': Phrase('a \\"b\\" c'),
    '"the {WHO} said"': Phrase("the {WHO} said"),
    "{WHO}": Exact("WHO"),
    "recall* w?men *gate": And((Wildcard("recall*"), Wildcard("w?men"), Wildcard("*gate"))),
    r"a\*b": Word("a*b"),
    "/reg.x/ /a\\/b/": And((Regex("reg.x"), Regex("a/b"))),
    "name~1 name~2": And((Fuzzy("name", 1), Fuzzy("name", 2))),
    "title:a title:(a OR b)": And((Fielded("title", A), Fielded("title", Or((A, B))))),
    "title:{WHO}": Fielded("title", Exact("WHO")),
    "-title:a": Not(Fielded("title", A)),
    "price:[10 TO 20]": Range("price", "10", "20", True, True),
    "price:{10 TO 20]": Range("price", "10", "20", False, True),
    "day:[2024-01-01 TO *]": Range("day", "2024-01-01", None, True, False),
    "price:>=10 price:<-1": And(
        (Range("price", "10", None, True, False), Range("price", None, "-1", False, False))
    ),
    "ip:10.0.0.0/8 price:-5": And((Fielded("ip", Word("10.0.0.0/8")), Fielded("price", Word("-5")))),
    "t:10:30": Fielded("t", Word("10:30")),
    "*:* title:*": And((Everything(), Present("title"))),
    "2 of (a, b AND c, (a,b))": SomeOf(2, (A, And((B, C)), Word("a,b"))),
    "2 of (price:>=1,b, price:<2)": SomeOf(
        2, (Range("price", "1", None, True, False), B, Range("price", None, "2", False, False))
    ),
    "2 of a": And((Word("2"), Word("of"), A)),
    "atleast/3 a b": And((AtLeast(3, A), B)),
    "first/50 (a OR b)": First(50, Or((A, B))),
    "sentence(a, b) paragraph(a)": And((Together("sentence", (A, B)), Together("paragraph", (A,)))),
    "sentence (a)": And((Word("sentence"), A)),
    "risk = (a OR b) c": And((Named("risk", Or((A, B))), C)),
    "café 東京 \u00a0x": And((Word("café"), Word("東京"), Word("x"))),
}


@pytest.mark.parametrize("text", READS)
def test_the_parser_reads_what_the_language_says(text: str) -> None:
    assert parse(text) == READS[text]


@pytest.mark.slow
@given(trees)
@settings(max_examples=examples(1500), deadline=None)
def test_printed_trees_parse_back_to_themselves(node: Node) -> None:
    text = to_text(node)
    assert parse(text) == node, text


_FRAGMENTS = [
    *("a", "é", "3", "x:", ">=", "of", "=", "AND", "OR", "NOT", "-", "(", ")", '"', "{", "}", "[", "]", "/"),
    *("~", "~1", "*", "?", ":", ",", "\\", " ", " ", "*:*", "[1 TO 2]", "\x00", "\ud800", "NEAR/2", "ONEAR"),
    *("NOT NEAR/1", "atleast/2", "first/1", "2 of (", "sentence(", "n = ("),
]


@pytest.mark.slow
@given(st.text(max_size=40) | st.lists(st.sampled_from(_FRAGMENTS), max_size=12).map("".join))
@settings(max_examples=examples(3000), deadline=None)
def test_random_text_gives_a_tree_that_prints_or_an_error_with_a_place(text: str) -> None:
    result = _attempt(text)
    if isinstance(result, QueryError):
        assert result.message
        assert result.position is None or 0 <= result.position <= len(text)
    else:
        assert parse(to_text(result)) == result
        assert _height(result) <= MAX_HEIGHT
        _check_spans(result, Span(0, len(text)))


def _attempt(text: str) -> Node | QueryError:
    try:
        return parse(text)
    except QueryError as error:
        return error


def _height(node: Node) -> int:
    return 1 + max((_height(child) for child in children(node)), default=0)


def _check_spans(node: Node, outer: Span) -> None:
    assert outer.start <= node.span.start < node.span.end <= outer.end, (node, outer)
    for child in children(node):
        _check_spans(child, node.span)


def test_spans_point_at_the_text_of_each_node() -> None:
    text = 'alpha AND (title:beta OR "c d"~2) NOT x*'
    node = parse(text)
    found = [text[child.span.start : child.span.end] for child in children(node)]
    assert found == ["alpha", 'title:beta OR "c d"~2', "NOT x*"]


@pytest.mark.slow
@pytest.mark.parametrize("opening", ["NOT (a AND ", "x:(a OR ", "n = (", "1 of (a, "])
def test_the_highest_tree_that_is_accepted_can_be_walked(opening: str) -> None:
    results = [_attempt(opening * levels + "a" + ")" * levels) for levels in range(40, 260, 3)]
    highest = [result for result in results if not isinstance(result, QueryError)][-1]
    assert _height(highest) >= MAX_HEIGHT // 2
    assert parse(to_text(highest)) == highest
    assert {result.code for result in results if isinstance(result, QueryError)} == {"PQ08"}


def test_many_brackets_that_mean_nothing_are_accepted() -> None:
    assert parse("(" * 500 + "a" + ")" * 500) == A
