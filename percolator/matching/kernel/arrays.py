"""The arrays that travel together: dtypes and shapes. All have one dimension; rows lie end to end."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from kernels.family import READ_ONLY

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Halves = npt.NDArray[np.uint32]
Bytes = npt.NDArray[np.uint8]
KeptInts = Annotated[Ints, READ_ONLY]
KeptLongs = Annotated[Longs, READ_ONLY]
KeptBytes = Annotated[Bytes, READ_ONLY]

# Rows of a batch of documents.
PIECE_DOCUMENT, PIECE_FIELD, PIECE_START, PIECE_END, PIECE = range(5)
RUN_DOCUMENT, RUN_FIELD, RUN_START, RUN_END, RUN_POINTS, RUN = range(6)
EDGE_START, EDGE_END, EDGE_FIRST_END, EDGE = range(4)
VALUE_DOCUMENT, VALUE_FIELD, VALUE_HIGH, VALUE_LOW, VALUE = range(5)

# A surface word, and in `letters` its forms: exact, term, folded but not stemmed, lowered but not folded.
(
    W_START, W_LENGTH, W_FIELD, W_EXACT, W_EXACT_LENGTH, W_TERM, W_TERM_LENGTH, W_FOLD, W_FOLD_LENGTH,
    W_LOWER, W_LOWER_LENGTH, WORD,
) = range(12)  # fmt: skip
UNKNOWN = -1
NOTHING = 0
GAP = -2
SLOT_KEY, SLOT_SECOND, SLOT_REST, SLOT_PLACE, SLOT = range(5)

# A positional node on one document: whether it is known, its list of spans.
KNOWN, SPANS_BEGIN, SPANS_COUNT, MEMO = range(4)
NODE_ROOM = MEMO + 2
"""Cells of `DocumentState.nodes` for each node, and two more."""


# Bits of a leaf in `truth`, and of a query in `marks`.
TRUE, FOUND, PLACED, WANTED = 1, 2, 4, 8
HIT, KILLED, DOUBTED = 1, 2, 4

SORTING = (1 << 11) + 1
"""Cells that sorting hits needs besides one for each."""


class SegmentArrays(NamedTuple):
    """A segment, as `layout` says; nobody writes it, it may be a mapped file."""

    longs: KeptLongs
    ints: KeptInts
    text: KeptBytes


class Slice(NamedTuple):
    """Cells of an array."""

    begin: int
    end: int


class Splitting(NamedTuple):
    """The rules by which texts become words."""

    classes: KeptBytes
    """Of every code point: a page table of 256 code points each."""
    modes: KeptInts
    """By field of the matcher, MODE_PLAIN ..."""
    units: bool
    """Ends of sentences and paragraphs are tokens, too."""


class Sieve(NamedTuple):
    """The words that may mean something to the segments in use (`sieve`)."""

    beginnings: Halves
    """By the first three letters, which beginnings are looked for: bit n - 1 those of n bytes."""
    heads: Words
    """Bits that the first four letters of a word choose, if it may have a beginning; HEADS times 64."""
    bits: Words
    """Three bits of one word for each key (`hashing.has_bits`); a power of two of them."""
    shapes: Longs
    """V_ENDS ..."""
    fields: Ints
    """By field of the matcher, not 0 if its words are to be sifted."""


class WordTable(NamedTuple):
    """The surface words of a worker; number 0 is that of all words that mean nothing."""

    slots: Words
    """SLOT words each: the first eight bytes, the next eight, the hash of the others, and
    number << 32 | length and field; a power of two of them, half empty."""
    rows: Ints
    """WORD cells a word: W_START ..."""
    letters: Bytes
    seen: Ints
    """By word, the C_STAMP of the last document that it made leaves true of."""
    counters: Longs
    """S_STATUS ..."""


class TokenRoom(NamedTuple):
    """Room for the result of scanning."""

    tokens: Ints
    """Numbers of words, and what stands between them (below zero): `boundaries`, or GAP - n for n words that
    mean nothing. One for each byte and piece at most."""
    edges: Ints
    """Empty, or EDGE cells a token: the code points of its piece where it begins and ends."""
    waiting: Longs
    """WAITING cells for each of WINDOW words (`window`)."""
    runs: Longs
    """RUN cells a piece: which tokens are its, and with `edges` how many code points a text has."""


class DocumentBatch(NamedTuple):
    """Documents to be matched; runs and values in their order."""

    tokens: Ints
    runs: Longs
    values: Longs
    """VALUE cells each."""
    documents: int


class WordLists(NamedTuple):
    """The leaves that words make true in one segment."""

    fields: Ints
    """By field of the matcher that of the segment, -1 for none."""
    lists: Ints
    """By word where in `pool` its list begins; 0 where it has none, UNKNOWN before it is learnt."""
    pool: Ints
    """Lists end to end, C_POOL cells of them (`learn`)."""
    edges: Words
    """Three bits of one word for each edge of the trie; a word of ones lets every word be tried."""


class DocumentState(NamedTuple):
    """The knowledge of one document in one segment; all zero between documents but for the counters."""

    truth: Bytes
    """By leaf, bits TRUE, FOUND, PLACED, WANTED."""
    touched: Ints
    """The leaves with bits, C_TOUCHED of them."""
    found: Ints
    """The leaves of one word, C_FOUND of them."""
    chains: Ints
    """By leaf that is PLACED, its last place in `Room.log`."""
    nodes: Ints
    """MEMO cells a node; the nodes that are known, C_STEPS of them; a stack."""
    counters: Longs
    """C_STATUS ..."""


class Room(NamedTuple):
    """Room to work, which segments share; each may turn out too small."""

    states: Ints
    """Two lists of states of the trie."""
    log: Ints
    """Pairs (position of a leaf, the place before in its chain or -1)."""
    spans: Longs
    """start << 32 | end, lists of nodes one behind the other."""
    borders: Ints
    """Three lists: where fields, sentences and paragraphs begin."""
    parts: Longs
    """What a phrase with slop needs (`sloppy`)."""
    tallies: Ints
    """COUNTERS registers of jump code."""


class MatchOutput(NamedTuple):
    """Room for the result of matching."""

    hits: Longs
    """document << 32 | query."""
    doubts: Longs
    """Like hits: pairs that are not known to be none."""
    spare: Longs
    """SORTING cells more than `hits`."""
    marks: Bytes
    """By query, bits HIT, KILLED, DOUBTED."""
    spent: Longs
    """By query, the work that it made while COUNTING."""


def wide(value: int) -> int:
    """The number with 64 bits: a named tuple takes no narrower one for an int."""
    return value
