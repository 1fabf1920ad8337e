"""The words and patterns of a segment as rows that the kernel finds by hash: `kernel.probe`, `kernel.fuzzy`.

A pattern is found by a piece of its letters, the *key*: what it begins with, ends with, or has inside.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from percolator.leaves import LeafTable, WordTest
from percolator.matching import kernel as k
from percolator.parts import Text

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

_SIGN = re.compile(r"\\(.)|([*?])", re.DOTALL)
_KINDS = {"word": k.KIND_WORD, "exact": k.KIND_EXACT}


def entries_of(leaves: LeafTable, text: Text) -> Ints:
    """A row an entry, with the place and length of its key in two more columns."""
    rows = []
    for test in leaves.words:
        kind, letters, begin, length = keyed(test)
        start = text.add(letters)
        rows.append((test.space * k.KINDS + kind, start, len(letters), test.leaf, start + begin, length))
    return np.array(rows, np.int32).reshape(-1, k.ENTRY + 2)


def keyed(test: WordTest) -> tuple[int, bytes, int, int]:
    """Kind, bytes, and where in them the key is."""
    if test.kind != "pattern":
        letters = test.text.encode("utf-8", "surrogatepass")
        return _KINDS[test.kind], letters, 0, len(letters)
    letters = pattern_bytes(test.text)
    pieces = [(found.start(), found.end()) for found in re.finditer(rb"[^\xfe\xff]+", letters)]
    if not pieces:
        return k.KIND_ANY, letters, 0, 0
    if pieces[0][0] == 0:
        return k.KIND_PREFIX, letters, 0, min(pieces[0][1], k.LONGEST_PREFIX)
    if pieces[-1][1] == len(letters):
        length = min(len(letters) - pieces[-1][0], k.LONGEST_PREFIX)
        return k.KIND_SUFFIX, letters, len(letters) - length, length
    start, end = max(pieces, key=lambda piece: piece[1] - piece[0])
    return k.KIND_INFIX, letters, start, min(end - start, k.LONGEST_INFIX)


def pattern_bytes(text: str) -> bytes:
    r"""A pattern with `*` and `?` as the kernel's signs; after `\\` a sign is a letter."""
    found = bytearray()
    at = 0
    for sign in _SIGN.finditer(text):
        found += text[at : sign.start()].encode("utf-8", "surrogatepass")
        if sign[1] is not None:
            found += sign[1].encode("utf-8", "surrogatepass")
        else:
            found.append(k.STAR if sign[2] == "*" else k.QUESTION)
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
    return np.array(rows, np.int32).reshape(-1, k.FUZZY)


def spaces_of(leaves: LeafTable, entries: Ints, fuzzy: Ints) -> Longs:
    """A row a space: what there is to look up in it."""
    rows = np.zeros((len(leaves.spaces), k.SPACE), np.int64)
    where, lengths = entries[:, k.ENTRY_WHERE], entries[:, k.ENTRY + 1]
    columns = {
        k.KIND_PREFIX: k.SPACE_PREFIXES,
        k.KIND_SUFFIX: k.SPACE_SUFFIXES,
        k.KIND_INFIX: k.SPACE_INFIXES,
    }
    for place in np.unique(where).tolist():
        space, kind = divmod(place, k.KINDS)
        rows[space, k.SPACE_KINDS] |= 1 << kind
        if kind in columns:
            for length in np.unique(lengths[where == place]).tolist():
                rows[space, columns[kind]] |= 1 << length
    counts = np.bincount([test.space for test in leaves.fuzzy], minlength=len(rows))
    rows[:, k.SPACE_FUZZY_END] = np.cumsum(counts)
    rows[:, k.SPACE_FUZZY] = rows[:, k.SPACE_FUZZY_END] - counts
    assert len(fuzzy) == counts.sum()
    return rows
