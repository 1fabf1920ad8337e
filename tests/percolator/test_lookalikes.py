"""Words that look like operators are reported, with the form of ours; what was meant as it stands is not."""

from __future__ import annotations

import re

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from percolator_trees import trees

from percolator.query import lookalikes as module
from percolator.query.dialects import DIALECTS
from percolator.query.errors import QueryError
from percolator.query.foreign_words import Lookalike
from percolator.query.lookalikes import lookalikes
from percolator.query.parse import parse
from percolator.query.print import to_text
from percolator.query.tree import Node


def found(text: str, dialect: str = "native") -> tuple[Lookalike, ...]:
    return lookalikes(text, DIALECTS[dialect](text), dialect)


def reported(text: str, dialect: str = "native") -> list[tuple[str, str]]:
    """Code and word of each."""
    return [(str(one.code), text[slice(*one.span)]) for one in found(text, dialect)]


def cure(text: str, dialect: str = "native") -> str:
    """The first query that the help of the only word offers."""
    (one,) = found(text, dialect)
    offered = re.search(r"`([^`]+)`", one.help)
    assert offered is not None
    return offered[1]


CURES = {
    "football or soccer": "football OR soccer",
    "Football Or soccer": "Football OR soccer",
    "a and b": "a AND b",
    "a and (b OR c)": "a AND (...)",
    "(a b) or -c": "(...) OR -c",
    "not x": "NOT x",
    "a butnot b": "NOT b",
    "fire XOR recall": "(fire AND NOT recall) OR (recall AND NOT fire)",
    "fire xor recall": "(fire AND NOT recall) OR (recall AND NOT fire)",
    "(a b) Xor c": "((...) AND NOT c) OR (c AND NOT (...))",
    "body:/fire/i": "/fire/",
    "x (/s.b/gi OR y)": "/s.b/",
    "/fire/g x": "/fire/",
    "a near/5 b": "a NEAR/5 b",
    "a onear/5 b": "a ONEAR/5 b",
    "a W/5 b": "a NEAR/5 b",
    "a w/5 b": "a NEAR/5 b",
    '"a b" W/5 c*': '"a b" NEAR/5 c*',
    "a within/5 b": "a NEAR/5 b",
    "a n/5 b": "a NEAR/5 b",
    "a pre/5 b": "a ONEAR/5 b",
    "a p/3 b": "a ONEAR/3 b",
    "a PRE/0 b": "a ONEAR/0 b",
    "a adj5 b": "a ONEAR/4 b",
    "a near5 b": "a NEAR/4 b",
    "a NEAR5 b": "a NEAR/4 b",
    "a w5 b": "a ONEAR/5 b",
    "a n5 b": "a NEAR/5 b",
    "a not w/5 b": "a NOT NEAR/5 b",
    "a NOT W/5 b": "a NOT NEAR/5 b",
    "a w/s b": "sentence(a, b)",
    "a w/para b": "paragraph(a, b)",
    "a +s b": "sentence(a, b)",
    "a /s b /s c": "sentence(a, b)",
    "a /5 b /5 c": "a NEAR/5 b",
    "a SAME b": "paragraph(a, b)",
    "a adj b": "a NEAR/5 b",
    "atleast5 fraud": "atleast/5 fraud",
    "ATL5(fraud)": "atleast/5 (...)",
    "/f50/ fraud": "first/50 x",
    "!x": "-x",
    "a !b": "-b",
    "a|b": "a OR b",
    "a||b": "a OR b",
    "a&&b": "a AND b",
    "a &b": "a AND b",
    "a& b": "a AND b",
    "recall! tyres": "recall*",
    "comput$": "comput*",
    "cancer[tiab]": "title:cancer",
    "title=acme": "title:acme",
    "title==acme": "title:acme",
    "recall% tyres": "recall*",
    "TITLE(acme)": "TITLE:(...)",
    "“supply chain” AND recall": '"supply ..."',
    "recall AND (‘supply chain’)": '"supply ..."',
    "title:„supply chain“": '"supply ..."',
    "'supply chain'": '"supply ..."',
    "«supply chain»": '"supply ..."',
}


@pytest.mark.parametrize("text", CURES)
def test_the_form_of_ours_is_offered_and_can_be_read(text: str) -> None:
    offered = cure(text)
    assert offered == CURES[text]
    assert found(offered.replace("(...)", "(x OR y)").replace("...", "x")) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("+x -y", [("PQ16", "+x")]),
        ("+x* +y~1", [("PQ16", "+x*"), ("PQ16", "+y~1")]),
        ("x^2", [("PQ16", "x^2")]),
        ('"a b"^2', [("PQ16", "^2")]),
        ("vitamin a and e", [("PQ14", "and")]),
        ("a or b and c or d", [("PQ14", "or"), ("PQ14", "and")]),
        ("a and not b", [("PQ14", "and"), ("PQ14", "not")]),
        ("title:(a or b) c", [("PQ14", "or")]),
        ("risk = (a or b)", [("PQ14", "or")]),
        ("2 of (a, b or c, d)", [("PQ14", "or")]),
        ("price:>=10 or b", [("PQ14", "or")]),
        ("*:* and x", [("PQ14", "and")]),
        ("drug(s)", [("PQ16", "drug")]),
    ],
)
def test_each_word_is_reported_once_at_its_first_place(text: str, expected: list[tuple[str, str]]) -> None:
    assert reported(text) == expected


def test_further_places_of_a_word_are_counted() -> None:
    (one,) = found("a or b or c or d")
    assert one.message.startswith("`or`, here and at 2 other places, ")


QUIET = (
    "football OR soccer", "a AND NOT b", "a NOT b", "-a b", "a NEAR/5 b", "a NOT NEAR/5 b", "a ONEAR/5 b",
    "atleast/3 x first/50 y", "sentence(a, b) paragraph(a, b)", "2 of (a, b, c)", "risk = (a OR b)",
    'football "or" soccer', '"football or soccer"', r"football \or soccer", "football {or} soccer",
    "title:or x", "title:and body:+x", r"\+x \!y", '"a W/5 b"', r"a W\/5 b",
    "gold OR or", "or AND gold", "a AND or AND b", "NOT or", "-or", "or", "and", "or gold", "gold or",
    "(or) gold (and)", "not", "x not", "2 of (a, or, b)", "or NEAR/3 gold",
    "AT&T R&D", "c++", "a+b", "Yahoo!", "+49-30-123456", "and/or x", "w/o x", "24/7 x", "12/24 x", "he/she x",
    "masks n95 shortage", "w3 org", "a n100 b", "a near b", "the same day", "within reach", "pre owned",
    "E=mc2", "a rise of 5%", "price:>=10", "price:[10 TO 20]", "lang:en x", "title:/s.b/",
    "/s.b/ x", "/reg.x/", "/s.b/ i", "xor", "xor gold", 'a "xor" b', "a AND xor", "km/i x", r"/a\/i/ b",
    "andorra orb", "network/5g x",
    "don't stop", "don’t stop", "O'Neil’s", "rock 'n' roll", "rock 'n roll", "'tis '90s", "“recall” x",
    "x 'recall'", '"a “b c” d"', r"\“b c", "{“b} c",
)  # fmt: skip


@pytest.mark.parametrize("text", QUIET)
def test_what_is_meant_is_not_reported(text: str) -> None:
    assert found(text) == ()


@pytest.mark.parametrize(
    ("text", "dialect", "expected"),
    [
        ("a && b || !c", "lucene", []),
        ("+a -b c^2 d", "lucene", []),
        ("a or b", "lucene", [("PQ14", "or")]),
        ("a XOR b", "lucene", [("PQ14", "XOR")]),
        ("/ab/i c", "lucene", [("PQ16", "i")]),
        ("a xor b", "factiva", [("PQ14", "xor")]),
        ("+a or b", "lucene", [("PQ14", "or")]),
        ("a AND or OR b", "lucene", []),
        ("a NEAR/5 b", "lucene", [("PQ15", "NEAR/5")]),
        ("a W/5 b", "lucene", [("PQ15", "W/5")]),
        ("title:(a or b)", "lucene", [("PQ14", "or")]),
        ("a^2 and b", "lucene", [("PQ14", "and")]),
        ("a and b or c not d", "factiva", []),
        ("a near5 b w/5 c adj d", "factiva", []),
        ("a same b", "factiva", []),
        ("johnson & johnson", "factiva", []),
        ("hd=or", "factiva", []),
        ('cut "or" run', "factiva", []),
        ("a near/5 b", "factiva", [("PQ15", "near/5")]),
        ("rate cut pre/5 bank", "factiva", [("PQ15", "pre/5")]),
        ("a /s b", "factiva", [("PQ15", "/s")]),
        ("a && b", "factiva", [("PQ16", "&&")]),
        ("+a -b !c", "factiva", [("PQ16", "+a"), ("PQ16", "-b"), ("PQ16", "!c")]),
        ('"a b"~5', "factiva", [("PQ16", "~5")]),
    ],
)
def test_a_dialect_gives_words_its_own_meaning(
    text: str, dialect: str, expected: list[tuple[str, str]]
) -> None:
    assert reported(text, dialect) == expected


@pytest.mark.parametrize("text", ["a near5 b", "a adj5 b", "a near1 b", "a adj1 b"])
def test_a_distance_of_factivas_is_offered_as_its_dialect_reads_it(text: str) -> None:
    assert parse(cure(text)) == DIALECTS["factiva"](text)


@pytest.mark.parametrize("text", ["a near/5 b", "a W/5 b", "a pre/5 b", "a p/3 b", "a within/1 b"])
def test_what_is_offered_to_factiva_lets_as_many_words_between(text: str) -> None:
    if text == "a W/5 b":
        assert found(text, "factiva") == ()  # its own operator
    else:
        assert DIALECTS["factiva"](cure(text, "factiva")) == parse(cure(text))


def test_a_help_names_the_other_way_to_count() -> None:
    (scopus,), (factiva,) = found("a W/5 b"), found("a near5 b")
    assert "at most 5 words" in scopus.help
    assert "`NEAR/4` if the step" in scopus.help
    assert "at most 4 words" in factiva.help
    assert "`NEAR/5` if words" in factiva.help


@pytest.mark.parametrize(
    ("text", "meant"), [("a & b", "AND"), ("a || b", "OR"), ("a | b", "OR"), ("! a", "NOT")]
)
def test_an_operator_that_is_no_word_is_refused_with_ours(text: str, meant: str) -> None:
    with pytest.raises(QueryError, match=f"the operator is written {meant}"):
        parse(text)


def test_a_unit_that_is_read_as_a_regular_expression_is_refused_with_ours() -> None:
    with pytest.raises(QueryError, match=r"unclosed regular expression; `a /p b` .*`paragraph\(a, b\)`"):
        parse("a /p b")


PIECES = [
    "a", "b", "or", "and", "not", "And", "OR", "AND", "NOT", "W/5", "near/5", "NEAR/5", "adj5", "/s", "/",
    "+x", "!x", "-y", "x^2", "a|b", "&&", "||", "&", "(", ")", '"', "\\or", "{or}", "title:", "title:or",
    "hd=or", "c*", "~5", "~1", ",", "2", "of", "sentence(", "atl5", "recall!", "x[ti]", "SAME", "pre/2", "w5",
]  # fmt: skip
WRITTEN = st.lists(st.sampled_from(PIECES), min_size=1, max_size=9)


@given(WRITTEN.map(" ".join) | WRITTEN.map("".join), st.sampled_from(sorted(DIALECTS)))
@settings(max_examples=examples(600), deadline=None)
def test_the_quick_search_hides_nothing(text: str, dialect: str) -> None:
    try:
        node = DIALECTS[dialect](text)
    except QueryError:
        return
    quick = lookalikes(text, node, dialect)
    with pytest.MonkeyPatch.context() as patch:
        everything = re.compile("")
        patch.setattr(module, "_SUSPECT", dict.fromkeys(DIALECTS, (everything, everything)))
        assert lookalikes(text, node, dialect) == quick
    for one in quick:
        assert 0 <= one.span.start < one.span.end <= len(text)
        assert one.help


@given(WRITTEN.map(" ".join))
@settings(max_examples=examples(600), deadline=None)
def test_a_word_in_quotes_is_taken_as_meant(text: str) -> None:
    try:
        words = [one for one in found(text) if one.code == "PQ14"]
    except QueryError:
        return
    for one in words:
        quoted = f'{text[: one.span.start]}"{text[slice(*one.span)]}"{text[one.span.end :]}'
        assert all(again.span.start != one.span.start for again in found(quoted))


@pytest.mark.slow
@given(trees)
@settings(max_examples=examples(300), deadline=None)
def test_what_the_printer_writes_has_no_lower_case_operators(node: Node) -> None:
    text = to_text(node)
    assert not [one for one in found(text) if one.code == "PQ14"]


@pytest.mark.parametrize("text", ["a|" * 9_000, "a" * 9_000 + "!", "!" + "a" * 9_000, "a" * 9_000 + "(b)"])
def test_a_long_word_is_cut_in_what_is_said(text: str) -> None:
    (one,) = found(text)
    assert len(one.message) + len(one.help) < 500


@pytest.mark.slow
def test_a_query_of_many_words_is_reported_once_for_each() -> None:
    text = " ".join(["a or b and"] * 5_000) + " c"
    assert [one.span.start for one in found(text)] == [2, 7]
