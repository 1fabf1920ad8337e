"""The innermost part: bytes of documents to words, words to leaves, leaves to hits. Arrays in, arrays out.

Written in the subset of Python that numba compiles; `percolator.matching.compiled` compiles this very
source when much text flows, otherwise it runs as it is. All constants stand here, since numba's cache
notices a change of this file only. In order of a document's way:

    scan     UTF-8 -> numbers of words (a table of surface words), which new words join
    learn    a new word -> its list: leaves it makes true, phrases it starts or continues, leaves with places
    walk     the words of a document -> the leaves that are true, phrases by a trie
    offer    true leaves -> candidates (rare leaf, second leaf) -> jump code -> hits
    settle   positional nodes (NEAR, atleast ...), only when a query's code asks; once per document

A segment is three arrays: `longs` (head, spaces, points of ranges), `ints`, `text`. Whatever may be too
small is checked: the document is given up, `counters[C_STATUS]` says what to enlarge, and the caller
comes back with the same document. Nothing is ever left out in silence.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

# The head of a segment: sizes, and places of its parts in `ints` or `longs`.
(
    H_LEAVES, H_QUERIES, H_NODES, H_FIELDS,
    H_POSTINGS, H_POSTED, H_CODE, H_USE,
    H_TABLE, H_MASK, H_ENTRY, H_SPACE, H_FIELD, H_FUZZY,
    H_TRIE_FIRST, H_TRIE_LEAF, H_TRIE_ACCEPT, H_ROOTS,
    H_NODE, H_OPERANDS, H_UNITS,
    HEAD,
) = range(22)  # fmt: skip

# A space is the words of some fields under one analyser: which kinds of entries it has, the lengths of
# their keys as bits, its fuzzy words.
SPACE_KINDS, SPACE_PREFIXES, SPACE_SUFFIXES, SPACE_INFIXES, SPACE_FUZZY, SPACE_FUZZY_END, SPACE = range(7)

# A field: the leaf of its presence, its spaces (in `ints`), its tree of ranges.
(
    FIELD_PRESENT, FIELD_SPACES, FIELD_SPACES_END, FIELD_POINTS, FIELD_POINT_COUNT, FIELD_TREE,
    FIELD_TREE_SIZE, FIELD,
) = range(8)  # fmt: skip

# How an entry is found: by its whole text, or by a piece of its pattern.
KIND_WORD, KIND_EXACT, KIND_PREFIX, KIND_SUFFIX, KIND_INFIX, KIND_ANY = range(6)
KINDS = 8
ENTRY_WHERE, ENTRY_TEXT, ENTRY_LENGTH, ENTRY_LEAF, ENTRY = range(5)
LONGEST_PREFIX = 63
LONGEST_INFIX = 6
STAR, QUESTION = 0xFF, 0xFE  # bytes that UTF-8 never has

FUZZY_SIZE, FUZZY_LOW, FUZZY_HIGH, FUZZY_DISTANCE, FUZZY_TEXT, FUZZY_LENGTH, FUZZY_LEAF, FUZZY = range(8)

USE_TRUE, USE_START, USE_CONTINUE, USE_PLACES = 1, 2, 4, 8

# A positional node and its parameters; operands are a slice of a list.
(
    NODE_LEAF, NODE_OR, NODE_NEAR, NODE_SLOP, NODE_NOT_NEAR, NODE_AT_LEAST, NODE_FIRST, NODE_TOGETHER,
) = range(8)  # fmt: skip
N_KIND, N_FIRST, N_COUNT, N_A, N_B, N_INNER, NODE = range(7)

# Jump code: a test of a leaf or node (>= 0), or of a counter (< 0): -1 - 2r sets, -2 - 2r counts down.
CODE = 3
GO_TRUE, GO_FALSE = -1, -2
COUNTERS = 256

# A surface word, and in `letters` its forms: exact, term, folded but not stemmed, lowered but not folded.
(
    W_START, W_LENGTH, W_FIELD, W_EXACT, W_EXACT_LENGTH, W_TERM, W_TERM_LENGTH, W_FOLD, W_FOLD_LENGTH,
    W_LOWER, W_LOWER_LENGTH, WORD,
) = range(12)  # fmt: skip
UNKNOWN = -1
MODE_PLAIN, MODE_ANALYSED, MODE_WHOLE = range(3)

PIECE_DOCUMENT, PIECE_FIELD, PIECE_START, PIECE_END, PIECE = range(5)
RUN_DOCUMENT, RUN_FIELD, RUN_START, RUN_END, RUN = range(5)
EDGE_START, EDGE_END, EDGE_FIRST_END, EDGE = range(4)
VALUE_DOCUMENT, VALUE_FIELD, VALUE_HIGH, VALUE_LOW, VALUE = range(5)

# Character classes, as in percolator.words. Letters are 1 to LAST_LETTER; digits and the half-width voice
# marks of Kana are letters of their own. From UNIT on a character is CJK, and searched by pairs.
(
    SEPARATOR, LETTER, DIGIT, VOICE, MARK, JOINER, SPACE, LINE_END, STOP, CLOSER, WIDE_STOP, PARAGRAPH_SIGN,
    UNIT, LEADING, VOWEL, TRAILING,
) = range(16)  # fmt: skip
LAST_LETTER = VOICE

# Tokens below zero stand between words.
SENTENCE_END, PARAGRAPH_END = -1, -2
SENTENCE, PARAGRAPH = 0, 1

(
    C_STATUS, C_WORDS, C_LETTERS, C_TOKENS, C_RUNS, C_PIECE,
    C_POOL, C_STAMP, C_DOCUMENT, C_RUN, C_VALUE, C_HITS, C_DOUBTS,
    C_TOUCHED, C_LOG, C_SPANS, C_BORDERS, C_SENTENCES, C_PARAGRAPHS, C_BUDGET, C_STEPS, C_MODE, C_WORK,
    COUNTS,
) = range(24)  # fmt: skip
(
    DONE,
    NEED_WORDS,
    NEED_LETTERS,
    NEED_POOL,
    NEED_STATES,
    NEED_LOG,
    NEED_SPANS,
    NEED_HITS,
    TOO_LONG,
    OVER_BUDGET,
) = range(10)

VALUE_GAP = 100
FIELD_GAP = 1 << 23  # more than any distance, slop and length of a query together
LAST_POSITION = (1 << 31) - (1 << 25)

TRUE, FOUND, PLACED, WANTED = 1, 2, 4, 8  # bits of a leaf in `truth`
HIT, KILLED, DOUBTED = 1, 2, 4  # bits of a query in `marks`

# What `match` does with a document: all; only up to its true leaves; all, and counts the work of each query.
MATCHING, WALKING, COUNTING = range(3)

# Code of highlights, in postfix order: each row begins with its kind and size. SHOW_SOME takes so many
# results from the stack and is true if enough of them are.
SHOW_WORDS, SHOW_GIVEN, SHOW_SOME, SHOW_NOT, SHOW_NAME, SHOW_END = range(6)
SHOW_KIND, SHOW_SIZE, SHOW_ARGUMENT, SHOW_ENOUGH, SHOW_LEAVES = range(5)
SHOW_UNIT = SHOW_ENOUGH
MOST_NAMES = 62  # one bit each

_ZERO = np.uint64(0)
_EIGHT = np.uint64(8)
_SEED = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_SOME = np.uint64(29)
_LOW = np.uint64(0xFFFFFFFF)


def whole(value: np.uint64) -> int:
    """The value as a number with a sign: one without beside an int would make a float."""
    return np.int64(value)  # type: ignore[return-value]


def mixed(value: np.uint64) -> np.uint64:
    """All bits of a hash depend on all bits of the value."""
    value = (value ^ (value >> _HALF)) * _MIX
    return (value ^ (value >> _SOME)) * _PRIME


def decoded(data: Bytes, at: int, end: int) -> int:
    """The code point at a byte that is no ASCII, times 8, plus the number of its bytes.

    Bytes that are no UTF-8 are separators, one by one.
    """
    first = int(data[at])
    if 0xC2 <= first < 0xE0 and at + 1 < end:
        return (((first & 0x1F) << 6 | (int(data[at + 1]) & 0x3F)) << 3) | 2
    if 0xE0 <= first < 0xF0 and at + 2 < end:
        return (((first & 0xF) << 12 | (int(data[at + 1]) & 0x3F) << 6 | (int(data[at + 2]) & 0x3F)) << 3) | 3
    if 0xF0 <= first < 0xF5 and at + 3 < end:
        point = (first & 7) << 18 | (int(data[at + 1]) & 0x3F) << 12
        point |= (int(data[at + 2]) & 0x3F) << 6 | (int(data[at + 3]) & 0x3F)
        if point < 0x110000:
            return (point << 3) | 4
    return (0xFFFD << 3) | 1


def class_of(classes: Bytes, point: int) -> int:
    """The class of a code point: a page table of 256 code points each."""
    return int(classes[0x1100 + (int(classes[point >> 8]) << 8) + (point & 0xFF)])


def word_number(
    data: Bytes, start: int, end: int, key: np.uint64, rest: np.uint64, field: int, mode: int, plain: bool,
    slots: Words, rows: Ints, letters: Bytes, counters: Longs,
) -> int:  # fmt: skip
    """The number of a surface word, a new one at its first sight; -1 where there is no room for it.

    `key` holds its first eight bytes, `rest` the hash of the others; `plain` tells that it is ASCII.
    """
    length = end - start
    capped = min(length, 0xFFFE) + 1
    place = np.uint64(capped << 16 | field)
    mask = slots.size // 2 - 1
    slot = whole(mixed(key ^ rest ^ (place * _MIX)) >> _HALF) & mask
    while True:
        held = slots[2 * slot + 1]
        if held == _ZERO:
            break
        if (held & _LOW) == place and slots[2 * slot] == key:
            word = whole(held >> _HALF)
            if length <= 8:
                return word
            row = word * WORD
            if rows[row + W_LENGTH] == length:
                known = int(rows[row + W_START])
                same = True
                for i in range(8, length):
                    if letters[known + i] != data[start + i]:
                        same = False
                        break
                if same:
                    return word
        slot = (slot + 1) & mask
    word = int(counters[C_WORDS])
    used = int(counters[C_LETTERS])
    if word * WORD >= rows.size:
        counters[C_STATUS] = NEED_WORDS
        return -1
    if used + 2 * length > letters.size:
        counters[C_STATUS] = NEED_LETTERS
        return -1
    slots[2 * slot] = key
    slots[2 * slot + 1] = np.uint64(word) << _HALF | place
    row = word * WORD
    rows[row + W_START] = used
    rows[row + W_LENGTH] = length
    rows[row + W_FIELD] = field
    capitals = False
    for i in range(length):
        byte = data[start + i]
        letters[used + i] = byte
        capitals |= 65 <= byte <= 90
    used += length
    term = used - length
    if mode == MODE_PLAIN and plain and capitals:
        term = used
        for i in range(length):
            byte = data[start + i]
            letters[used + i] = byte + 32 if 65 <= byte <= 90 else byte
        used += length
    elif mode == MODE_ANALYSED or (mode == MODE_PLAIN and not plain):
        term = UNKNOWN
    rows[row + W_EXACT] = rows[row + W_START]
    rows[row + W_TERM] = term
    rows[row + W_FOLD] = term
    rows[row + W_LOWER] = term
    rows[row + W_LOWER_LENGTH] = length
    rows[row + W_EXACT_LENGTH] = length
    rows[row + W_TERM_LENGTH] = length
    rows[row + W_FOLD_LENGTH] = length
    counters[C_LETTERS] = used
    counters[C_WORDS] = word + 1
    return word


def rehash(slots: Words, old: Words) -> None:
    """Moves all words to a larger table; hashes are taken from `old`, which is in order of words."""
    mask = slots.size // 2 - 1
    for word in range(old.size // 3):
        slot = whole(mixed(old[3 * word] ^ old[3 * word + 2] ^ (old[3 * word + 1] * _MIX)) >> _HALF) & mask
        while slots[2 * slot + 1] != _ZERO:
            slot = (slot + 1) & mask
        slots[2 * slot] = old[3 * word]
        slots[2 * slot + 1] = np.uint64(word) << _HALF | old[3 * word + 1]


def hashes(rows: Ints, letters: Bytes, words: int, found: Words) -> None:
    """What `word_number` saw of each word: key, place, rest; for `rehash`."""
    for word in range(words):
        start = int(rows[word * WORD + W_START])
        length = int(rows[word * WORD + W_LENGTH])
        key = _ZERO
        for i in range(min(8, length)):
            key |= np.uint64(letters[start + i]) << np.uint64(8 * i)
        rest = _ZERO
        for i in range(8, length):
            rest = (rest ^ np.uint64(letters[start + i])) * _PRIME
        found[3 * word] = key
        found[3 * word + 1] = np.uint64((min(length, 0xFFFE) + 1) << 16 | int(rows[word * WORD + W_FIELD]))
        found[3 * word + 2] = rest


def kind_at(data: Bytes, at: int, end: int, classes: Bytes) -> int:
    """The class of the character at a byte, times 8, plus its number of bytes; 0 at the end."""
    if at >= end:
        return 0
    if data[at] < 128:
        return int(classes[0x1100 + int(data[at])]) << 3 | 1
    point = decoded(data, at, end)
    return class_of(classes, point >> 3) << 3 | (point & 7)


def unit_end(data: Bytes, at: int, end: int, classes: Bytes) -> int:
    """The byte behind a CJK character, or the jamo of one syllable, with its marks."""
    kind = kind_at(data, at, end, classes)
    first = kind >> 3
    at += kind & 7
    kind = kind_at(data, at, end, classes)
    if first == LEADING:
        while kind >> 3 == VOWEL:
            at += kind & 7
            kind = kind_at(data, at, end, classes)
        while kind >> 3 == TRAILING:
            at += kind & 7
            kind = kind_at(data, at, end, classes)
    while kind >> 3 == MARK or kind >> 3 == VOICE:
        at += kind & 7
        kind = kind_at(data, at, end, classes)
    return at


def is_initial(data: Bytes, start: int, end: int, classes: Bytes) -> bool:
    """Whether the last part of a word is one character that is no digit."""
    at = end - 1
    while at > start and data[at] & 0xC0 == 0x80:
        at -= 1
    if kind_at(data, at, end, classes) >> 3 == DIGIT:
        return False
    if at == start:
        return True
    before = at - 1
    while before > start and data[before] & 0xC0 == 0x80:
        before -= 1
    return kind_at(data, before, at, classes) >> 3 == JOINER


def boundary(data: Bytes, word: int, start: int, end: int, classes: Bytes) -> int:
    """What ends between two words, by the signs from `start` to `end`: SENTENCE_END, PARAGRAPH_END or 0.

    `word` is where the word before begins.
    """
    found = 0
    at = start
    line = False  # a line has ended, and only white space came since
    run = -1  # where stops began that only stops and closing signs follow
    single = False  # it is one full stop
    stops = False  # no closing sign came yet
    while at < end:
        kind = kind_at(data, at, end, classes)
        size, kind = kind & 7, kind >> 3
        if kind == LINE_END:
            if line:
                return PARAGRAPH_END
            line = True
            if data[at] == 13 and at + 1 < end and data[at + 1] == 10:
                size = 2
        elif kind == PARAGRAPH_SIGN:
            return PARAGRAPH_END
        elif kind != SPACE:
            line = False
        dot = data[at] == 46
        if kind == WIDE_STOP:
            found = SENTENCE_END
            run = -1
        elif kind == STOP or dot:
            if run < 0 or not stops:
                run = at
                single = dot
            else:
                single = False
            stops = True
        elif kind in (CLOSER, JOINER):
            stops = False
        elif kind in (SPACE, LINE_END):
            if run >= 0 and not (single and run == start and is_initial(data, word, start, classes)):
                found = SENTENCE_END
            run = -1
        else:
            run = -1
        at += size
    return found


def scan(
    data: Bytes, pieces: Longs, modes: Ints, classes: Bytes, slots: Words, rows: Ints, letters: Bytes,
    tokens: Ints, edges: Ints, runs: Longs, counters: Longs, units: bool,
) -> None:  # fmt: skip
    """Splits pieces of text into words, from `counters[C_PIECE]` on; each piece gives one run of tokens.

    `tokens` has room for all bytes, `runs` for all pieces. Stops at a piece that it cannot finish, with
    what is to be enlarged in C_STATUS. With `units`, ends of sentences and paragraphs are tokens too.
    `edges` gets the bytes of every word (begin, end, end of its first character if that is CJK) unless it
    is empty.
    """
    counters[C_STATUS] = DONE
    noted = edges.size > 0
    total = pieces.size // PIECE
    mask = slots.size // 2 - 1
    apostrophe = 0x2019
    while counters[C_PIECE] < total:
        piece = counters[C_PIECE] * PIECE
        field = int(pieces[piece + PIECE_FIELD])
        at = int(pieces[piece + PIECE_START])
        end = int(pieces[piece + PIECE_END])
        mode = int(modes[field])
        first = int(counters[C_TOKENS])
        token = first
        before, before_end = -1, -1
        if mode == MODE_WHOLE:
            key = _ZERO
            rest = _ZERO
            for i in range(at, end):
                if i - at < 8:
                    key |= np.uint64(data[i]) << np.uint64(8 * (i - at))
                else:
                    rest = (rest ^ np.uint64(data[i])) * _PRIME
            word = word_number(data, at, end, key, rest, field, mode, True, slots, rows, letters, counters)
            if word < 0:
                return
            tokens[token] = word
            token += 1
            at = end
        while at < end:
            byte = int(data[at])
            size = 1
            if byte < 128:
                kind = int(classes[0x1100 + byte])
            else:
                point = decoded(data, at, end)
                size = point & 7
                kind = class_of(classes, point >> 3)
            if kind == SEPARATOR or LAST_LETTER < kind < UNIT:
                at += size
                continue
            start = at
            key = _ZERO
            rest = _ZERO
            plain = True
            length = 0
            following = at
            if kind >= UNIT:
                following = unit_end(data, at, end, classes)
                if kind_at(data, following, end, classes) >> 3 >= UNIT:
                    at = unit_end(data, following, end, classes)
                else:
                    at = following
                plain = False
                for i in range(start, at):
                    if length < 8:
                        key |= np.uint64(data[i]) << np.uint64(8 * length)
                    else:
                        rest = (rest ^ np.uint64(data[i])) * _PRIME
                    length += 1
            else:
                while True:
                    # Letters or a letter or mark of `size` bytes.
                    if size == 1:
                        while True:
                            if length < 8:
                                key |= np.uint64(data[at]) << np.uint64(8 * length)
                            else:
                                rest = (rest ^ np.uint64(data[at])) * _PRIME
                            length += 1
                            at += 1
                            if at >= end or data[at] >= 128:
                                break
                            kind = int(classes[0x1100 + int(data[at])])
                            if kind == SEPARATOR or kind > LAST_LETTER:
                                break
                    else:
                        plain = False
                        for _ in range(size):
                            if length < 8:
                                key |= np.uint64(data[at]) << np.uint64(8 * length)
                            else:
                                rest = (rest ^ np.uint64(data[at])) * _PRIME
                            length += 1
                            at += 1
                    if at >= end:
                        break
                    byte = int(data[at])
                    size = 1
                    if byte < 128:
                        point = byte
                        kind = int(classes[0x1100 + byte])
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
                        if length < 8:
                            key |= np.uint64(data[at]) << np.uint64(8 * length)
                        else:
                            rest = (rest ^ np.uint64(data[at])) * _PRIME
                        length += 1
                        at += 1
                    plain = plain and point != apostrophe
                    size = joined & 7
                following = at
            if units:
                if before >= 0 and before_end < start:
                    ended = boundary(data, before, before_end, start, classes)
                    if ended < 0:
                        tokens[token] = ended
                        token += 1
                before, before_end = start, at
            word = -1
            if length <= 8:
                # The way of most words, without the price of a call with many arrays.
                place = np.uint64((length + 1) << 16 | field)
                slot = whole(mixed(key ^ (place * _MIX)) >> _HALF) & mask
                while True:
                    held = slots[2 * slot + 1]
                    if held == _ZERO:
                        break
                    if (held & _LOW) == place and slots[2 * slot] == key:
                        word = whole(held >> _HALF)
                        break
                    slot = (slot + 1) & mask
            if word < 0:
                word = word_number(
                    data, start, at, key, rest, field, mode, plain, slots, rows, letters, counters
                )
                if word < 0:
                    return
            if noted:
                edges[EDGE * token + EDGE_START] = start
                edges[EDGE * token + EDGE_END] = at
                edges[EDGE * token + EDGE_FIRST_END] = following
            tokens[token] = word
            token += 1
            at = following
        run = int(counters[C_RUNS]) * RUN
        runs[run + RUN_DOCUMENT] = pieces[piece + PIECE_DOCUMENT]
        runs[run + RUN_FIELD] = field
        runs[run + RUN_START] = first
        runs[run + RUN_END] = token
        counters[C_RUNS] += 1
        counters[C_TOKENS] = token
        counters[C_PIECE] += 1


def fits(text: Bytes, start: int, length: int, letters: Bytes, at: int, size: int) -> bool:
    """Whether a word has the form of a pattern of letters, STAR and QUESTION (one code point)."""
    p, stop = start, start + length
    w, end = at, at + size
    star, back = -1, 0
    while w < end:
        if p < stop and text[p] == STAR:
            star = p
            back = w
            p += 1
            continue
        if p < stop and text[p] == QUESTION:
            w += 1
            while w < end and letters[w] & 0xC0 == 0x80:
                w += 1
            p += 1
            continue
        if p < stop and text[p] == letters[w]:
            p += 1
            w += 1
            continue
        if star < 0:
            return False
        back += 1
        while back < end and letters[back] & 0xC0 == 0x80:
            back += 1
        w = back
        p = star + 1
    while p < stop and text[p] == STAR:
        p += 1
    return p == stop


def code_points(data: Bytes, start: int, length: int, points: Ints) -> int:
    """Decodes into `points`; the number of them."""
    at, end, count = start, start + length, 0
    while at < end:
        if data[at] < 128:
            points[count] = data[at]
            at += 1
        else:
            point = decoded(data, at, end)
            points[count] = point >> 3
            at += point & 7
        count += 1
    return count


def within_edits(one: Ints, m: int, other: Ints, n: int, most: int) -> bool:
    """Damerau's distance, a swap of neighbours being one edit (optimal string alignment)."""
    if abs(m - n) > most:
        return False
    before = np.zeros(n + 1, np.int32)
    last = np.arange(n + 1).astype(np.int32)
    for i in range(1, m + 1):
        row = np.zeros(n + 1, np.int32)
        row[0] = i
        best = i
        for j in range(1, n + 1):
            cost = 0 if one[i - 1] == other[j - 1] else 1
            least = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost)
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                least = min(least, before[j - 2] + 1)
            row[j] = least
            best = min(best, least)
        # A swap looks two rows back.
        if best > most and last.min() + 1 > most:
            return False
        before = last
        last = row
    return bool(last[n] <= most)


def bits_of(value: np.uint64) -> int:
    """How many bits are set."""
    count = 0
    one = np.uint64(1)
    while value != _ZERO:
        value &= value - one
        count += 1
    return count


def signature(points: Ints, count: int) -> np.uint64:
    """A bit for each letter: an edit changes two of them at most."""
    found = _ZERO
    for i in range(count):
        found |= np.uint64(1) << np.uint64(int(points[i]) & 63)
    return found


def where(space: int, kind: int) -> np.uint64:
    """What the hash of an entry begins with."""
    return (np.uint64(space * KINDS + kind) ^ _SEED) * _PRIME


def enter(ints: Ints, table: Ints, text: Bytes, entry: int) -> None:
    """Puts entries into the hash table: pairs (tag, entry + 1). `ints` holds the entries.

    `entry` is how many there are; the key of each is its text without STAR and QUESTION up to its
    kind's length, given in the rows' last column.
    """
    mask = table.size // 2 - 1
    for number in range(entry):
        row = number * (ENTRY + 2)
        value = where(ints[row + ENTRY_WHERE] // KINDS, ints[row + ENTRY_WHERE] % KINDS)
        start = int(ints[row + ENTRY])
        for i in range(start, start + int(ints[row + ENTRY + 1])):
            value = (value ^ np.uint64(text[i])) * _PRIME
        value = mixed(value)
        slot = whole(value >> _HALF) & mask
        while table[2 * slot + 1] != 0:
            slot = (slot + 1) & mask
        table[2 * slot] = whole(value & np.uint64(0x7FFFFFFF))
        table[2 * slot + 1] = number + 1


def probe(
    longs: Longs, ints: Ints, text: Bytes, value: np.uint64, place: int, letters: Bytes, start: int,
    length: int, truth: Bytes, found: Ints, count: int,
) -> int:  # fmt: skip
    """Adds the leaves of all entries under one key whose whole text fits the word; the new count.

    `place` is the entry's space and kind, `value` the hash of the key, not yet mixed.
    """
    value = mixed(value)
    table = int(longs[H_TABLE])
    mask = int(longs[H_MASK])
    slot = whole(value >> _HALF) & mask
    tag = whole(value & np.uint64(0x7FFFFFFF))
    while True:
        number = ints[table + 2 * slot + 1]
        if number == 0:
            return count
        if ints[table + 2 * slot] == tag:
            row = int(longs[H_ENTRY]) + (int(number) - 1) * ENTRY
            if ints[row + ENTRY_WHERE] == place:
                at = int(ints[row + ENTRY_TEXT])
                size = int(ints[row + ENTRY_LENGTH])
                if fits(text, at, size, letters, start, length):
                    leaf = int(ints[row + ENTRY_LEAF])
                    if truth[leaf] & FOUND == 0:
                        truth[leaf] |= FOUND
                        found[count] = leaf
                        count += 1
        slot = (slot + 1) & mask


def look_up(
    longs: Longs, ints: Ints, text: Bytes, space: int, letters: Bytes, start: int, length: int,
    truth: Bytes, found: Ints, count: int,
) -> int:  # fmt: skip
    """Adds the leaves whose patterns one form of a word fits; the new count."""
    row = int(longs[H_SPACE]) + space * SPACE
    kinds = longs[row + SPACE_KINDS]
    if kinds & (1 << KIND_PREFIX):
        lengths = longs[row + SPACE_PREFIXES]
        value = where(space, KIND_PREFIX)
        for i in range(min(length, LONGEST_PREFIX)):
            value = (value ^ np.uint64(letters[start + i])) * _PRIME
            if (lengths >> (i + 1)) & 1:
                count = probe(
                    longs, ints, text, value, space * KINDS + KIND_PREFIX, letters, start, length, truth,
                    found, count,
                )  # fmt: skip
    if kinds & (1 << KIND_SUFFIX):
        lengths = longs[row + SPACE_SUFFIXES]
        for size in range(1, min(length, LONGEST_PREFIX) + 1):
            if (lengths >> size) & 1:
                value = where(space, KIND_SUFFIX)
                for i in range(start + length - size, start + length):
                    value = (value ^ np.uint64(letters[i])) * _PRIME
                count = probe(
                    longs, ints, text, value, space * KINDS + KIND_SUFFIX, letters, start, length, truth,
                    found, count,
                )  # fmt: skip
    if kinds & (1 << KIND_INFIX):
        lengths = longs[row + SPACE_INFIXES]
        for begin in range(length):
            value = where(space, KIND_INFIX)
            for i in range(begin, min(length, begin + LONGEST_INFIX)):
                value = (value ^ np.uint64(letters[start + i])) * _PRIME
                if (lengths >> (i - begin + 1)) & 1:
                    count = probe(
                        longs, ints, text, value, space * KINDS + KIND_INFIX, letters, start, length, truth,
                        found, count,
                    )  # fmt: skip
    if kinds & (1 << KIND_ANY):
        count = probe(
            longs, ints, text, where(space, KIND_ANY), space * KINDS + KIND_ANY, letters, start, length,
            truth, found, count,
        )  # fmt: skip
    return count


def fuzzy(
    longs: Longs, ints: Ints, text: Bytes, space: int, letters: Bytes, start: int, length: int, truth: Bytes,
    found: Ints, count: int,
) -> int:  # fmt: skip
    """Adds the fuzzy leaves that are near enough to the word; the new count. Rows are sorted by size."""
    head = int(longs[H_SPACE]) + space * SPACE
    first = int(longs[head + SPACE_FUZZY])
    last = int(longs[head + SPACE_FUZZY_END])
    if first == last:
        return count
    base = int(longs[H_FUZZY])
    points = np.zeros(length, np.int32)
    size = code_points(letters, start, length, points)
    if size > int(ints[base + (last - 1) * FUZZY + FUZZY_SIZE]) + 2:
        return count
    bits = signature(points, size)
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if ints[base + middle * FUZZY + FUZZY_SIZE] < size - 2:
            low = middle + 1
        else:
            high = middle
    while low < last:
        row = base + low * FUZZY
        low += 1
        if ints[row + FUZZY_SIZE] > size + 2:
            break
        most = int(ints[row + FUZZY_DISTANCE])
        if abs(int(ints[row + FUZZY_SIZE]) - size) > most:
            continue
        theirs = (np.uint64(int(ints[row + FUZZY_HIGH]) & 0xFFFFFFFF) << _HALF) | np.uint64(
            int(ints[row + FUZZY_LOW]) & 0xFFFFFFFF
        )
        if bits_of(bits ^ theirs) > 2 * most:
            continue
        other = np.zeros(int(ints[row + FUZZY_LENGTH]), np.int32)
        n = code_points(text, int(ints[row + FUZZY_TEXT]), int(ints[row + FUZZY_LENGTH]), other)
        leaf = int(ints[row + FUZZY_LEAF])
        if truth[leaf] & FOUND == 0 and within_edits(other, n, points, size, most):
            truth[leaf] |= FOUND
            found[count] = leaf
            count += 1
    return count


def child_of(longs: Longs, ints: Ints, low: int, high: int, leaf: int) -> int:
    """The state among [low, high) that is entered by a leaf; -1 where there is none. They are sorted."""
    leaves = int(longs[H_TRIE_LEAF])
    end = high
    while low < high:
        middle = (low + high) // 2
        if ints[leaves + middle] < leaf:
            low = middle + 1
        else:
            high = middle
    if low < end and ints[leaves + low] == leaf:
        return low
    return -1


def learn(
    longs: Longs, ints: Ints, text: Bytes, fields: Ints, lists: Ints, pool: Ints, truth: Bytes, found: Ints,
    rows: Ints, letters: Bytes, counters: Longs, word: int, extra: Ints,
) -> int:  # fmt: skip
    """The list of a new word, written to `pool`; 0 where it has none, -1 where there is no room.

    `extra` are leaves that were found elsewhere (regular expressions). A list is four counts, then the
    leaves that the word makes true, the states it starts, the leaves by which it continues phrases, and
    the leaves whose places are wanted.
    """
    row = word * WORD
    field = int(fields[rows[row + W_FIELD]])
    count = 0
    if field >= 0:
        place = int(longs[H_FIELD]) + field * FIELD
        for i in range(ints[place + FIELD_SPACES], ints[place + FIELD_SPACES_END]):
            space = int(ints[i])
            kinds = longs[int(longs[H_SPACE]) + space * SPACE + SPACE_KINDS]
            term, size = int(rows[row + W_TERM]), int(rows[row + W_TERM_LENGTH])
            if kinds & (1 << KIND_WORD):
                value = where(space, KIND_WORD)
                for j in range(term, term + size):
                    value = (value ^ np.uint64(letters[j])) * _PRIME
                count = probe(
                    longs, ints, text, value, space * KINDS + KIND_WORD, letters, term, size, truth, found,
                    count,
                )  # fmt: skip
            if kinds & (1 << KIND_EXACT):
                exact, length = int(rows[row + W_EXACT]), int(rows[row + W_EXACT_LENGTH])
                value = where(space, KIND_EXACT)
                for j in range(exact, exact + length):
                    value = (value ^ np.uint64(letters[j])) * _PRIME
                count = probe(
                    longs, ints, text, value, space * KINDS + KIND_EXACT, letters, exact, length, truth,
                    found, count,
                )  # fmt: skip
            count = look_up(longs, ints, text, space, letters, term, size, truth, found, count)
            fold, length = int(rows[row + W_FOLD]), int(rows[row + W_FOLD_LENGTH])
            count = fuzzy(longs, ints, text, space, letters, fold, length, truth, found, count)
            if fold != term:
                count = look_up(longs, ints, text, space, letters, fold, length, truth, found, count)
            lower = int(rows[row + W_LOWER])
            if lower != fold:
                length = int(rows[row + W_LOWER_LENGTH])
                count = look_up(longs, ints, text, space, letters, lower, length, truth, found, count)
        for i in range(extra.size):
            leaf = int(extra[i])
            if truth[leaf] & FOUND == 0:
                truth[leaf] |= FOUND
                found[count] = leaf
                count += 1
    for i in range(count):
        truth[found[i]] &= 255 - FOUND
    if count == 0:
        lists[word] = 0
        return 0
    start = int(counters[C_POOL])
    if start + 4 + 4 * count > pool.size:
        return -1
    use = int(longs[H_USE])
    at = start + 4
    for i in range(count):
        if ints[use + found[i]] & USE_TRUE:
            pool[at] = found[i]
            at += 1
    pool[start] = at - start - 4
    before = at
    roots = int(longs[H_ROOTS])
    for i in range(count):
        if ints[use + found[i]] & USE_START:
            pool[at] = child_of(longs, ints, 0, roots, found[i])
            at += 1
    pool[start + 1] = at - before
    before = at
    for i in range(count):
        if ints[use + found[i]] & USE_CONTINUE:
            pool[at] = found[i]
            at += 1
    pool[start + 2] = at - before
    before = at
    for i in range(count):
        if ints[use + found[i]] & USE_PLACES:
            pool[at] = found[i]
            at += 1
    pool[start + 3] = at - before
    counters[C_POOL] = at
    lists[word] = start
    return start


def learn_all(
    longs: Longs, ints: Ints, text: Bytes, fields: Ints, lists: Ints, pool: Ints, truth: Bytes,
    scratch: Ints, rows: Ints, letters: Bytes, counters: Longs, words: Ints, extra: Ints, ends: Ints,
) -> int:  # fmt: skip
    """Learns words with leaves found elsewhere: those of word i end at `ends[i]`. How many were learnt."""
    found = scratch[int(longs[H_LEAVES]) :]
    begin = 0
    for i in range(words.size):
        list_ = learn(
            longs, ints, text, fields, lists, pool, truth, found, rows, letters, counters, words[i],
            extra[begin : ends[i]],
        )  # fmt: skip
        if list_ < 0:
            return i
        begin = int(ends[i])
    return int(words.size)


def stamp(leaf: int, truth: Bytes, touched: Ints, counters: Longs) -> None:
    """Makes a leaf true for this document."""
    if truth[leaf] == 0:
        touched[counters[C_TOUCHED]] = leaf
        counters[C_TOUCHED] += 1
    truth[leaf] |= TRUE


def put(leaf: int, position: int, truth: Bytes, scratch: Ints, last: int, log: Ints, counters: Longs) -> bool:
    """Notes where a leaf stands, in a chain from its last place to its first; False without room.

    `last` is where in `scratch` the ends of chains are.
    """
    size = int(counters[C_LOG])
    if 2 * size + 2 > log.size:
        return False
    if truth[leaf] & PLACED == 0:
        if truth[leaf] == 0:
            scratch[counters[C_TOUCHED]] = leaf
            counters[C_TOUCHED] += 1
        truth[leaf] |= PLACED
        scratch[last + leaf] = -1
    log[2 * size] = position
    log[2 * size + 1] = scratch[last + leaf]
    scratch[last + leaf] = size
    counters[C_LOG] = size + 1
    return True


def walk(
    longs: Longs, ints: Ints, text: Bytes, fields: Ints, lists: Ints, pool: Ints, truth: Bytes,
    scratch: Ints, rows: Ints, letters: Bytes, seen: Ints, tokens: Ints, runs: Longs, states: Ints,
    log: Ints, borders: Ints, counters: Longs,
) -> int:  # fmt: skip
    """The leaves that the words of one document make true, and where those stand whose places are wanted.

    Begins at the run C_RUN and leaves the next document's first run there.
    """
    leaves = int(longs[H_LEAVES])
    last = 2 * leaves
    first_child = int(longs[H_TRIE_FIRST])
    accepts = int(longs[H_TRIE_ACCEPT])
    units = longs[H_UNITS] != 0
    document = counters[C_DOCUMENT]
    moment = np.int32(counters[C_STAMP])
    run = int(counters[C_RUN])
    limit = states.size // 2
    third = borders.size // 3
    here, there = 0, limit
    active = 0
    before = -1
    position = -1
    while run * RUN < runs.size and runs[run * RUN + RUN_DOCUMENT] == document:
        row = run * RUN
        run += 1
        field = int(fields[runs[row + RUN_FIELD]])
        if field < 0:
            continue
        place = int(longs[H_FIELD]) + field * FIELD
        active = 0
        if field != before:
            if before >= 0:
                position += FIELD_GAP
            before = field
            borders[counters[C_BORDERS]] = position + 1
            counters[C_BORDERS] += 1
            present = int(ints[place + FIELD_PRESENT])
            if present >= 0:
                stamp(present, truth, scratch, counters)
        else:
            position += VALUE_GAP
        if position > LAST_POSITION:
            return TOO_LONG
        if units:
            borders[third + counters[C_SENTENCES]] = position + 1
            counters[C_SENTENCES] += 1
            borders[2 * third + counters[C_PARAGRAPHS]] = position + 1
            counters[C_PARAGRAPHS] += 1
        for at in range(runs[row + RUN_START], runs[row + RUN_END]):
            word = int(tokens[at])
            if word < 0:
                if units:
                    borders[third + counters[C_SENTENCES]] = position + 1
                    counters[C_SENTENCES] += 1
                    if word == PARAGRAPH_END:
                        borders[2 * third + counters[C_PARAGRAPHS]] = position + 1
                        counters[C_PARAGRAPHS] += 1
                continue
            position += 1
            list_ = int(lists[word])
            if list_ <= 0:
                if list_ == 0:
                    active = 0
                    continue
                list_ = learn(
                    longs, ints, text, fields, lists, pool, truth, scratch[leaves:], rows, letters, counters,
                    word, borders[:0],
                )  # fmt: skip
                if list_ == 0:
                    active = 0
                    continue
                if list_ < 0:
                    return NEED_POOL
            truths = int(pool[list_])
            starts = int(pool[list_ + 1])
            goes_on = int(pool[list_ + 2])
            places = int(pool[list_ + 3])
            item = list_ + 4
            if truths > 0:
                if seen[word] != moment:
                    seen[word] = moment
                    for i in range(item, item + truths):
                        leaf = int(pool[i])
                        if truth[leaf] == 0:
                            scratch[counters[C_TOUCHED]] = leaf
                            counters[C_TOUCHED] += 1
                        truth[leaf] |= TRUE
                item += truths
            if starts + active > 0:
                next_active = 0
                if active > 0 and goes_on > 0:
                    begin = item + starts
                    for j in range(here, here + active):
                        state = int(states[j])
                        low = int(ints[first_child + state])
                        high = int(ints[first_child + state + 1])
                        for i in range(begin, begin + goes_on):
                            child = child_of(longs, ints, low, high, int(pool[i]))
                            if child < 0:
                                continue
                            leaf = int(ints[accepts + child])
                            if leaf >= 0:
                                stamp(leaf, truth, scratch, counters)
                                if ints[int(longs[H_USE]) + leaf] & USE_PLACES and not put(
                                    leaf, position, truth, scratch, last, log, counters
                                ):
                                    return NEED_LOG
                            if ints[first_child + child] < ints[first_child + child + 1]:
                                if next_active >= limit:
                                    return NEED_STATES
                                states[there + next_active] = child
                                next_active += 1
                if next_active + starts > limit:
                    return NEED_STATES
                for i in range(item, item + starts):
                    states[there + next_active] = pool[i]
                    next_active += 1
                active = next_active
                here, there = there, here
            item += starts + goes_on
            for i in range(item, item + places):
                if not put(int(pool[i]), position, truth, scratch, last, log, counters):
                    return NEED_LOG
    counters[C_RUN] = run
    return DONE


def stab(
    longs: Longs, ints: Ints, fields: Ints, values: Longs, truth: Bytes, scratch: Ints, counters: Longs
) -> None:
    """The leaves of ranges that the numbers, dates and addresses of one document lie in.

    Points are sorted pairs of longs; between them and on them lie 2 n + 1 elementary intervals, the
    leaves of a segment tree (Bentley 1977) whose nodes list the ranges that cover them.
    """
    value = int(counters[C_VALUE])
    while value * VALUE < values.size and values[value * VALUE] == counters[C_DOCUMENT]:
        row = value * VALUE
        value += 1
        field = int(fields[values[row + VALUE_FIELD]])
        if field < 0:
            continue
        place = int(longs[H_FIELD]) + field * FIELD
        present = int(ints[place + FIELD_PRESENT])
        if present >= 0:
            stamp(present, truth, scratch, counters)
        points = int(ints[place + FIELD_POINTS])
        count = int(ints[place + FIELD_POINT_COUNT])
        if count == 0:
            continue
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            one, two = longs[points + 2 * middle], longs[points + 2 * middle + 1]
            if one < values[row + VALUE_HIGH] or (
                one == values[row + VALUE_HIGH] and two < values[row + VALUE_LOW]
            ):
                low = middle + 1
            else:
                high = middle
        interval = 2 * low
        if (
            low < count
            and longs[points + 2 * low] == values[row + VALUE_HIGH]
            and longs[points + 2 * low + 1] == values[row + VALUE_LOW]
        ):
            interval += 1
        tree = int(ints[place + FIELD_TREE])
        node = int(ints[place + FIELD_TREE_SIZE]) + interval
        while node >= 1:
            for i in range(ints[tree + node], ints[tree + node + 1]):
                stamp(int(ints[i]), truth, scratch, counters)
            node >>= 1
    counters[C_VALUE] = value


def forget(longs: Longs, truth: Bytes, scratch: Ints, counters: Longs) -> None:
    """Makes everything about a document untrue again."""
    for i in range(counters[C_TOUCHED]):
        truth[scratch[i]] = 0
    counters[C_TOUCHED] = 0
    memo = 3 * int(longs[H_LEAVES])
    settled = memo + 3 * int(longs[H_NODES])
    for i in range(counters[C_STEPS]):
        scratch[memo + 3 * scratch[settled + i]] = 0
    counters[C_STEPS] = 0
    counters[C_LOG] = 0
    counters[C_SPANS] = 0
    counters[C_BORDERS] = 0
    counters[C_SENTENCES] = 0
    counters[C_PARAGRAPHS] = 0


def first_from(spans: Longs, low: int, high: int, start: int) -> int:
    """The first span of a sorted list that begins at a position or behind it."""
    key = np.int64(start) << 32
    while low < high:
        middle = (low + high) // 2
        if spans[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


def pair_up(
    spans: Longs, one: int, one_end: int, other: int, other_end: int, distance: int, inner: bool,
    counters: Longs, begin: int,
) -> int:  # fmt: skip
    """Encloses a span of the first list and one of the second that follows within the distance.

    Appends the enclosing spans and gives DONE; without `inner` the first one is enough.
    """
    for i in range(one, one_end):
        start, end = spans[i] >> 32, spans[i] & 0xFFFFFFFF
        j = first_from(spans, other, other_end, end + 1)
        while j < other_end and (spans[j] >> 32) <= end + 1 + distance:
            if counters[C_SPANS] >= spans.size or counters[C_SPANS] - begin > counters[C_BUDGET]:
                return no_room(spans, counters, begin)
            spans[counters[C_SPANS]] = (start << 32) | (spans[j] & 0xFFFFFFFF)
            counters[C_SPANS] += 1
            if not inner:
                return DONE
            j += 1
    return DONE


def no_room(spans: Longs, counters: Longs, begin: int) -> int:
    """Whether more room would help a node whose spans begin there, or its budget is used up."""
    most = counters[C_BUDGET]
    if counters[C_SPANS] - begin > most or spans.size >= 8 * most:
        return OVER_BUDGET
    return NEED_SPANS


def tidied(spans: Longs, begin: int, end: int) -> int:
    """Sorts a list of spans and drops repetitions; its new end."""
    spans[begin:end].sort()
    kept = begin
    for i in range(begin, end):
        if i == begin or spans[i] != spans[kept - 1]:
            spans[kept] = spans[i]
            kept += 1
    return kept


def own_words(
    spans: Longs, ends: Longs, heads: Longs, parts: int, highest: np.int64, low: np.int64, counters: Longs
) -> bool:
    """Whether parts can take different words, each from its head on and shifted to at most `highest`.

    A matching of parts and positions by augmenting paths (Kuhn 1955). `low` is the least shift.
    """
    base = low
    size = highest - low + parts + 1
    owner = np.full(size, -1, np.int64)
    wanted_by = np.full(size, -1, np.int64)
    held = np.full(parts, -1, np.int64)
    waiting = np.zeros(parts + 1, np.int64)
    for newcomer in range(parts):
        wanted_by[:] = -1
        waiting[0] = newcomer
        first, count = 0, 1
        free = -1
        while first < count and free < 0:
            part = waiting[first]
            first += 1
            i = heads[part]
            while i < ends[part]:
                position = spans[i] >> 32
                i += 1
                counters[C_WORK] += 1
                if position - part > highest:
                    break
                place = position - base
                if wanted_by[place] >= 0:
                    continue
                wanted_by[place] = part
                if owner[place] < 0:
                    free = place
                    break
                waiting[count] = owner[place]
                count += 1
        if free < 0:
            return False
        while free >= 0:
            part = wanted_by[free]
            owner[free] = part
            following = held[part]
            held[part] = free
            free = following
    return True


def stand_together(spans: Longs, starts: Longs, ends: Longs, slop: int, counters: Longs) -> bool:
    """Whether a word can be taken from each part, all different, with a small enough spread.

    The spread is that of (position - index of the part), as Lucene's sloppy phrases count. The narrowest
    windows are looked at from the left, each beginning at one shifted position.
    """
    parts = starts.size
    heads = starts.copy()
    while True:
        counters[C_WORK] += parts
        low, high, first = np.int64(1) << 40, np.int64(-1) << 40, 0
        for part in range(parts):
            shifted = (spans[heads[part]] >> 32) - part
            if shifted < low:
                low, first = shifted, part
            high = max(high, shifted)
        if high <= low + slop:
            apart = True
            for part in range(parts):
                for other in range(part):
                    if spans[heads[part]] == spans[heads[other]]:
                        apart = False
            if apart or own_words(spans, ends, heads, parts, low + slop, low, counters):
                return True
        heads[first] += 1
        if heads[first] == ends[first]:
            return False


def all_together(spans: Longs, starts: Longs, ends: Longs, slop: int, counters: Longs, begin: int) -> int:
    """Appends the span of every way in which `stand_together` holds; DONE, or what is missing."""
    parts = starts.size
    heads = np.zeros(parts, np.int64)
    taken = np.zeros(parts, np.int64)
    low = np.zeros(parts + 1, np.int64)
    high = np.zeros(parts + 1, np.int64)
    low[0], high[0] = np.int64(1) << 40, np.int64(-1) << 40
    heads[0] = starts[0]
    depth = 0
    steps = 0
    while depth >= 0:
        steps += 1
        counters[C_WORK] += 1
        if steps > 8 * counters[C_BUDGET]:
            return OVER_BUDGET
        if heads[depth] >= ends[depth]:
            depth -= 1
            if depth >= 0:
                heads[depth] += 1
            continue
        position = spans[heads[depth]] >> 32
        shifted = position - depth
        if depth > 0 and shifted > low[depth] + slop:
            heads[depth] = ends[depth]
            continue
        free = depth == 0 or shifted >= high[depth] - slop
        for other in range(depth):
            if taken[other] == position:
                free = False
        if not free:
            heads[depth] += 1
            continue
        taken[depth] = position
        low[depth + 1] = min(low[depth], shifted)
        high[depth + 1] = max(high[depth], shifted)
        if depth + 1 < parts:
            depth += 1
            reach = high[depth] - slop + depth
            heads[depth] = first_from(spans, starts[depth], ends[depth], max(reach, 0))
            continue
        if counters[C_SPANS] >= spans.size or counters[C_SPANS] - begin > counters[C_BUDGET]:
            return no_room(spans, counters, begin)
        spans[counters[C_SPANS]] = (taken.min() << 32) | taken.max()
        counters[C_SPANS] += 1
        heads[depth] += 1
    return DONE


def border_of(borders: Ints, low: int, high: int, position: int) -> int:
    """The last border at or before a position."""
    while high - low > 1:
        middle = (low + high) // 2
        if borders[middle] <= position:
            low = middle
        else:
            high = middle
    return low


def units_of(spans: Longs, start: int, end: int, borders: Ints, low: int, high: int, target: int) -> int:
    """Writes the sentences or paragraphs in which whole spans lie, ascending; how many there are."""
    count = 0
    for i in range(start, end):
        unit = border_of(borders, low, high, spans[i] >> 32)
        if unit != border_of(borders, low, high, spans[i] & 0xFFFFFFFF):
            continue
        if count == 0 or spans[target + count - 1] != unit:
            spans[target + count] = unit
            count += 1
    return count


def worked_out(
    longs: Longs, ints: Ints, truth: Bytes, scratch: Ints, log: Ints, spans: Longs, borders: Ints,
    counters: Longs, row: int, begin: int,
) -> int:  # fmt: skip
    """Appends the spans of one node, whose operands are worked out; DONE, or what is missing."""
    memo = 3 * int(longs[H_LEAVES])
    kind = int(ints[row + N_KIND])
    inner = ints[row + N_INNER] != 0
    first, operands = int(ints[row + N_FIRST]), int(ints[row + N_COUNT])
    a, b = int(ints[row + N_A]), int(ints[row + N_B])
    if kind == NODE_LEAF:
        if truth[a] & PLACED == 0:
            return DONE
        count = 0
        at = int(scratch[2 * int(longs[H_LEAVES]) + a])
        while at >= 0:
            count += 1
            at = int(log[2 * at + 1])
        if begin + count > spans.size:
            return no_room(spans, counters, begin)
        counters[C_SPANS] = begin + count
        at = int(scratch[2 * int(longs[H_LEAVES]) + a])
        while at >= 0:
            count -= 1
            position = np.int64(log[2 * at])
            spans[begin + count] = ((position - b + 1) << 32) | position
            at = int(log[2 * at + 1])
        return DONE
    for i in range(first, first + operands):
        counters[C_WORK] += scratch[memo + 3 * int(ints[i]) + 2]
    one = memo + 3 * int(ints[first])
    start, end = int(scratch[one + 1]), int(scratch[one + 1] + scratch[one + 2])
    if kind == NODE_OR:
        for i in range(first, first + operands):
            child = memo + 3 * int(ints[i])
            low, size = int(scratch[child + 1]), int(scratch[child + 2])
            if counters[C_SPANS] + size > spans.size:
                return no_room(spans, counters, begin)
            for j in range(low, low + size):
                spans[counters[C_SPANS]] = spans[j]
                counters[C_SPANS] += 1
        return DONE
    if kind == NODE_NEAR:
        two = memo + 3 * int(ints[first + 1])
        other, other_end = int(scratch[two + 1]), int(scratch[two + 1] + scratch[two + 2])
        status = pair_up(spans, start, end, other, other_end, a, inner, counters, begin)
        if status == DONE and b == 0 and (inner or counters[C_SPANS] == begin):
            status = pair_up(spans, other, other_end, start, end, a, inner, counters, begin)
        return status
    if kind == NODE_SLOP:
        starts = np.zeros(operands, np.int64)
        ends = np.zeros(operands, np.int64)
        for i in range(operands):
            child = memo + 3 * int(ints[first + i])
            starts[i] = scratch[child + 1]
            ends[i] = scratch[child + 1] + scratch[child + 2]
        if inner:
            return all_together(spans, starts, ends, a, counters, begin)
        if stand_together(spans, starts, ends, a, counters):
            counters[C_SPANS] += 1
        return DONE
    if begin + 2 * (end - start) + 2 > spans.size:
        return no_room(spans, counters, begin)
    if kind == NODE_NOT_NEAR:
        two = memo + 3 * int(ints[first + 1])
        other, size = int(scratch[two + 1]), int(scratch[two + 2])
        if begin + size + (end - start) > spans.size:
            return no_room(spans, counters, begin)
        # The greatest end among the spans up to each.
        reach = begin + end - start
        for i in range(size):
            far = spans[other + i] & 0xFFFFFFFF
            spans[reach + i] = far if i == 0 else max(far, spans[reach + i - 1])
        for i in range(start, end):
            low, high = spans[i] >> 32, spans[i] & 0xFFFFFFFF
            behind = first_from(spans, other, other + size, high + a + 1) - other
            if behind == 0 or spans[reach + behind - 1] < low - a:
                spans[counters[C_SPANS]] = spans[i]
                counters[C_SPANS] += 1
                if not inner:
                    break
        return DONE
    if kind == NODE_AT_LEAST:
        field, count = -1, 0
        for i in range(start, end):
            found = border_of(borders, 0, int(counters[C_BORDERS]), spans[i] >> 32)
            count = count + 1 if found == field else 1
            field = found
            if count >= a:
                counters[C_SPANS] += 1
                break
        return DONE
    if kind == NODE_FIRST:
        for i in range(start, end):
            found = border_of(borders, 0, int(counters[C_BORDERS]), spans[i] >> 32)
            if (spans[i] & 0xFFFFFFFF) - borders[found] < a:
                counters[C_SPANS] += 1
                break
        return DONE
    # NODE_TOGETHER: the units of the first operand, as far as all others have them too.
    third = borders.size // 3
    low = third if a == SENTENCE else 2 * third
    high = low + int(counters[C_SENTENCES] if a == SENTENCE else counters[C_PARAGRAPHS])
    count = units_of(spans, start, end, borders, low, high, begin)
    for i in range(first + 1, first + operands):
        child = memo + 3 * int(ints[i])
        other, size = int(scratch[child + 1]), int(scratch[child + 2])
        if begin + count + size > spans.size:
            return no_room(spans, counters, begin)
        theirs = units_of(spans, other, other + size, borders, low, high, begin + count)
        kept, j = 0, begin + count
        for k in range(begin, begin + count):
            while j < begin + count + theirs and spans[j] < spans[k]:
                j += 1
            if j < begin + count + theirs and spans[j] == spans[k]:
                spans[begin + kept] = spans[k]
                kept += 1
        count = kept
    if count > 0:
        counters[C_SPANS] = begin + 1
    return DONE


def settle(
    longs: Longs, ints: Ints, truth: Bytes, scratch: Ints, log: Ints, spans: Longs, borders: Ints,
    counters: Longs, wanted: int,
) -> int:  # fmt: skip
    """Whether a positional node is true on the document: 1, 0, or what is missing (negative).

    Operands come first, and every node is worked out once in a document. A list of spans is sorted and
    has start << 32 | end; a node that is no operand stops at its first span.
    """
    memo = 3 * int(longs[H_LEAVES])
    stack = memo + 4 * int(longs[H_NODES])
    rows = int(longs[H_NODE])
    known = scratch[memo + 3 * wanted]
    if known == 1:
        return 1 if scratch[memo + 3 * wanted + 2] > 0 else 0
    if known == 2:
        return -OVER_BUDGET
    scratch[stack] = wanted
    depth = 1
    while depth > 0:
        node = int(scratch[stack + depth - 1])
        row = rows + node * NODE
        kind = int(ints[row + N_KIND])
        inner = ints[row + N_INNER] != 0
        first, operands = int(ints[row + N_FIRST]), int(ints[row + N_COUNT])
        status = -1
        begin = int(counters[C_SPANS])
        for i in range(first, first + operands):
            child = memo + 3 * int(ints[i])
            if scratch[child] == 0:
                scratch[stack + depth] = ints[i]
                depth += 1
                status = -2
                break
            if scratch[child] == 2:
                status = OVER_BUDGET
            elif scratch[child + 2] == 0:
                if kind != NODE_OR and not (kind == NODE_NOT_NEAR and i > first):
                    status = DONE
                    break
            elif kind == NODE_OR and not inner:
                counters[C_SPANS] += 1
                status = DONE
                break
        if status == -2:
            continue
        if status == -1:
            status = worked_out(longs, ints, truth, scratch, log, spans, borders, counters, row, begin)
        if status == NEED_SPANS:
            return -NEED_SPANS
        end = int(counters[C_SPANS])
        if status == DONE and end > begin + 1 and kind != NODE_LEAF:
            end = tidied(spans, begin, end)
        counters[C_SPANS] = end
        here = memo + 3 * node
        scratch[here] = 1 if status == DONE else 2
        scratch[here + 1] = begin
        scratch[here + 2] = end - begin
        scratch[memo + 3 * int(longs[H_NODES]) + counters[C_STEPS]] = node
        counters[C_STEPS] += 1
        counters[C_WORK] += operands + end - begin
        depth -= 1
    if scratch[memo + 3 * wanted] == 2:
        return -OVER_BUDGET
    return 1 if scratch[memo + 3 * wanted + 2] > 0 else 0


def code_truth(
    longs: Longs, ints: Ints, truth: Bytes, scratch: Ints, log: Ints, spans: Longs, borders: Ints,
    counters: Longs, at: int, tallies: Ints,
) -> int:  # fmt: skip
    """Runs jump code: 1, 0, or what is missing to know it (negative)."""
    leaves = int(longs[H_LEAVES])
    steps = 0
    while True:
        steps += 1
        test = int(ints[at])
        if test >= 0:
            if test < leaves:
                at = int(ints[at + 1]) if truth[test] & TRUE else int(ints[at + 2])
            else:
                known = settle(longs, ints, truth, scratch, log, spans, borders, counters, test - leaves)
                if known < 0:
                    counters[C_WORK] += steps
                    return known
                at = int(ints[at + 1]) if known > 0 else int(ints[at + 2])
        else:
            register = (-1 - test) // 2
            if (-1 - test) % 2 == 0:
                tallies[register] = ints[at + 2]
                at = int(ints[at + 1])
            else:
                tallies[register] -= 1
                at = int(ints[at + 1]) if tallies[register] <= 0 else int(ints[at + 2])
        if at < 0:
            counters[C_WORK] += steps
            return 1 if at == GO_TRUE else 0
        at += int(longs[H_CODE])


def in_order(keys: Longs, start: int, end: int, queries: int) -> None:
    """Sorts keys that differ in their query alone: by digits of eleven bits, where they are many."""
    count = end - start
    if count < 128:
        keys[start:end].sort()
        return
    other = np.empty(count, np.int64)
    tally = np.zeros(2049, np.int64)
    shift = 0
    here = keys[start:end]
    there = other
    while queries >> shift > 0:
        tally[:] = 0
        for i in range(count):
            tally[((here[i] >> shift) & 2047) + 1] += 1
        for i in range(2047):
            tally[i + 1] += tally[i]
        for i in range(count):
            digit = (here[i] >> shift) & 2047
            there[tally[digit]] = here[i]
            tally[digit] += 1
        here, there = there, here
        shift += 11
    if (shift // 11) % 2 == 1:
        keys[start:end] = other


def offer(
    longs: Longs, ints: Ints, truth: Bytes, scratch: Ints, log: Ints, spans: Longs, borders: Ints,
    marks: Bytes, hits: Longs, doubts: Longs, counters: Longs, tallies: Ints, spent: Longs,
) -> int:  # fmt: skip
    """The queries that one document hits, from its true leaves; `hits` gets document << 32 | query.

    While COUNTING, `spent` gets by query the work that it made: one for each look at it and each step.
    """
    postings = int(longs[H_POSTINGS])
    posted = int(longs[H_POSTED])
    code = int(longs[H_CODE])
    document = counters[C_DOCUMENT] << 32
    first_hit = counters[C_HITS]
    first_doubt = counters[C_DOUBTS]
    counting = counters[C_MODE] == COUNTING
    status = DONE
    count = int(counters[C_TOUCHED])
    for i in range(count):
        leaf = int(scratch[i])
        if truth[leaf] & TRUE == 0:
            continue
        start = int(ints[postings + leaf])
        end = int(ints[postings + leaf + 1])
        for at in range(posted + 2 * start, posted + 2 * end, 2):
            if counting:
                query = int(ints[at + 1])
                spent[query if query >= 0 else ints[code - query - 1]] += 1
            if truth[ints[at]] & TRUE == 0:
                continue
            query = int(ints[at + 1])
            if query < 0:
                place = code - query - 1
                query = int(ints[place])
                if marks[query] & (HIT | KILLED):
                    continue
                before = counters[C_WORK]
                known = code_truth(
                    longs, ints, truth, scratch, log, spans, borders, counters, place + 1, tallies
                )
                if counting:
                    spent[query] += counters[C_WORK] - before
                if known == 0:
                    continue
                if known == -NEED_SPANS:
                    status = NEED_SPANS
                    break
                if known < 0:
                    if marks[query] & DOUBTED == 0:
                        if counters[C_DOUBTS] >= doubts.size:
                            status = NEED_HITS
                            break
                        marks[query] |= DOUBTED
                        doubts[counters[C_DOUBTS]] = document | query
                        counters[C_DOUBTS] += 1
                    continue
            elif marks[query] & (HIT | KILLED):
                continue
            if counters[C_HITS] >= hits.size:
                status = NEED_HITS
                break
            marks[query] |= HIT
            hits[counters[C_HITS]] = document | query
            counters[C_HITS] += 1
        if status != DONE:
            break
    kept = first_doubt
    for i in range(first_doubt, counters[C_DOUBTS]):
        query = int(doubts[i] & 0xFFFFFFFF)
        marks[query] &= 255 - DOUBTED
        if marks[query] & HIT == 0:
            doubts[kept] = doubts[i]
            kept += 1
    for i in range(first_hit, counters[C_HITS]):
        marks[hits[i] & 0xFFFFFFFF] &= 255 - HIT
    if status != DONE:
        counters[C_HITS] = first_hit
        counters[C_DOUBTS] = first_doubt
        return status
    counters[C_DOUBTS] = kept
    in_order(hits, first_hit, int(counters[C_HITS]), int(longs[H_QUERIES]))
    doubts[first_doubt:kept].sort()
    return DONE


def match(
    longs: Longs, ints: Ints, text: Bytes, fields: Ints, lists: Ints, pool: Ints, truth: Bytes,
    scratch: Ints, marks: Bytes, rows: Ints, letters: Bytes, seen: Ints, tokens: Ints, runs: Longs,
    values: Longs, states: Ints, log: Ints, spans: Longs, borders: Ints, hits: Longs, doubts: Longs,
    counters: Longs, spent: Longs, documents: int,
) -> None:  # fmt: skip
    """The hits of one segment in the documents C_DOCUMENT up to `documents`, in order, as C_MODE says.

    `runs` and `values` are in order of documents. Stops before a document for which something is too
    small, with what is to be enlarged in C_STATUS.
    """
    counters[C_STATUS] = DONE
    tallies = np.zeros(COUNTERS, np.int32)
    while counters[C_DOCUMENT] < documents:
        run, value = counters[C_RUN], counters[C_VALUE]
        counters[C_STAMP] += 1
        stamp(0, truth, scratch, counters)
        status = walk(
            longs, ints, text, fields, lists, pool, truth, scratch, rows, letters, seen, tokens, runs,
            states, log, borders, counters,
        )  # fmt: skip
        if status == DONE:
            stab(longs, ints, fields, values, truth, scratch, counters)
            if counters[C_MODE] != WALKING:
                status = offer(
                    longs, ints, truth, scratch, log, spans, borders, marks, hits, doubts, counters, tallies,
                    spent,
                )  # fmt: skip
        forget(longs, truth, scratch, counters)
        if status != DONE:
            counters[C_STATUS] = status
            counters[C_RUN], counters[C_VALUE] = run, value
            return
        counters[C_DOCUMENT] += 1


def wanted_leaves(longs: Longs, truth: Bytes, scratch: Ints, code: Ints, chosen: Ints) -> int:
    """Marks the leaves that some code of highlights asks for, and lists them in `scratch`; how many."""
    leaves = int(longs[H_LEAVES])
    count = 0
    for number in range(chosen.size):
        at = int(chosen[number]) + 1
        while code[at + SHOW_KIND] != SHOW_END:
            following = at + int(code[at + SHOW_SIZE])
            if code[at + SHOW_KIND] == SHOW_WORDS:
                for i in range(at + SHOW_LEAVES, following):
                    leaf = int(code[i])
                    if truth[leaf] & WANTED == 0:
                        truth[leaf] |= WANTED
                        scratch[count] = leaf
                        scratch[leaves + leaf] = -1
                        scratch[2 * leaves + leaf] = 0
                        count += 1
            at = following
    return count


def words_of_leaves(
    longs: Longs, ints: Ints, fields: Ints, lists: Ints, pool: Ints, truth: Bytes, scratch: Ints,
    tokens: Ints, runs: Longs, owners: Ints, places: Ints, counters: Longs, wanted: int,
) -> Ints:  # fmt: skip
    """The words (numbers of tokens) of each wanted leaf, ascending, one leaf's behind the other's.

    Those of a leaf end at its place in the second part of `scratch`; the third tells how many there are.
    `owners` gets the field of each token, `places` its position. C_STATUS tells of words not learnt.
    """
    leaves = int(longs[H_LEAVES])
    entered = int(longs[H_TRIE_LEAF])
    log = np.empty(1024, np.int32)
    size = 0
    position = 0
    field = -1
    for run in range(0, runs.size, RUN):
        position += VALUE_GAP
        field = int(fields[runs[run + RUN_FIELD]])
        for token in range(runs[run + RUN_START], runs[run + RUN_END]):
            owners[token] = runs[run + RUN_FIELD]
            places[token] = position
            position += 1
            list_ = int(lists[tokens[token]])
            if field < 0 or list_ == 0:
                continue
            if list_ < 0:
                counters[C_STATUS] = NEED_WORDS
                return log
            before = list_ + 4 + int(pool[list_])
            behind = before + int(pool[list_ + 1])
            end = behind + int(pool[list_ + 2]) + int(pool[list_ + 3])
            if 2 * (size + end - list_) > log.size:
                more = np.empty(2 * log.size + 2 * (end - list_), np.int32)
                more[: 2 * size] = log[: 2 * size]
                log = more
            for at in range(list_ + 4, end):
                leaf = int(ints[entered + int(pool[at])]) if before <= at < behind else int(pool[at])
                # A word may have a leaf in several lists.
                if truth[leaf] & WANTED and scratch[leaves + leaf] != token:
                    scratch[leaves + leaf] = token
                    scratch[2 * leaves + leaf] += 1
                    log[2 * size] = leaf
                    log[2 * size + 1] = token
                    size += 1
    start = 0
    for i in range(wanted):
        leaf = int(scratch[i])
        scratch[leaves + leaf] = start
        start += int(scratch[2 * leaves + leaf])
    found = np.empty(size, np.int32)
    for i in range(size):
        leaf = int(log[2 * i])
        found[scratch[leaves + leaf]] = log[2 * i + 1]
        scratch[leaves + leaf] += 1
    return found


def code_point_edges(data: Bytes, pieces: Longs, bases: Longs, edges: Ints, runs: Longs) -> None:
    """Makes of bytes in `edges` code points; `bases` has, by piece, the first and how many there are."""
    for piece in range(pieces.size // PIECE):
        at = int(pieces[piece * PIECE + PIECE_START])
        point = int(bases[2 * piece])
        first = EDGE * int(runs[piece * RUN + RUN_START])
        behind = EDGE * int(runs[piece * RUN + RUN_END])
        if bases[2 * piece + 1] == pieces[piece * PIECE + PIECE_END] - at:
            for i in range(first, behind):
                edges[i] += point - at
            continue
        for i in range(first, behind, EDGE):
            while at < edges[i + EDGE_START]:
                if data[at] & 0xC0 != 0x80:
                    point += 1
                at += 1
            first_end = point
            end = point
            for j in range(at, edges[i + EDGE_END]):
                if data[j] & 0xC0 != 0x80:
                    end += 1
                    if j < edges[i + EDGE_FIRST_END]:
                        first_end += 1
            edges[i + EDGE_START] = point
            edges[i + EDGE_END] = end
            edges[i + EDGE_FIRST_END] = first_end


def has_word(words: Ints, scratch: Ints, leaves: int, leaf: int, token: int) -> bool:
    """Whether a leaf is true of a token."""
    end = int(scratch[leaves + leaf])
    low = end - int(scratch[2 * leaves + leaf])
    high = end
    while low < high:
        middle = (low + high) // 2
        if words[middle] < token:
            low = middle + 1
        else:
            high = middle
    return bool(low < end and words[low] == token)


def in_short_order(keys: Longs, start: int, end: int) -> None:
    """Sorts keys, of which most stand in order already."""
    if end - start > 64:
        keys[start:end].sort()
        return
    for i in range(start + 1, end):
        key = keys[i]
        j = i
        while j > start and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key


def each_once(keys: Longs, which: Ints) -> Longs:
    """The keys, each once; `which` gets the number of each."""
    slots = 16
    while slots < 2 * keys.size:
        slots *= 2
    table = np.full(slots, -1, np.int32)
    found = np.empty(keys.size, np.int64)
    count = 0
    for i in range(keys.size):
        slot = whole(mixed(np.uint64(keys[i])) >> _HALF) & (slots - 1)
        while table[slot] >= 0 and found[table[slot]] != keys[i]:
            slot = (slot + 1) & (slots - 1)
        if table[slot] < 0:
            table[slot] = count
            found[count] = keys[i]
            count += 1
        which[i] = table[slot]
    return found[:count].copy()


def shown(
    longs: Longs, ints: Ints, fields: Ints, lists: Ints, pool: Ints, truth: Bytes, scratch: Ints,
    tokens: Ints, edges: Ints, runs: Longs, borders: Longs, code: Ints, chosen: Ints, given: Bytes,
    counters: Longs,
) -> tuple[Longs, Ints, Ints, Longs]:  # fmt: skip
    """The highlights of one document by codes of highlights, which begin at `chosen`; the first cell of each
    is how high its stack grows.

    `edges` are in code points, from the first of the first field on; `borders` is where each text field
    begins, ascending. `given` are, one code's behind the other's, the results that were found elsewhere.
    Gives ranges as start << 32 | end within their field, each once; the numbers of those of each code and
    field, in order and apart; where these end; and by code the bits of the true named parts, -1 where it is
    not true. Where words are not learnt C_STATUS says so.
    """
    counters[C_STATUS] = DONE
    leaves = int(longs[H_LEAVES])
    owners = np.empty(tokens.size, np.int32)
    places = np.empty(tokens.size, np.int32)
    wanted = wanted_leaves(longs, truth, scratch, code, chosen)
    words = words_of_leaves(
        longs, ints, fields, lists, pool, truth, scratch, tokens, runs, owners, places, counters, wanted
    )
    for i in range(wanted):
        truth[scratch[i]] = 0
    found = np.empty(1024, np.int64)
    rows = borders.size
    ends = np.zeros(chosen.size * rows, np.int32)
    names = np.zeros(chosen.size, np.int64)
    if counters[C_STATUS] != DONE:
        return found, ends, ends, names
    deepest = 1
    for number in range(chosen.size):
        deepest = max(deepest, int(code[chosen[number]]))
    results = np.zeros(deepest, np.uint8)
    begins = np.zeros(deepest, np.int64)
    size = 0
    test = 0
    for number in range(chosen.size):
        first = size
        depth = 0
        at = int(chosen[number]) + 1
        while code[at + SHOW_KIND] != SHOW_END:
            kind = int(code[at + SHOW_KIND])
            following = at + int(code[at + SHOW_SIZE])
            argument = int(code[at + SHOW_ARGUMENT])
            if kind == SHOW_WORDS:
                begins[depth] = size
                leaf = int(code[at + SHOW_LEAVES])
                behind = int(scratch[leaves + leaf])
                last = following - at - SHOW_LEAVES - 1
                edge = EDGE_FIRST_END if code[at + SHOW_UNIT] else EDGE_END
                for i in range(behind - int(scratch[2 * leaves + leaf]), behind):
                    token = int(words[i])
                    if owners[token] != argument or token + last >= tokens.size:
                        continue
                    if places[token + last] - places[token] != last or owners[token + last] != argument:
                        continue
                    true = True
                    for j in range(1, last + 1):
                        if not has_word(words, scratch, leaves, int(code[at + SHOW_LEAVES + j]), token + j):
                            true = False
                            break
                    if true:
                        if size >= found.size:
                            found = np.concatenate((found, np.empty_like(found)))
                        begin = np.int64(edges[EDGE * token + EDGE_START])
                        found[size] = begin << 32 | edges[EDGE * (token + last) + edge]
                        size += 1
                results[depth] = 1 if size > begins[depth] else 0
                depth += 1
            elif kind == SHOW_GIVEN:
                begins[depth] = size
                results[depth] = given[test]
                test += 1
                depth += 1
            elif kind == SHOW_SOME:
                true_ones = 0
                for i in range(depth - argument, depth):
                    true_ones += int(results[i])
                depth -= argument
                if argument == 0:
                    begins[depth] = size
                if true_ones >= code[at + SHOW_ENOUGH]:
                    results[depth] = 1
                else:
                    results[depth] = 0
                    size = begins[depth]
                depth += 1
            elif kind == SHOW_NOT:
                size = begins[depth - 1]
                results[depth - 1] = 1 - results[depth - 1]
            elif results[depth - 1]:  # SHOW_NAME
                names[number] |= np.int64(1) << argument
            at = following
        if results[0] == 0:
            names[number] = -1
        in_short_order(found, first, size)
        low = first
        kept = first
        for row in range(rows):
            base = borders[row]
            limit = borders[row + 1] if row + 1 < rows else np.int64(1) << 32
            field = kept
            while low < size and found[low] >> 32 < limit:
                start, end = (found[low] >> 32) - base, (found[low] & 0xFFFFFFFF) - base
                if kept > field and start < found[kept - 1] & 0xFFFFFFFF:
                    if end > found[kept - 1] & 0xFFFFFFFF:
                        found[kept - 1] = (found[kept - 1] >> 32) << 32 | end
                else:
                    found[kept] = start << 32 | end
                    kept += 1
                low += 1
            ends[number * rows + row] = kept
        size = kept
    which = np.empty(size, np.int32)
    return each_once(found[:size], which), which, ends, names
