"""Texts to tokens: UTF-8 is split into words, each a number of the table."""

from __future__ import annotations

import numpy as np

from kernels.family import inlined
from percolator.matching.kernel.arrays import (
    EDGE,
    EDGE_END,
    EDGE_FIRST_END,
    EDGE_START,
    GAP,
    NOTHING,
    PIECE,
    PIECE_DOCUMENT,
    PIECE_END,
    PIECE_FIELD,
    PIECE_START,
    RUN,
    RUN_DOCUMENT,
    RUN_END,
    RUN_FIELD,
    RUN_POINTS,
    RUN_START,
    Ints,
    KeptBytes,
    KeptLongs,
    Sieve,
    Splitting,
    TokenRoom,
    WordTable,
    wide,
)
from percolator.matching.kernel.blocks import (
    BLOCK,
    below,
    joiners_at,
    letters_at,
    others_at,
    trailing_zeros,
)
from percolator.matching.kernel.boundaries import unit_end
from percolator.matching.kernel.counters import DONE, S_PIECE, S_RUNS, S_STATUS, S_TOKENS
from percolator.matching.kernel.hashing import ZERO, absorbed
from percolator.matching.kernel.sieve import may_mean
from percolator.matching.kernel.utf8 import (
    JOINER,
    LAST_LETTER,
    MARK,
    SEPARATOR,
    UNIT,
    kind_at,
)
from percolator.matching.kernel.window import (
    WINDOW,
    Last,
    Numbered,
    first_again,
    note_edges,
    number_waiting,
    rule_of,
    wait_block,
    wait_word,
)
from percolator.matching.kernel.word_table import MODE_WHOLE, WrittenWord, word_number

READ_AHEAD = BLOCK + 16
"""Bytes that can be read from the begin of a block on: two words at its last byte."""
_ONE = np.uint64(1)


@inlined
def whole_value(data: KeptBytes, pieces: KeptLongs, sieve: Sieve, words: WordTable, room: TokenRoom) -> int:
    """Makes the piece S_PIECE one token; the place behind it, -1 where there is no room for the word."""
    piece = int(words.counters[S_PIECE]) * PIECE
    token = int(words.counters[S_TOKENS])
    start, end = int(pieces[piece + PIECE_START]), int(pieces[piece + PIECE_END])
    key, second, rest = ZERO, ZERO, ZERO
    for at in range(start, end):
        key, second, rest = absorbed(key, second, rest, int(data[at]), at - start)
    word = WrittenWord(start, end, end, key, second, rest, True)
    field = int(pieces[piece + PIECE_FIELD])
    number = NOTHING
    if sieve.fields[field] == 0 or may_mean(key, second, end - start, sieve):
        number = word_number(data, word, field, MODE_WHOLE, words)
    if number < 0:
        return -1
    room.tokens[token] = number
    return token + 1


def next_units(data: KeptBytes, start: int, end: int, classes: KeptBytes) -> WrittenWord:
    """A CJK character with the next one; alone only where none follows."""
    following = unit_end(data, start, end, classes)
    at = following
    if kind_at(data, following, end, classes) >> 3 >= UNIT:
        at = unit_end(data, following, end, classes)
    key, second, rest = ZERO, ZERO, ZERO
    for i in range(start, at):
        key, second, rest = absorbed(key, second, rest, int(data[i]), i - start)
    return WrittenWord(start, at, following, key, second, rest, False)


def next_letters(data: KeptBytes, start: int, end: int, size: int, classes: KeptBytes) -> WrittenWord:
    """A word of letters, digits and marks, and of joiners between them; its first letter has `size` bytes."""
    key, second, rest = ZERO, ZERO, ZERO
    plain = True
    at = start
    while True:
        plain = plain and size == 1
        for _ in range(size):
            key, second, rest = absorbed(key, second, rest, int(data[at]), at - start)
            at += 1
        kind = kind_at(data, at, end, classes)
        size = kind & 7
        kind >>= 3
        if kind != SEPARATOR and kind <= MARK:
            continue
        if kind != JOINER or at + size >= end:
            break
        joined = kind_at(data, at + size, end, classes)
        if joined >> 3 == SEPARATOR or joined >> 3 > LAST_LETTER:
            break
        plain = plain and size == 1
        for _ in range(size):
            key, second, rest = absorbed(key, second, rest, int(data[at]), at - start)
            at += 1
        size = joined & 7
    return WrittenWord(start, at, at, key, second, rest, plain)


def next_word(data: KeptBytes, at: int, end: int, classes: KeptBytes) -> WrittenWord:
    """The first word from a byte on; an empty one where there is none."""
    while at < end:
        kind = kind_at(data, at, end, classes)
        if kind >> 3 >= UNIT:
            return next_units(data, at, end, classes)
        if SEPARATOR < kind >> 3 <= LAST_LETTER:
            return next_letters(data, at, end, kind & 7, classes)
        at += kind & 7
    return WrittenWord(end, end, end, ZERO, ZERO, ZERO, True)


@inlined
def plain_letters(data: KeptBytes, at: int, known: int) -> np.uint64:
    """The mask of those of `known` ASCII bytes of a block that belong to words."""
    letters = letters_at(data, at) & below(known)
    return letters | (joiners_at(data, at) & (letters << _ONE) & (letters >> _ONE))


@inlined
def split(
    data: KeptBytes, pieces: KeptLongs, splitting: Splitting, sieve: Sieve, words: WordTable, room: TokenRoom
) -> int:
    """Splits the piece S_PIECE; the place behind its tokens, -1 where there is no room for a word.

    ASCII words are read off the masks of blocks, others byte by byte, as is what ends in no block.
    """
    piece = int(words.counters[S_PIECE]) * PIECE
    at, end = int(pieces[piece + PIECE_START]), int(pieces[piece + PIECE_END])
    rule = rule_of(wide(pieces[piece + PIECE_FIELD]), splitting, sieve)
    last = Last(-1 if rule.every else 0, 0, ZERO, -1)
    done = Numbered(wide(words.counters[S_TOKENS]), -1, 0, 0)
    while done.tokens >= 0:
        if last.row >= WINDOW:
            done = number_waiting(data, last.row, done, rule, splitting, sieve, words, room)
            first_again(last.row, room.waiting)
            last = Last(0, last.marks, last.value, last.place)
            continue
        if at < end and at + READ_AHEAD <= data.size:
            known = min(end - at, trailing_zeros(others_at(data, at)))
            letters = plain_letters(data, at, known)
            ends = ~letters & letters << _ONE
            if at + known < end:
                # The word that ends at what is known may go on behind it, also after a joiner.
                ends &= below(max(known - 1, 0))
            starts = letters & ~(letters << _ONE)
            last, starts = wait_block(data, at, starts, ends, last, rule, sieve, room.waiting)
            taken = known if starts == ZERO else trailing_zeros(starts)
            at += taken
            if taken > 0:
                continue
        word = next_word(data, at, end, splitting.classes)
        if word.start == word.end:
            break
        last = wait_word(word, last, rule, sieve, room.waiting)
        at = word.following
    if done.tokens >= 0:
        count = last.row + (1 if rule.every or last.marks != 0 else 0)
        done = number_waiting(data, count, done, rule, splitting, sieve, words, room)
    if done.tokens >= 0 and last.place > done.place:
        room.tokens[done.tokens] = GAP - (last.place - done.place)
        note_edges(room.edges, done.tokens, end, end, end)
        return done.tokens + 1
    return done.tokens


@inlined
def points_in(data: KeptBytes, start: int, end: int) -> int:
    """The number of code points that begin in some bytes."""
    found = 0
    for at in range(start, end):
        found += 1 if data[at] & 0xC0 != 0x80 else 0
    return found


def to_code_points(data: KeptBytes, start: int, end: int, edges: Ints, first: int, behind: int) -> int:
    """Makes of the bytes in the edges of a piece's tokens its code points; how many the piece has."""
    points = points_in(data, start, end)
    if points == end - start:
        for i in range(EDGE * first, EDGE * behind):
            edges[i] -= start
        return points
    at = start
    point = 0
    for i in range(EDGE * first, EDGE * behind, EDGE):
        begin, first_end, last_end = edges[i + EDGE_START], edges[i + EDGE_FIRST_END], edges[i + EDGE_END]
        point += points_in(data, at, begin)
        at = int(begin)
        edges[i + EDGE_START] = point
        edges[i + EDGE_FIRST_END] = point + points_in(data, at, first_end)
        edges[i + EDGE_END] = point + points_in(data, at, last_end)
    return points


def scan(
    data: KeptBytes, pieces: KeptLongs, splitting: Splitting, sieve: Sieve, words: WordTable, room: TokenRoom
) -> None:
    """Splits pieces of text into words, from S_PIECE on; each piece gives one run of tokens.

    `pieces` has PIECE cells each, `room.tokens` room for all bytes, `room.runs` for all pieces. Stops at a
    piece that it cannot finish, with what is to be enlarged in S_STATUS.
    """
    counters, runs = words.counters, room.runs
    counters[S_STATUS] = DONE
    while counters[S_PIECE] < pieces.size // PIECE:
        piece = int(counters[S_PIECE]) * PIECE
        if splitting.modes[pieces[piece + PIECE_FIELD]] == MODE_WHOLE:
            behind = whole_value(data, pieces, sieve, words, room)
        else:
            behind = split(data, pieces, splitting, sieve, words, room)
        if behind < 0:
            return
        run = int(counters[S_RUNS]) * RUN
        runs[run + RUN_POINTS] = 0
        if room.edges.size > 0 and splitting.modes[pieces[piece + PIECE_FIELD]] != MODE_WHOLE:
            start, end = int(pieces[piece + PIECE_START]), int(pieces[piece + PIECE_END])
            token = int(counters[S_TOKENS])
            runs[run + RUN_POINTS] = to_code_points(data, start, end, room.edges, token, behind)
        runs[run + RUN_DOCUMENT] = pieces[piece + PIECE_DOCUMENT]
        runs[run + RUN_FIELD] = pieces[piece + PIECE_FIELD]
        runs[run + RUN_START] = counters[S_TOKENS]
        runs[run + RUN_END] = behind
        counters[S_RUNS] += 1
        counters[S_TOKENS] = behind
        counters[S_PIECE] += 1
