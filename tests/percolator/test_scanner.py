"""The kernel's scanner splits texts into the words, sentences and paragraphs of percolator.words."""

from __future__ import annotations

import random

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from percolator.matching.characters import classes
from percolator.matching.compiled import Engine, interpreted, load, read_only
from percolator.matching.kernel.arrays import RUN, RUN_END, RUN_START, Splitting, TokenRoom
from percolator.matching.kernel.boundaries import PARAGRAPH_END, SENTENCE_END
from percolator.matching.kernel.counters import DONE, S_PIECE, S_RUNS, S_STATUS, S_TOKENS
from percolator.matching.kernel.window import A_BLOCK, WAITING, WINDOW
from percolator.matching.sieve import WordSieve
from percolator.matching.surface import SurfaceWords
from percolator.matching.work import NO_EDGES
from percolator.words import sections, split, token_spans

EVERY_WORD = WordSieve().arrays._replace(fields=np.zeros(1, np.int32))
SPLITTING = Splitting(classes(), read_only(np.zeros(1, np.int32)), units=True)


def scanned(texts: list[str], engine: Engine, table: SurfaceWords) -> list[list[str | int]]:
    """The words of each text, with SENTENCE_END and PARAGRAPH_END between them."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(data) for data in encoded])
    pieces = np.array(
        [
            (number, 0, end - len(data), end)
            for number, (end, data) in enumerate(zip(ends, encoded, strict=True))
        ],
        np.int64,
    )
    tokens = np.zeros(int(ends[-1]) + 1, np.int32)
    waiting = np.zeros(WAITING * (WINDOW + A_BLOCK), np.int64)
    runs = np.zeros(len(texts) * RUN, np.int64)
    data = np.frombuffer(b"".join(encoded), np.uint8)
    afresh = False
    while True:
        counters = table.table.counters
        counters[S_TOKENS] = counters[S_RUNS] = counters[S_PIECE] = 0
        engine.scan(
            data, pieces.ravel(), SPLITTING, EVERY_WORD, table.table,
            TokenRoom(tokens, NO_EDGES, waiting, runs),
        )  # fmt: skip
        if counters[S_STATUS] == DONE:
            break
        afresh = table.make_room(engine, afresh) or afresh
    return [
        [int(token) if token < 0 else table.text_of(int(token)) for token in tokens[start:end]]
        for start, end in runs.reshape(-1, RUN)[:, [RUN_START, RUN_END]].tolist()
    ]


def wanted(text: str) -> list[str | int]:
    """The same by regular expressions."""
    found: list[str | int] = []
    words = split(text)
    before = (0, 0)
    for word, section in zip(words, sections(text, token_spans(text)), strict=True):
        if section[1] != before[1]:
            found.append(PARAGRAPH_END)
        elif section[0] != before[0]:
            found.append(SENTENCE_END)
        before = section
        found.append(word)
    return found


_SIGNS = (
    "aB7_é.'’ \t\r\n!?…\"”»)]。！？,\x00\u2029\u0301ß東京ｶﾞかが\u1100\u1161\u11a8가\U00020000😀\ud800ﬁ²٣\xa0"
)
texts = st.text(_SIGNS, max_size=30) | st.text(max_size=30)

# Blocks are 64 bytes: words and what stands between them end before, at and behind their borders.
runs_of_letters = st.builds(
    lambda letter, count: letter * count, st.sampled_from("aZ9_é.' "), st.integers(1, 70)
)
long_texts = st.lists(texts | runs_of_letters | st.text("ab.' ", max_size=80), max_size=40).map("".join)


@pytest.mark.slow
@given(st.lists(texts, min_size=1, max_size=20))
@settings(max_examples=examples(1500), deadline=None)
def test_words_and_sentences_are_those_of_the_definition(some: list[str]) -> None:
    assert scanned(some, load(), SurfaceWords()) == [wanted(text) for text in some]


@pytest.mark.slow
@given(st.lists(long_texts, min_size=1, max_size=4))
@settings(max_examples=examples(1500), deadline=None)
def test_words_of_long_texts_are_those_of_the_definition(some: list[str]) -> None:
    assert scanned(some, load(), SurfaceWords()) == [wanted(text) for text in some]


@pytest.mark.slow
def test_every_code_point_has_its_class() -> None:
    """Each between two letters and between two CJK characters, which tells its class; of the planes that hold
    ideographs alone, some."""
    planes = (range(0x20, 0x20000), range(0x20000, 0x32000, 16), range(0xE0000, 0xE0200))
    assigned = [chr(code) for plane in planes for code in plane]
    for first in range(0, len(assigned), 4000):
        text = "".join(f"x{point}y {point}z 東{point}京 " for point in assigned[first : first + 4000])
        assert scanned([text], load(), SurfaceWords()) == [wanted(text)]


@given(st.lists(texts | long_texts, min_size=1, max_size=5))
@settings(max_examples=examples(60), deadline=None)
def test_the_interpreted_kernel_splits_the_same(some: list[str]) -> None:
    assert scanned(some, interpreted(), SurfaceWords()) == [wanted(text) for text in some]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["x " * 25_000, "y" * 50_000, "é" * 50_000, "\x00" * 50_000, "東" * 20_000])
def test_long_texts_and_words_do_no_harm(text: str) -> None:
    assert scanned([text], load(), SurfaceWords(16)) == [wanted(text)]


def test_a_full_table_starts_anew_and_finds_the_same_words() -> None:
    source = random.Random(1)
    table = SurfaceWords(64)
    for _ in range(200):
        some = [" ".join(f"word{source.randrange(500)}" for _ in range(40)) for _ in range(3)]
        assert scanned(some, load(), table) == [split(text) for text in some]
    assert table.generation > 10


def test_long_words_do_not_grow_the_table_without_end() -> None:
    table = SurfaceWords(64)
    for number in range(50):
        text = f"{'x' * 9000}{number} y"
        assert scanned([text], load(), table) == [split(text)]
    assert table.nbytes < 1 << 16
    assert table.generation > 10


def test_bytes_that_are_no_utf8_separate_words() -> None:
    table = SurfaceWords()
    data = np.frombuffer(b"ab\xff\xc3cd \xe4\xb8ef\xf0\x9f", np.uint8)
    tokens, runs = np.zeros(64, np.int32), np.zeros(RUN, np.int64)
    load().scan(
        data,
        np.array([0, 0, 0, len(data)], np.int64),
        SPLITTING._replace(units=False),
        EVERY_WORD,
        table.table,
        TokenRoom(tokens, NO_EDGES, np.zeros(WAITING * (WINDOW + A_BLOCK), np.int64), runs),
    )
    assert table.table.counters[S_STATUS] == DONE
