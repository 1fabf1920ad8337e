"""The table of surface words: a field and letters as written, found by hash."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernels.family import inlined
from percolator.matching.kernel.arrays import (
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
    Ints,
    KeptBytes,
    Words,
    WordTable,
)
from percolator.matching.kernel.counters import NEED_LETTERS, NEED_WORDS, S_LETTERS, S_STATUS, S_WORDS
from percolator.matching.kernel.hashing import HALF, LOW, MIX, PRIME, ZERO, mixed, whole

MODE_PLAIN, MODE_ANALYSED, MODE_WHOLE = range(3)
"""How a field's words get their terms: here if they are ASCII, by an analyser, or a value is one word."""


class WrittenWord(NamedTuple):
    """A word of a text: bytes from `start` to `end`; the next one is looked for from `following` on."""

    start: int
    end: int
    following: int
    key: np.uint64
    """Its first eight bytes."""
    rest: np.uint64
    """The hash of the others."""
    plain: bool
    """It is ASCII."""


@inlined
def absorbed(key: np.uint64, rest: np.uint64, byte: int, place: int) -> tuple[np.uint64, np.uint64]:
    """Key and rest with one byte more."""
    if place < 8:
        return key | np.uint64(byte) << np.uint64(8 * place), rest
    return key, (rest ^ np.uint64(byte)) * PRIME


@inlined
def short_word(key: np.uint64, length: int, field: int, slots: Words) -> int:
    """The number of a known word of at most eight bytes, else -1: the way of most words."""
    place = np.uint64((length + 1) << 16 | field)
    mask = slots.size // 2 - 1
    slot = whole(mixed(key ^ (place * MIX)) >> HALF) & mask
    while True:
        held = slots[2 * slot + 1]
        if held == ZERO:
            return -1
        if (held & LOW) == place and slots[2 * slot] == key:
            return whole(held >> HALF)
        slot = (slot + 1) & mask


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


def ends_alike(letters: Bytes, known: int, data: KeptBytes, start: int, length: int) -> bool:
    """True if two words, whose first eight bytes are equal, have the same others."""
    for i in range(8, length):  # noqa: SIM110 (no generators here)
        if letters[known + i] != data[start + i]:
            return False
    return True


def word_number(data: KeptBytes, word: WrittenWord, field: int, mode: int, words: WordTable) -> int:
    """The number of a word, a new one at its first sight; -1 where there is no room for it."""
    slots, rows, letters = words.slots, words.rows, words.letters
    length = word.end - word.start
    place = np.uint64((min(length, 0xFFFE) + 1) << 16 | field)
    mask = slots.size // 2 - 1
    slot = whole(mixed(word.key ^ word.rest ^ (place * MIX)) >> HALF) & mask
    while True:
        held = slots[2 * slot + 1]
        if held == ZERO:
            break
        if (held & LOW) == place and slots[2 * slot] == word.key:
            known = whole(held >> HALF)
            row = known * WORD
            if length <= 8 or (
                rows[row + W_LENGTH] == length
                and ends_alike(letters, int(rows[row + W_START]), data, word.start, length)
            ):
                return known
        slot = (slot + 1) & mask
    number = int(words.counters[S_WORDS])
    if number * WORD >= rows.size:
        words.counters[S_STATUS] = NEED_WORDS
        return -1
    if int(words.counters[S_LETTERS]) + 2 * length > letters.size:
        words.counters[S_STATUS] = NEED_LETTERS
        return -1
    slots[2 * slot] = word.key
    slots[2 * slot + 1] = np.uint64(number) << HALF | place
    write_forms(data, word, field, mode, words)
    return number


def rehash(slots: Words, old: Words) -> None:
    """Moves all words to a larger table; hashes are taken from `old`, which is in order of words."""
    mask = slots.size // 2 - 1
    for word in range(old.size // 3):
        slot = whole(mixed(old[3 * word] ^ old[3 * word + 2] ^ (old[3 * word + 1] * MIX)) >> HALF) & mask
        while slots[2 * slot + 1] != ZERO:
            slot = (slot + 1) & mask
        slots[2 * slot] = old[3 * word]
        slots[2 * slot + 1] = np.uint64(word) << HALF | old[3 * word + 1]


def hashes(rows: Ints, letters: Bytes, words: int, found: Words) -> None:
    """Writes to `found`, for `rehash`, what `word_number` saw of each word: key, place, rest."""
    for word in range(words):
        start = int(rows[word * WORD + W_START])
        length = int(rows[word * WORD + W_LENGTH])
        key, rest = ZERO, ZERO
        for i in range(length):
            key, rest = absorbed(key, rest, int(letters[start + i]), i)
        found[3 * word] = key
        found[3 * word + 1] = np.uint64((min(length, 0xFFFE) + 1) << 16 | int(rows[word * WORD + W_FIELD]))
        found[3 * word + 2] = rest
