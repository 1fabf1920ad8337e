"""Texts to tokens: UTF-8 is split into words, each a number of the table."""

from __future__ import annotations

from kernels.family import inlined
from percolator.matching.kernel.arrays import (
    EDGE,
    EDGE_END,
    EDGE_FIRST_END,
    EDGE_START,
    PIECE,
    PIECE_DOCUMENT,
    PIECE_END,
    PIECE_FIELD,
    PIECE_START,
    RUN,
    RUN_DOCUMENT,
    RUN_END,
    RUN_FIELD,
    RUN_START,
    KeptBytes,
    KeptLongs,
    Splitting,
    TokenRoom,
    WordTable,
)
from percolator.matching.kernel.boundaries import boundary, unit_end
from percolator.matching.kernel.counters import DONE, S_PIECE, S_RUNS, S_STATUS, S_TOKENS
from percolator.matching.kernel.hashing import ZERO
from percolator.matching.kernel.utf8 import (
    JOINER,
    LAST_LETTER,
    MARK,
    PAGES,
    SEPARATOR,
    UNIT,
    class_of,
    decoded,
    kind_at,
)
from percolator.matching.kernel.word_table import MODE_WHOLE, WrittenWord, absorbed, short_word, word_number

_APOSTROPHE = 0x2019


def whole_value(data: KeptBytes, pieces: KeptLongs, words: WordTable, room: TokenRoom) -> int:
    """Makes the piece S_PIECE one token; the place behind it, -1 where there is no room for the word."""
    piece = int(words.counters[S_PIECE]) * PIECE
    token = int(words.counters[S_TOKENS])
    start, end = int(pieces[piece + PIECE_START]), int(pieces[piece + PIECE_END])
    key, rest = ZERO, ZERO
    for at in range(start, end):
        key, rest = absorbed(key, rest, int(data[at]), at - start)
    word = WrittenWord(start, end, end, key, rest, True)
    number = word_number(data, word, int(pieces[piece + PIECE_FIELD]), MODE_WHOLE, words)
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
    key, rest = ZERO, ZERO
    for i in range(start, at):
        key, rest = absorbed(key, rest, int(data[i]), i - start)
    return WrittenWord(start, at, following, key, rest, False)


@inlined
def next_letters(data: KeptBytes, start: int, end: int, size: int, classes: KeptBytes) -> WrittenWord:
    """A word of letters, digits and marks, and of joiners between them; its first letter has `size` bytes."""
    key, rest = ZERO, ZERO
    plain = True
    at = start
    while True:
        # Letters or a letter or mark of `size` bytes.
        if size == 1:
            while True:
                key, rest = absorbed(key, rest, int(data[at]), at - start)
                at += 1
                if at >= end or data[at] >= 128:
                    break
                kind = int(classes[PAGES + int(data[at])])
                if kind == SEPARATOR or kind > LAST_LETTER:
                    break
        else:
            plain = False
            for _ in range(size):
                key, rest = absorbed(key, rest, int(data[at]), at - start)
                at += 1
        if at >= end:
            break
        point = int(data[at])
        size = 1
        if point < 128:
            kind = int(classes[PAGES + point])
        else:
            point = decoded(data, at, end)
            size = point & 7
            point >>= 3
            kind = class_of(classes, point)
        if kind != SEPARATOR and kind <= MARK:
            continue
        if kind != JOINER or at + size >= end:
            break
        joined = kind_at(data, at + size, end, classes)
        if joined >> 3 == SEPARATOR or joined >> 3 > LAST_LETTER:
            break
        for _ in range(size):
            key, rest = absorbed(key, rest, int(data[at]), at - start)
            at += 1
        plain = plain and point != _APOSTROPHE
        size = joined & 7
    return WrittenWord(start, at, at, key, rest, plain)


@inlined
def next_word(data: KeptBytes, at: int, end: int, classes: KeptBytes) -> WrittenWord:
    """The first word from a byte on; an empty one where there is none."""
    while at < end:
        kind = kind_at(data, at, end, classes)
        if kind >> 3 >= UNIT:
            return next_units(data, at, end, classes)
        if SEPARATOR < kind >> 3 <= LAST_LETTER:
            return next_letters(data, at, end, kind & 7, classes)
        at += kind & 7
    return WrittenWord(end, end, end, ZERO, ZERO, True)


def split(data: KeptBytes, pieces: KeptLongs, splitting: Splitting, words: WordTable, room: TokenRoom) -> int:
    """Splits the piece S_PIECE; the place behind its tokens, -1 where there is no room for a word."""
    tokens, edges, classes = room.tokens, room.edges, splitting.classes
    noted = edges.size > 0
    piece = int(words.counters[S_PIECE]) * PIECE
    token = int(words.counters[S_TOKENS])
    field = int(pieces[piece + PIECE_FIELD])
    end = int(pieces[piece + PIECE_END])
    at = int(pieces[piece + PIECE_START])
    before, before_end = -1, -1
    while True:
        word = next_word(data, at, end, classes)
        if word.start == word.end:
            return token
        if splitting.units:
            if before >= 0 and before_end < word.start:
                ended = boundary(data, before, before_end, word.start, classes)
                if ended < 0:
                    tokens[token] = ended
                    token += 1
            before, before_end = word.start, word.end
        number = -1
        if word.end - word.start <= 8:
            number = short_word(word.key, word.end - word.start, field, words.slots)
        if number < 0:
            number = word_number(data, word, field, int(splitting.modes[field]), words)
            if number < 0:
                return -1
        if noted:
            edges[EDGE * token + EDGE_START] = word.start
            edges[EDGE * token + EDGE_END] = word.end
            edges[EDGE * token + EDGE_FIRST_END] = word.following
        tokens[token] = number
        token += 1
        at = word.following


def scan(data: KeptBytes, pieces: KeptLongs, splitting: Splitting, words: WordTable, room: TokenRoom) -> None:
    """Splits pieces of text into words, from S_PIECE on; each piece gives one run of tokens.

    `pieces` has PIECE cells each, `room.tokens` room for all bytes, `room.runs` for all pieces. Stops at a
    piece that it cannot finish, with what is to be enlarged in S_STATUS.
    """
    counters, runs = words.counters, room.runs
    counters[S_STATUS] = DONE
    while counters[S_PIECE] < pieces.size // PIECE:
        piece = int(counters[S_PIECE]) * PIECE
        if splitting.modes[pieces[piece + PIECE_FIELD]] == MODE_WHOLE:
            behind = whole_value(data, pieces, words, room)
        else:
            behind = split(data, pieces, splitting, words, room)
        if behind < 0:
            return
        run = int(counters[S_RUNS]) * RUN
        runs[run + RUN_DOCUMENT] = pieces[piece + PIECE_DOCUMENT]
        runs[run + RUN_FIELD] = pieces[piece + PIECE_FIELD]
        runs[run + RUN_START] = counters[S_TOKENS]
        runs[run + RUN_END] = behind
        counters[S_RUNS] += 1
        counters[S_TOKENS] = behind
        counters[S_PIECE] += 1
