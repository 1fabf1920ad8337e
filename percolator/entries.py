"""The words and patterns of a segment as rows that the kernel finds (`dictionary`, `edits`).

A pattern is found by a piece of its letters, the *key*: what it begins with, ends with, or has inside.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from percolator.leaves import LeafTable, WordTest
from percolator.matching.kernel import layout
from percolator.parts import Text

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

_SIGN = re.compile(r"\\(.)|([*?])", re.DOTALL)
_KINDS = {"word": layout.KIND_WORD, "exact": layout.KIND_EXACT}


def entries_of(leaves: LeafTable, text: Text) -> Ints:
    """A row an entry, with the place and length of its key in two more columns."""
    rows = []
    for test in leaves.words:
        kind, letters, begin, length = keyed(test)
        start = text.add(letters)
        rows.append((test.space * layout.KINDS + kind, start, len(letters), test.leaf, start + begin, length))
    return np.array(rows, np.int32).reshape(-1, layout.ENTRY + 2)


def keyed(test: WordTest) -> tuple[int, bytes, int, int]:
    """Kind, bytes, and where in them the key is."""
    if test.kind != "pattern":
        letters = test.text.encode("utf-8", "surrogatepass")
        return _KINDS[test.kind], letters, 0, len(letters)
    letters = pattern_bytes(test.text)
    pieces = [(found.start(), found.end()) for found in re.finditer(rb"[^\xfe\xff]+", letters)]
    if not pieces:
        return layout.KIND_ANY, letters, 0, 0
    if pieces[0][0] == 0:
        return layout.KIND_PREFIX, letters, 0, min(pieces[0][1], layout.LONGEST_PREFIX)
    if pieces[-1][1] == len(letters):
        length = min(len(letters) - pieces[-1][0], layout.LONGEST_PREFIX)
        return layout.KIND_SUFFIX, letters, len(letters) - length, length
    start, end = max(pieces, key=lambda piece: piece[1] - piece[0])
    return layout.KIND_INFIX, letters, start, min(end - start, layout.LONGEST_INFIX)


def pattern_bytes(text: str) -> bytes:
    r"""A pattern with `*` and `?` as the kernel's signs; after `\\` a sign is a letter."""
    found = bytearray()
    at = 0
    for sign in _SIGN.finditer(text):
        found += text[at : sign.start()].encode("utf-8", "surrogatepass")
        if sign[1] is not None:
            found += sign[1].encode("utf-8", "surrogatepass")
        else:
            found.append(layout.STAR if sign[2] == "*" else layout.QUESTION)
        at = sign.end()
    return bytes(found + text[at:].encode("utf-8", "surrogatepass"))


def fuzzy_of(leaves: LeafTable, text: Text) -> Ints:
    """A row a fuzzy word, in order of space and size."""
    tests = sorted(leaves.fuzzy, key=lambda test: (test.space, len(test.text)))
    rows = []
    for test in tests:
        letters = test.text.encode("utf-8", "surrogatepass")
        bits = 0
        for letter in test.text:
            bits |= 1 << (ord(letter) & 63)
        signature = np.array([bits & 0xFFFFFFFF, bits >> 32], np.uint32).astype(np.int32)
        start = text.add(letters)
        rows.append((len(test.text), *signature, test.distance, start, len(letters), test.leaf))
    return np.array(rows, np.int32).reshape(-1, layout.FUZZY)


def spaces_of(leaves: LeafTable, entries: Ints, fuzzy: Ints) -> Longs:
    """A row a space: what there is to look up in it."""
    rows = np.zeros((len(leaves.spaces), layout.SPACE), np.int64)
    where, lengths = entries[:, layout.ENTRY_WHERE], entries[:, layout.ENTRY + 1]
    columns = {
        layout.KIND_PREFIX: layout.SPACE_PREFIXES,
        layout.KIND_SUFFIX: layout.SPACE_SUFFIXES,
        layout.KIND_INFIX: layout.SPACE_INFIXES,
    }
    for place in np.unique(where).tolist():
        space, kind = divmod(place, layout.KINDS)
        rows[space, layout.SPACE_KINDS] |= 1 << kind
        if kind in columns:
            for length in np.unique(lengths[where == place]).tolist():
                rows[space, columns[kind]] |= 1 << length
    counts = np.bincount([test.space for test in leaves.fuzzy], minlength=len(rows))
    rows[:, layout.SPACE_FUZZY_END] = np.cumsum(counts)
    rows[:, layout.SPACE_FUZZY] = rows[:, layout.SPACE_FUZZY_END] - counts
    assert len(fuzzy) == counts.sum()
    return rows
