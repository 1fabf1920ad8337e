"""The sieve of one worker (`kernel.sieve`): it follows the segments in use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from percolator.matching.compiled import Engine
from percolator.matching.kernel.arrays import Ints, SegmentArrays, Sieve
from percolator.matching.kernel.layout import (
    FIELD,
    FIELD_SPACES,
    FIELD_SPACES_END,
    H_FIELD,
    H_LEAVES,
    H_MASK,
    H_SPACE,
    H_TRIE_FIRST,
    H_TRIE_LEAF,
    KIND_ANY,
    SPACE,
    SPACE_FUZZY,
    SPACE_FUZZY_END,
    SPACE_KINDS,
)
from percolator.matching.kernel.sieve import HEADS, LETTERS, V_COUNTS
from percolator.segment import QuerySegment

_KEYS_A_WORD = 3
_FEWEST_WORDS = 1 << 8


class WordSieve:
    """Lets everything pass until it follows segments, and keeps what is of segments that went for a while."""

    def __init__(self) -> None:
        self._entered: list[SegmentArrays] = []
        self.arrays = Sieve(
            np.zeros(1, np.uint32),
            np.zeros(HEADS, np.uint64),
            np.zeros(1, np.uint64),
            np.zeros(V_COUNTS, np.int64),
            np.zeros(0, np.int32),
        )

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        return sum(array.nbytes for array in self.arrays)

    def open_to(self, fields: Ints) -> None:
        """Sifts the words of no field; `fields` are zeros, one for each of the matcher's."""
        self.arrays = self.arrays._replace(fields=fields)

    def follow(self, engine: Engine, segments: Sequence[SegmentArrays], fields: Ints) -> None:
        """Knows the keys of these segments; `fields` says which fields of the matcher are sifted."""
        known = {id(one.longs) for one in self._entered}
        new = [one for one in segments if id(one.longs) not in known]
        entered, used = sum(map(_keys, self._entered)), sum(map(_keys, segments))
        room = _KEYS_A_WORD * len(self.arrays.bits)
        if entered + sum(map(_keys, new)) > room or entered > 2 * used + room // 2 or not self._entered:
            words = max(_FEWEST_WORDS, 1 << (used // _KEYS_A_WORD).bit_length())
            self.arrays = _empty(LETTERS, words, fields)
            self._entered, new = [], list(segments)
        for one in new:
            engine.enter_sieve(one, self.arrays, np.zeros(int(one.longs[H_LEAVES]), np.uint64))
        self._entered += new
        self.arrays = self.arrays._replace(fields=fields)


def _empty(beginnings: int, words: int, fields: Ints) -> Sieve:
    return Sieve(
        np.zeros(beginnings, np.uint32), np.zeros(HEADS, np.uint64), np.zeros(words, np.uint64),
        np.zeros(V_COUNTS, np.int64), fields,
    )  # fmt: skip


def _keys(segment: SegmentArrays) -> int:
    """The number of keys, at most but for few: of entries, and three of each two words in a phrase."""
    states = int(segment.longs[H_TRIE_LEAF] - segment.longs[H_TRIE_FIRST])
    return (int(segment.longs[H_MASK]) + 1) // 2 + 3 * states


def open_fields(segment: QuerySegment) -> frozenset[str]:
    """The fields of which every word may mean something: its letters do not tell, or only a search does."""
    found = {name for one in segment.regexes for name in one.fields}
    longs, ints = segment.longs, segment.ints
    for number, name in enumerate(segment.fields):
        row = int(longs[H_FIELD]) + number * FIELD
        for space in ints[ints[row + FIELD_SPACES] : ints[row + FIELD_SPACES_END]].tolist():
            at = int(longs[H_SPACE]) + space * SPACE
            if (
                longs[at + SPACE_KINDS] >> KIND_ANY & 1
                or longs[at + SPACE_FUZZY] < longs[at + SPACE_FUZZY_END]
            ):
                found.add(name)
    return frozenset(found)
