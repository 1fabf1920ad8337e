"""The leaf of a segment that a word of a query became: the way back from a tree to the arrays.

A segment keeps no names of its leaves; what the kernel finds by a word of a document is found here by the
same word or pattern of a query, in the same hash table.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from percolator.analysed import LeafWord
from percolator.entries import keyed
from percolator.leaves import WordTest
from percolator.matching.kernel import hashing, layout
from percolator.segment import QuerySegment

_LOW = (1 << 64) - 1
_SEED, _PRIME, _MIX = int(hashing.SEED), int(hashing.PRIME), int(hashing.MIX)


class Lookup:
    """The leaves of one segment that documents are asked for."""

    def __init__(self, segment: QuerySegment) -> None:
        self._segment = segment
        self._fields = {name: number for number, name in enumerate(segment.fields)}
        self._fuzzy: dict[int, frozenset[int]] = {}

    def leaf(self, name: str, part: LeafWord) -> int | None:
        """A leaf that is true of exactly those words of a text field that a part takes; None without one.

        There may be several, of words that differ in other fields.
        """
        number = self._fields.get(name)
        if number is None:
            return None
        for leaf in self._candidates(number, name, part):
            # Of a leaf that no query needs words do not know.
            if self._segment.ints[int(self._segment.longs[layout.H_USE]) + leaf]:
                return leaf
        return None

    def _candidates(self, number: int, name: str, part: LeafWord) -> Iterator[int]:
        match part.kind:
            case "regex":
                yield from self._regexes.get((name, part.text), ())
            case "fuzzy":
                for space in self._spaces(number):
                    near = self._fuzzy_leaves(space, part.text, part.distance)
                    yield from [leaf for leaf in self._entries(space, "word", part.term) if leaf in near]
            case "word" | "exact":
                for space in self._spaces(number):
                    every = self._all_fuzzy(space)
                    yield from [
                        leaf for leaf in self._entries(space, part.kind, part.text) if leaf not in every
                    ]
            case "prefix" | "pattern":
                written = part.text + "*" * (part.kind == "prefix")
                for space in self._spaces(number):
                    yield from self._entries(space, "pattern", written)

    def _spaces(self, number: int) -> list[int]:
        ints = self._segment.ints
        row = int(self._segment.longs[layout.H_FIELD]) + number * layout.FIELD
        found: list[int] = ints[
            ints[row + layout.FIELD_SPACES] : ints[row + layout.FIELD_SPACES_END]
        ].tolist()
        return found

    def _entries(self, space: int, kind: str, text: str) -> Iterator[int]:
        """The leaves of entries with that text, as `dictionary.probe` finds those of a word."""
        longs, ints = self._segment.longs, self._segment.ints
        number, letters, begin, length = keyed(WordTest(space, kind, text, 0))  # type: ignore[arg-type]
        place = space * layout.KINDS + number
        value = (place ^ _SEED) * _PRIME & _LOW
        for byte in letters[begin : begin + length]:
            value = (value ^ byte) * _PRIME & _LOW
        value = (value ^ value >> 32) * _MIX & _LOW
        value = (value ^ value >> 29) * _PRIME & _LOW
        table, mask, rows = int(longs[layout.H_TABLE]), int(longs[layout.H_MASK]), int(longs[layout.H_ENTRY])
        slot = value >> 32 & mask
        while entry := int(ints[table + 2 * slot + 1]):
            row = rows + (entry - 1) * layout.ENTRY
            start = int(ints[row + layout.ENTRY_TEXT])
            if (
                ints[table + 2 * slot] == value & 0x7FFFFFFF
                and ints[row + layout.ENTRY_WHERE] == place
                and self._segment.text[start : start + int(ints[row + layout.ENTRY_LENGTH])].tobytes()
                == letters
            ):
                yield int(ints[row + layout.ENTRY_LEAF])
            slot = slot + 1 & mask

    def _fuzzy_rows(self, space: int) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
        longs = self._segment.longs
        head = int(longs[layout.H_SPACE]) + space * layout.SPACE
        first, end = int(longs[head + layout.SPACE_FUZZY]), int(longs[head + layout.SPACE_FUZZY_END])
        base = int(longs[layout.H_FUZZY])
        return self._segment.ints[base + first * layout.FUZZY : base + end * layout.FUZZY].reshape(
            -1, layout.FUZZY
        )

    def _all_fuzzy(self, space: int) -> frozenset[int]:
        found = self._fuzzy.get(space)
        if found is None:
            found = self._fuzzy[space] = frozenset(self._fuzzy_rows(space)[:, layout.FUZZY_LEAF].tolist())
        return found

    def _fuzzy_leaves(self, space: int, text: str, distance: int) -> set[int]:
        letters = text.encode("utf-8", "surrogatepass")
        rows = self._fuzzy_rows(space)
        rows = rows[
            (rows[:, layout.FUZZY_DISTANCE] == distance) & (rows[:, layout.FUZZY_LENGTH] == len(letters))
        ]
        whole = self._segment.text
        return {
            leaf
            for start, leaf in rows[:, [layout.FUZZY_TEXT, layout.FUZZY_LEAF]].tolist()
            if whole[start : start + len(letters)].tobytes() == letters
        }

    @cached_property
    def _regexes(self) -> dict[tuple[str, str], list[int]]:
        found: dict[tuple[str, str], list[int]] = {}
        for one in self._segment.regexes:
            for name in one.fields:
                found.setdefault((name, one.pattern), []).append(one.leaf)
        return found
