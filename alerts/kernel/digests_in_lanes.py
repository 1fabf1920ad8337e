"""SHA-256 (FIPS 180-4), eight texts at a time."""

from __future__ import annotations

import numpy as np

from alerts.kernel.intrinsics import FIRST, Bytes, Data, Ends, Words, add_block, big_word_at, put_big_word
from alerts.kernel.layout import BLOCK, DIGEST, LANES, SCHEDULED, STATE, WORD
from kernels.family import inlined

COUNTED = 9
"""Bytes behind a text that its last block has at least: the mark of its end, and its length in bits."""
MARK = np.uint32(0x80)
EIGHT = np.uint32(8)


@inlined
def put_end(data: Data, at: int, length: int, end: int, blocks: Words, lane: int) -> None:
    """A block that is not all text: what is left of it from `at` up to `end`, the mark, zeros, the length."""
    for word in range(SCHEDULED):
        begin, value = at + WORD * word, np.uint32(0)
        if begin + WORD <= end:
            value = big_word_at(data, begin)
        elif begin <= end:
            for byte in range(begin, end):
                value = value << EIGHT | np.uint32(data[byte])
            value = value << EIGHT | MARK
            for _ in range(end + 1, begin + WORD):
                value = value << EIGHT
        blocks[word * LANES + lane] = value
    if end + COUNTED <= at + BLOCK:
        blocks[(SCHEDULED - 2) * LANES + lane] = np.uint32(length >> 29)
        blocks[(SCHEDULED - 1) * LANES + lane] = np.uint32(length << 3)


@inlined
def put_block(data: Data, at: int, blocks: Words, lane: int) -> None:
    """A block that is all text."""
    for word in range(SCHEDULED):
        blocks[word * LANES + lane] = big_word_at(data, at + WORD * word)


def digest_texts(data: Data, ends: Ends, room: Bytes, digests: Bytes) -> None:
    """The digests of texts, the n-th of which lies in `data` from `ends[n]` up to `ends[n + 1]`."""
    states, blocks = room[: LANES * DIGEST].view(np.uint32), room[LANES * DIGEST :].view(np.uint32)
    texts = len(ends) - 1
    for first in range(0, texts, LANES):
        last = min(first + LANES, texts)
        for word in range(STATE):
            for lane in range(LANES):
                states[word * LANES + lane] = FIRST[word]
        longest = 0
        for text in range(first, last):
            longest = max(longest, ends[text + 1] - ends[text])
        for block in range((longest + COUNTED + BLOCK - 1) // BLOCK):
            for text in range(first, last):
                at, end = ends[text] + BLOCK * block, ends[text + 1]
                if at + BLOCK <= end:
                    put_block(data, at, blocks, text - first)
                else:
                    put_end(data, at, end - ends[text], end, blocks, text - first)
            add_block(states, 0, blocks, 0)
            for text in range(first, last):
                behind = ends[text] + BLOCK * (block + 1) - (ends[text + 1] + COUNTED)
                if 0 <= behind < BLOCK:
                    for word in range(STATE):
                        put_big_word(
                            digests, text * DIGEST + WORD * word, states[word * LANES + text - first]
                        )
