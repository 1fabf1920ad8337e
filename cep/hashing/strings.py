"""Columns of strings as hashes and as numbers: by column, or compiled once the matching kernel is at hand.

numba is not imported for this alone: an import takes as long as what it saves in twenty million strings. Both
ways give the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.hashing.compiled import at_hand
from cep.hashing.kernel import AHEAD, BASE, ONE, REACHED, Ints, Words

SHORT = 64
"""Bytes of a string up to which the bytes of all strings at one place are looked at together."""
SLOTS = 1 << 17
"""Places of the hash table at first: it grows with the number of different strings."""
MOSTLY = 0.75
"""The part of strings that differ from all before them from which on the table gets places for all."""
Bytes = npt.NDArray[np.uint8]


def added(column: pa.Array, hashes: Words) -> bool:
    """Go on from the hash of each row with its string, as `cep.hashing.shards` says; False: not done, for
    these are no strings, some are null, or the kernel is not at hand."""
    kernel = at_hand()
    if kernel is None or column.null_count or not pa.types.is_string(column.type):
        return False
    kernel.add_texts(*_texts(column), hashes)
    return True


def numbered(column: pa.StringArray) -> tuple[Ints, Ints]:
    """Equal strings have equal numbers, dense, in order of first occurrence; and where each occurs first.

    None may be null.
    """
    kernel = at_hand()
    if kernel is None:
        return distinct(column)
    size = len(column)
    offsets, data = _texts(column)
    names, reached = np.empty(2 * size, np.uint64), np.zeros(REACHED, np.int64)
    numbers, first = np.empty(size, np.int64), np.empty(size, np.int64)
    most = 1 << (2 * size).bit_length()
    slots = np.full(min(SLOTS, most), -1)
    while True:
        kernel.number_texts(offsets, data, slots, names, first, numbers, reached)
        row, count = reached.tolist()
        if row == size:
            return numbers, first[:count]
        # A small table lies near the processor; where most texts differ it would only grow again and again.
        slots = np.full(most if count > MOSTLY * row else 2 * len(slots), -1)
        kernel.place_names(names, count, slots)


def known_to_differ(column: pa.Array) -> bool:
    """True if all strings, of which none may be null, are known to differ, which takes less than to number
    them. False: they are no strings, two may be equal, or the kernel is not at hand."""
    kernel = at_hand()
    if kernel is None or not pa.types.is_string(column.type):
        return False
    slots = np.zeros(1 << (2 * len(column)).bit_length(), np.uint32)
    return kernel.all_differ(*_texts(column), np.empty(AHEAD, np.uint64), slots)


def distinct(column: pa.Array) -> tuple[Ints, Ints]:
    """The same of values of any kind."""
    indices = column.dictionary_encode().indices
    numbers = np.asarray(indices.to_numpy(zero_copy_only=False)).astype(np.int64)
    first = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    # Written from the end, the first occurrence is written last.
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return numbers, first


def polynomials(column: pa.StringArray) -> Words:
    """The sum of (byte + 1) * BASE ** place over the UTF-8 of each string, modulo 2 ** 64.

    Source: Karp and Rabin, Efficient randomized pattern-matching algorithms, 1987.
    """
    offsets, data = _texts(column)
    begins, lengths = offsets[:-1].astype(np.int64), np.diff(offsets)
    if int(lengths.max(initial=0)) <= SHORT:
        return _by_place(begins, lengths, data)
    long = lengths > SHORT
    found = _by_place(begins, np.where(long, 0, lengths), data)
    found[long] = _by_running_sums(*_texts(column.filter(pa.array(long))))
    return found


def _texts(column: pa.StringArray) -> tuple[npt.NDArray[np.int32], Bytes]:
    """Where each string begins and the last one ends, and all their bytes."""
    _, offsets, data = column.buffers()
    if not len(column):
        return np.zeros(1, np.int32), np.zeros(0, np.uint8)
    places = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    return np.require(places, requirements="A"), np.frombuffer(b"" if data is None else data, np.uint8)


def _by_place(begins: Ints, lengths: npt.NDArray[np.integer[Any]], data: Bytes) -> Words:
    """The hashes of short strings, a byte of all of them at a time: Horner's rule, from their ends."""
    of_length = np.bincount(lengths, minlength=SHORT + 1)
    longer = len(begins) - np.cumsum(of_length)
    alike = of_length.max() == len(begins)
    # The longest first, so that those that have a byte at a place lie side by side; radix sort takes bytes.
    order = slice(None) if alike else np.argsort((SHORT - lengths).astype(np.uint8), kind="stable")
    begins = begins[order]
    sums = np.zeros(len(begins), np.uint64)
    for place in range(int(np.count_nonzero(longer)) - 1, -1, -1):
        begun = sums[: longer[place]]
        begun *= BASE
        begun += data[begins[: longer[place]] + place]
        begun += ONE
    found = np.empty_like(sums)
    found[order] = sums
    return found


def _by_running_sums(offsets: npt.NDArray[np.int32], data: Bytes) -> Words:
    """The hashes of long strings: differences of the sums up to their ends."""
    base, end = int(offsets[0]), int(offsets[-1])
    lengths = np.diff(offsets)
    places = np.arange(end - base) - np.repeat(offsets[:-1] - base, lengths)
    powers = _powers(int(lengths.max()))
    terms = (data[base:end].astype(np.uint64) + ONE) * powers[places]
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)))
    return sums[offsets[1:] - base] - sums[offsets[:-1] - base]


def _powers(count: int) -> Words:
    powers = np.full(count, BASE)
    powers[0] = ONE
    return np.multiply.accumulate(powers)
