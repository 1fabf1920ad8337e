"""What a word is, and which words are the same."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from percolator.analysis import ANALYSERS, analyser
from percolator.words import exact, lower, marks, split

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
    "": [],
}


@pytest.mark.parametrize("text", SPLITS, ids=ascii)
def test_words_are_split_as_the_language_says(text: str) -> None:
    assert split(text) == SPLITS[text]


SAME = [("Café", "cafe\u0301"), ("O’Neil", "o'neil"), ("İzmir", "İZMir"), ("ΟΔΟΣ", "Οδος"), ("U.S", "u.s")]


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


@pytest.mark.parametrize("name", ANALYSERS)
@given(st.text("abeinst'.éßøüиİ_0ñuyqx\u0301", min_size=1, max_size=9))
def test_every_word_gives_one_term_and_always_the_same(name: str, word: str) -> None:
    term = analyser(name).term
    assert term(word)
    assert term(word) == term(unicodedata.normalize("NFD", word)) == term(unicodedata.normalize("NFC", word))


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
