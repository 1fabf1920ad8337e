"""Words of a text that wait for their numbers: only those that may mean something get one.

A row of `TokenRoom.waiting` is a word. The last row is written before it is known that it stays: the next
word tells if both are a part of a phrase.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernels.family import inlined
from percolator.matching.kernel.arrays import (
    EDGE,
    EDGE_END,
    EDGE_FIRST_END,
    EDGE_START,
    GAP,
    NOTHING,
    Ints,
    KeptBytes,
    Longs,
    Sieve,
    Splitting,
    TokenRoom,
    WordTable,
    wide,
)
from percolator.matching.kernel.blocks import first_bytes, trailing_zeros, word_at
from percolator.matching.kernel.boundaries import boundary
from percolator.matching.kernel.hashing import ZERO, absorbed, has_bits, hashed
from percolator.matching.kernel.sieve import (
    STRANGE,
    V_ENDS,
    V_INSIDES,
    V_PAIRS,
    V_SHORT,
    has_head,
    hash_of,
    may_fit,
    pair_of,
)
from percolator.matching.kernel.word_table import WrittenWord, word_number

KEPT, BEGINS, ALIEN = 1, 2, 4
"""Marks of a word: it may mean something; it may have a beginning that is asked for; it is not ASCII."""
MARKS, TO_PLACE = 7, 3
WAIT_START, WAIT_END, WAIT_MARKS, WAIT_FOLLOWING, WAITING = range(5)
"""Cells of a row: bytes; the number of words before it in its piece, and its marks; WrittenWord.following of
one that is not ASCII."""
WINDOW = 256
"""Rows: the last word of which it is not known if it stays, and before it all others that wait."""
A_BLOCK = 33
"""More rows than a block has words."""

_ONE = np.uint64(1)


class Last(NamedTuple):
    """The last word: its row, its marks, its hash, and how many words are before it in the piece, -1 where
    there was no word yet."""

    row: int
    marks: int
    value: np.uint64
    place: int


class Numbered(NamedTuple):
    """The words of a piece that have their numbers: tokens (-1 where there is no room), and the last."""

    tokens: int
    place: int
    start: int
    end: int


class Rule(NamedTuple):
    """The state of sifting the words of a piece."""

    field: int
    mode: int
    sifted: bool
    every: bool
    """All words wait, not only those with marks."""
    gaps: bool
    """What means nothing is only counted."""
    pairs: bool
    """Some words mean something only beside others."""
    searched: bool
    """Marks do not tell which patterns a word may fit."""


def rule_of(field: int, splitting: Splitting, sieve: Sieve) -> Rule:
    """The rule of a field's texts."""
    sifted = sieve.fields[field] != 0
    shapes = sieve.shapes
    searched = sifted and shapes[V_SHORT] | shapes[V_ENDS] | shapes[V_INSIDES] != 0
    gaps = not splitting.units
    return Rule(
        field, wide(splitting.modes[field]), sifted, searched or not gaps, gaps,
        sifted and shapes[V_PAIRS] != 0, searched,
    )  # fmt: skip


@inlined
def front(data: KeptBytes, start: int, length: int) -> tuple[np.uint64, np.uint64]:
    """The first sixteen bytes of a word, behind whose begin so many can be read."""
    return first_bytes(word_at(data, start), length), first_bytes(word_at(data, start + 8), length - 8)


@inlined
def cell(row: int, column: int) -> np.uint64:
    """The place in `waiting`, without a sign, which would be looked at; -1 is the first row."""
    return np.uint64(WAITING * (row + 1) + column)


@inlined
def wait(
    last: Last, rule: Rule, word: WrittenWord, marks: int, value: np.uint64, sieve: Sieve, waiting: Longs
) -> Last:
    """Adds a word behind the last one; its hash is `value`."""
    before = last.marks
    if rule.pairs and last.place >= 0 and has_bits(sieve.bits, pair_of(last.value, value)):
        marks |= KEPT
        before |= KEPT
        waiting[cell(last.row, WAIT_MARKS)] |= KEPT
    row = last.row + (1 if rule.every or before != 0 else 0)
    waiting[cell(row, WAIT_START)] = word.start
    waiting[cell(row, WAIT_END)] = word.end
    waiting[cell(row, WAIT_MARKS)] = (last.place + 1) << TO_PLACE | marks
    return Last(row, marks, value, last.place + 1)


@inlined
def sift(key: np.uint64, second: np.uint64, sieve: Sieve) -> tuple[int, np.uint64]:
    """The marks and the hash of an ASCII word by its first sixteen bytes."""
    value = hash_of(key, second, 0)
    return (KEPT if has_bits(sieve.bits, value) else 0) | BEGINS * has_head(key, sieve), value


@inlined
def wait_block(
    data: KeptBytes, block: int, starts: np.uint64, ends: np.uint64, last: Last, rule: Rule, sieve: Sieve,
    waiting: Longs,
) -> tuple[Last, np.uint64]:  # fmt: skip
    """Adds the words of a block that end in it, by masks; the last one, and the starts that are left."""
    while ends != ZERO:
        start, end = block + trailing_zeros(starts), block + trailing_zeros(ends)
        starts &= starts - _ONE
        ends &= ends - _ONE
        marks, value = KEPT, ZERO
        if rule.sifted:
            key, second = front(data, start, end - start)
            marks, value = sift(key, second, sieve)
        word = WrittenWord(start, end, end, ZERO, ZERO, ZERO, True)
        last = wait(last, rule, word, marks, value, sieve, waiting)
    return last, starts


@inlined
def wait_word(word: WrittenWord, last: Last, rule: Rule, sieve: Sieve, waiting: Longs) -> Last:
    """Adds a word that was read byte by byte; the last one."""
    marks, value = KEPT, STRANGE
    if not word.plain:
        marks |= ALIEN
    elif rule.sifted:
        marks, value = sift(word.key, word.second, sieve)
    last = wait(last, rule, word, marks, value, sieve, waiting)
    waiting[cell(last.row, WAIT_FOLLOWING)] = word.following
    return last


@inlined
def read(data: KeptBytes, start: int, end: int, following: int, plain: bool) -> WrittenWord:
    """A word, known by where it is."""
    if start + 16 <= data.size:
        key, second = front(data, start, end - start)
        rest = hashed(ZERO, data, start + 16, end) if end > start + 16 else ZERO
        return WrittenWord(start, end, following, key, second, rest, plain)
    key, second, rest = ZERO, ZERO, ZERO
    for at in range(start, end):
        key, second, rest = absorbed(key, second, rest, int(data[at]), at - start)
    return WrittenWord(start, end, following, key, second, rest, plain)


@inlined
def number_of(
    data: KeptBytes, marks: int, word: WrittenWord, rule: Rule, sieve: Sieve, words: WordTable
) -> int:
    """The number of a word, NOTHING where it means nothing; -1 where there is no room for it."""
    if marks & KEPT == 0:
        if not rule.searched and marks & BEGINS == 0:
            return NOTHING
        if not may_fit(word.key, word.second, word.end - word.start, sieve):
            return NOTHING
    return word_number(data, word, rule.field, rule.mode, words)


@inlined
def note_edges(edges: Ints, token: int, start: int, end: int, first_end: int) -> None:
    """Notes the bytes at which a token begins and ends, where that is asked for."""
    if edges.size > 0:
        edges[EDGE * token + EDGE_START] = start
        edges[EDGE * token + EDGE_END] = end
        edges[EDGE * token + EDGE_FIRST_END] = first_end


def number_waiting(
    data: KeptBytes, count: int, before: Numbered, rule: Rule, splitting: Splitting, sieve: Sieve,
    words: WordTable, room: TokenRoom,
) -> Numbered:  # fmt: skip
    """Makes tokens of so many words that wait, behind those of `before`."""
    tokens, edges, waiting = room.tokens, room.edges, room.waiting
    token, place, start, end = before.tokens, before.place, before.start, before.end
    for row in range(count):
        begin, behind = waiting[cell(row, WAIT_START)], waiting[cell(row, WAIT_END)]
        marks = int(waiting[cell(row, WAIT_MARKS)])
        here, plain = marks >> TO_PLACE, marks & ALIEN == 0
        following = behind if plain else waiting[cell(row, WAIT_FOLLOWING)]
        word = read(data, wide(begin), wide(behind), wide(following), plain)
        number = number_of(data, marks, word, rule, sieve, words)
        if number < 0:
            return Numbered(-1, place, start, end)
        if rule.gaps:
            if number == NOTHING:
                continue
            if here > place + 1:
                tokens[token] = GAP - (here - place - 1)
                note_edges(edges, token, word.start, word.start, word.start)
                token += 1
        elif splitting.units and place >= 0 and end < word.start:
            ended = boundary(data, start, end, word.start, splitting.classes)
            if ended < 0:
                tokens[token] = ended
                token += 1
        place, start, end = here, word.start, word.end
        note_edges(edges, token, start, end, word.following)
        tokens[token] = number
        token += 1
    return Numbered(token, place, start, end)


def first_again(row: int, waiting: Longs) -> None:
    """Puts the last word where the first one stands, as those before it have their numbers."""
    for column in range(WAITING):
        waiting[cell(0, column)] = waiting[cell(row, column)]
