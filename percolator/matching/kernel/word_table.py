"""The table of surface words: a field and letters as written, found by hash."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernels.family import inlined
from percolator.matching.kernel.arrays import (
    SLOT,
    SLOT_KEY,
    SLOT_PLACE,
    SLOT_REST,
    SLOT_SECOND,
    UNKNOWN,
    W_EXACT,
    W_EXACT_LENGTH,
    W_FIELD,
    W_FOLD,
    W_FOLD_LENGTH,
    W_LENGTH,
    W_LOWER,
    W_LOWER_LENGTH,
    W_START,
    W_TERM,
    W_TERM_LENGTH,
    WORD,
    Bytes,
    KeptBytes,
    Words,
    WordTable,
)
from percolator.matching.kernel.counters import NEED_LETTERS, NEED_WORDS, S_LETTERS, S_STATUS, S_WORDS
from percolator.matching.kernel.hashing import HALF, LOW, MIX, ZERO, mixed, whole

MODE_PLAIN, MODE_ANALYSED, MODE_WHOLE = range(3)
"""How a field's words get their terms: here if they are ASCII, by an analyser, or a value is one word."""


class WrittenWord(NamedTuple):
    """A word of a text: bytes from `start` to `end`; the next one is looked for from `following` on."""

    start: int
    end: int
    following: int
    key: np.uint64
    """Its first eight bytes."""
    second: np.uint64
    """The next eight."""
    rest: np.uint64
    """The hash of the others."""
    plain: bool
    """It is ASCII."""


@inlined
def slot_of(key: np.uint64, second: np.uint64, rest: np.uint64, place: np.uint64) -> np.uint64:
    """The hash by which a word is found."""
    return mixed(key ^ (second ^ rest ^ place * MIX) * MIX) >> HALF


def write_forms(data: KeptBytes, word: WrittenWord, field: int, mode: int, words: WordTable) -> None:
    """Adds a row and letters for a new word; its term is UNKNOWN where an analyser has to give it."""
    rows, letters, counters = words.rows, words.letters, words.counters
    length = word.end - word.start
    written = int(counters[S_LETTERS])
    capitals = False
    for i in range(length):
        byte = data[word.start + i]
        letters[written + i] = byte
        capitals |= 65 <= byte <= 90
    used = written + length
    term = written
    if mode == MODE_PLAIN and word.plain and capitals:
        term = used
        for i in range(length):
            byte = data[word.start + i]
            letters[used + i] = byte + 32 if 65 <= byte <= 90 else byte
        used += length
    elif mode == MODE_ANALYSED or (mode == MODE_PLAIN and not word.plain):
        term = UNKNOWN
    row = int(counters[S_WORDS]) * WORD
    rows[row + W_START] = rows[row + W_EXACT] = written
    rows[row + W_TERM] = rows[row + W_FOLD] = rows[row + W_LOWER] = term
    rows[row + W_LENGTH] = rows[row + W_EXACT_LENGTH] = rows[row + W_TERM_LENGTH] = length
    rows[row + W_FOLD_LENGTH] = rows[row + W_LOWER_LENGTH] = length
    rows[row + W_FIELD] = field
    counters[S_LETTERS] = used
    counters[S_WORDS] += 1


def new_number(data: KeptBytes, word: WrittenWord, field: int, mode: int, words: WordTable, at: int) -> int:
    """The number of a new word, whose slot begins at a cell; -1 where there is no room for it."""
    number = int(words.counters[S_WORDS])
    length = word.end - word.start
    if number * WORD >= words.rows.size:
        words.counters[S_STATUS] = NEED_WORDS
        return -1
    if int(words.counters[S_LETTERS]) + 2 * length > words.letters.size:
        words.counters[S_STATUS] = NEED_LETTERS
        return -1
    place = np.uint64((min(length, 0xFFFE) + 1) << 16 | field)
    words.slots[at + SLOT_KEY] = word.key
    words.slots[at + SLOT_SECOND] = word.second
    words.slots[at + SLOT_REST] = word.rest
    words.slots[at + SLOT_PLACE] = np.uint64(number) << HALF | place
    write_forms(data, word, field, mode, words)
    return number


def ends_alike(letters: Bytes, known: int, data: KeptBytes, start: int, length: int) -> bool:
    """True if two words, whose first sixteen bytes are equal, have the same others."""
    for i in range(16, length):  # noqa: SIM110 (no generators here)
        if letters[known + i] != data[start + i]:
            return False
    return True


@inlined
def word_number(data: KeptBytes, word: WrittenWord, field: int, mode: int, words: WordTable) -> int:
    """The number of a word, a new one at its first sight; -1 where there is no room for it."""
    slots = words.slots
    length = word.end - word.start
    place = np.uint64((min(length, 0xFFFE) + 1) << 16 | field)
    mask = slots.size // SLOT - 1
    slot = whole(slot_of(word.key, word.second, word.rest, place)) & mask
    while True:
        at = SLOT * slot
        held = slots[at + SLOT_PLACE]
        if held == ZERO:
            return new_number(data, word, field, mode, words, at)
        if (
            (held & LOW) == place
            and slots[at + SLOT_KEY] == word.key
            and slots[at + SLOT_SECOND] == word.second
        ):
            known = whole(held >> HALF)
            if length <= 16:
                return known
            row = known * WORD
            if words.rows[row + W_LENGTH] == length and ends_alike(
                words.letters, int(words.rows[row + W_START]), data, word.start, length
            ):
                return known
        slot = (slot + 1) & mask


def rehash(slots: Words, old: Words) -> None:
    """Moves all words to a larger table."""
    mask = slots.size // SLOT - 1
    for before in range(0, old.size, SLOT):
        place = old[before + SLOT_PLACE]
        if place == ZERO:
            continue
        key, second, rest = old[before + SLOT_KEY], old[before + SLOT_SECOND], old[before + SLOT_REST]
        slot = whole(slot_of(key, second, rest, place & LOW)) & mask
        while slots[SLOT * slot + SLOT_PLACE] != ZERO:
            slot = (slot + 1) & mask
        for column in range(SLOT):
            slots[SLOT * slot + column] = old[before + column]
