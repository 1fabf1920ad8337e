"""Words: how text is split, and which words are the same."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from percolator.analysis import ANALYSERS, AnalyserError, analyser
from percolator.query.parse import parse
from percolator.reference import matches
from percolator.schema import Schema, SchemaError
from percolator.words import exact, lower, marks, sections, split, token_spans

SPLITS = {
    "the U.S. and O'Neil's dog": ["the", "U.S", "and", "O'Neil's", "dog"],
    "AT&T, c++ and 3.14": ["AT", "T", "c", "and", "3.14"],
    "central. Bank": ["central", "Bank"],
    "a..b .c 'd' e'": ["a", "b", "c", "d", "e"],
    "socio-economic snake_case": ["socio", "economic", "snake_case"],
    "O’Neil ‘big’ deal": ["O’Neil", "big", "deal"],
    "cafe\u0301 x": ["cafe\u0301", "x"],
    "नमस्ते दुनिया": ["नमस्ते", "दुनिया"],
    "a\x00b\u00a0c": ["a", "b", "c"],
    "😀 \u0301 \ud800": [],
    "iPhone手机": ["iPhone", "手机", "机"],
    "東京都へ a": ["東京", "京都", "都へ", "へ", "a"],
    "가\u1100\u1161 か\u3099": ["가\u1100\u1161", "\u1100\u1161", "か\u3099"],
    "3.手's": ["3", "手", "s"],
    "": [],
}


@pytest.mark.parametrize("text", SPLITS, ids=ascii)
def test_words_are_split_as_the_language_says(text: str) -> None:
    assert split(text) == SPLITS[text]


SAME = [
    ("Café", "cafe\u0301"),
    ("O’Neil", "o'neil"),
    ("İzmir", "İZMir"),
    ("ΟΔΟΣ", "Οδος"),
    ("ﬁrm", "firm"),
    ("ＡＢＣ", "abc"),
    ("ｶﾞ", "か\u3099".replace("か", "カ")),
    ("U.S", "u.s"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_plain_words_are_the_same_whatever_their_case_and_composition(one: str, other: str) -> None:
    assert analyser("plain").term(one) == analyser("").term(other)


def test_plain_words_keep_their_accents_and_endings() -> None:
    plain = analyser("plain").term
    assert plain("café") != plain("cafe")
    assert plain("running") == "running"


def test_one_word_stays_one_word_when_it_is_lowered() -> None:
    assert len(split(lower("İzmir"))) == 1


def test_languages_stem_and_fold() -> None:
    english, german = analyser("english").term, analyser("german").term
    assert english("Running") == english("runs") == english("run")
    assert english("Cafés") == english("cafe")
    assert german("Häuser") == german("hauser")


def test_exact_words_keep_case_and_forget_composition() -> None:
    assert exact("cafe\u0301") == exact("café") != exact("Café")
    assert exact("O’N") == "O'N"


@pytest.mark.slow
@pytest.mark.parametrize("name", ANALYSERS)
@given(st.text("abeinst'.éßøüиİ_0ñuyqx\u0301", min_size=1, max_size=9))
def test_every_word_gives_one_term_and_always_the_same(name: str, word: str) -> None:
    term = analyser(name).term
    assert term(word)
    assert term(word) == term(unicodedata.normalize("NFD", word)) == term(unicodedata.normalize("NFC", word))


@pytest.mark.slow
def test_all_marks_of_unicode_continue_words() -> None:
    # The class is built from a part of Unicode; this looks at all of it.
    import re

    known = re.compile(f"[{marks()}]")
    missed = [
        hex(code)
        for code in range(0x110000)
        if (unicodedata.category(chr(code))[0] == "M") != (known.match(chr(code)) is not None)
    ]
    assert missed == []


CJK = [
    ("東京都", "東京", True),
    ("東京都", "京都", True),
    ("東京都", "東都", False),
    ("東京 都", "東京都", False),
]


@pytest.mark.parametrize(
    ("text", "query", "wanted"),
    [
        *CJK,
        ("東京", "京", True),
        ("東京", '"東 京"', True),
        ("手机店", "手机*", True),
        ("手机", "机店", False),
    ],
)
def test_cjk_is_found_by_any_of_its_parts(text: str, query: str, wanted: bool) -> None:
    assert matches(parse(query), {"t": text}, Schema.of({"t": "text"})) == wanted


SENTENCES = {
    "One two. Three": [0, 0, 1],
    "J. Smith of the U.S. Army, e.g. him.": [0] * 8,
    'He said "no." Then (yes!) he went?  Off': [0, 0, 0, 1, 1, 2, 2, 3],
    "in 5. Then 3.5 of a.b": [0, 0, 1, 1, 1, 1],
    "one\ntwo\n \nthree": [0, 0, 1],
    "手机。机": [0, 0, 1],
    "what... now": [0, 1],
}


@pytest.mark.parametrize("text", SENTENCES, ids=ascii)
def test_sentences_end_where_a_reader_sees_it(text: str) -> None:
    assert [sentence for sentence, _ in sections(text, token_spans(text))] == SENTENCES[text]


def test_paragraphs_end_at_empty_lines() -> None:
    text = "a\nb\r\n\r\nc. d\n \t\ne\u2029f"
    assert [paragraph for _, paragraph in sections(text, token_spans(text))] == [0, 0, 1, 1, 2, 3]


def first_three(word: str) -> str:
    """An analyser of one's own: words are the same where their first three letters are."""
    return word[:3].lower()


def nothing(_word: str) -> str:
    """An analyser that makes no terms."""
    return ""


def test_an_analyser_of_ones_own_is_named_by_its_place() -> None:
    schema = Schema.of({"t": f"text {__name__}:first_three"})
    assert matches(parse("reCALL"), {"t": "a recount"}, schema)
    assert not matches(parse("rest"), {"t": "a recount"}, schema)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("klingon", "is none of plain, danish"),
        ("no_such_module:f", "cannot be imported"),
        ("percolator.words:f", "cannot be imported"),
        ("percolator.words:__name__", "is no function"),
    ],
)
def test_an_analyser_that_is_none_is_refused_with_the_schema(name: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema.of({"t": f"text {name}"})


def test_an_analyser_without_a_term_is_an_error() -> None:
    with pytest.raises(AnalyserError, match="which is no term"):
        analyser(f"{__name__}:nothing").term("word")
