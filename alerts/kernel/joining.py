"""Parts end to end, row by row; rows of several columns in an order."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

from alerts.kernel.intrinsics import WIDTH, Bytes, copy_byte, copy_wide, fetch_from, long_offset_at, offset_at
from kernels.family import inlined

Ints = npt.NDArray[np.int64]
Parts = Annotated[npt.NDArray[np.int64], "read only"]
Places = Parts

PART = 5
"""Numbers of a part: where its bytes lie, and end; where in memory the offsets of its texts are, 0 if it is
the same in all rows; then its length; and where the text of each row is told, 0 if there is one for each."""
BYTES, LIMIT, OFFSETS, LENGTH, TEXTS = range(PART)
OFFSET, LONG_OFFSET = 4, 8
"""Bytes of an offset, and of one of a column that may have more than 2 GiB."""
NUMBER = LONG_OFFSET
"""Bytes of the number of a text."""
AHEAD = 8
"""Rows, which may lie anywhere, between one that is fetched and one that is copied."""
LINE, FETCHED = 64, 1024
"""Bytes that are fetched together, and the most of a row: what follows comes by itself."""
SLACK = WIDTH
"""Bytes behind what is joined that are written, too."""


def find_ends(parts: Parts, ends: Ints) -> None:
    """Where each row ends when all parts of it are put end to end, behind a 0."""
    same = 0
    for part in range(0, len(parts), PART):
        same += parts[part + LENGTH]
    ends[:] = same
    for part in range(0, len(parts), PART):
        offsets, texts = parts[part + OFFSETS], parts[part + TEXTS]
        if offsets and texts:
            for row in range(1, len(ends)):
                at = offsets + OFFSET * long_offset_at(texts + NUMBER * (row - 1))
                ends[row] += offset_at(at + OFFSET) - offset_at(at)
        elif offsets:
            for row in range(1, len(ends)):
                at = offsets + OFFSET * row
                ends[row] += offset_at(at) - offset_at(at - OFFSET)
    ends[0] = 0
    for row in range(1, len(ends)):
        ends[row] += ends[row - 1]


@inlined
def copy_bytes(address: int, length: int, limit: int, to: Bytes, at: int) -> None:
    """Copy bytes of which none may be read from `limit` on; up to SLACK more bytes are written."""
    if address + length + WIDTH <= limit:
        for done in range(0, length, WIDTH):
            copy_wide(address + done, to, at + done)
    else:
        for done in range(length):
            copy_byte(address + done, to, at + done)


def join_parts(parts: Parts, rows: int, joined: Bytes) -> None:
    """Put the parts of each row end to end, and rows behind one another."""
    at = 0
    for row in range(rows):
        for part in range(0, len(parts), PART):
            address, length, offsets = parts[part + BYTES], parts[part + LENGTH], parts[part + OFFSETS]
            if offsets:
                texts = parts[part + TEXTS]
                offsets += OFFSET * (long_offset_at(texts + NUMBER * row) if texts else row)
                begin = offset_at(offsets)
                length = offset_at(offsets + OFFSET) - begin
                address += begin
            copy_bytes(address, length, parts[part + LIMIT], joined, at)
            at += length


def find_chosen_ends(columns: Parts, column: Places, row: Places, more: int, ends: Ints) -> None:
    """Where each row ends of those that are chosen, with so many bytes more behind each; behind a 0."""
    ends[0] = 0
    for place in range(len(row)):
        at = columns[column[place] * PART + OFFSETS] + LONG_OFFSET * row[place]
        ends[place + 1] = ends[place] + long_offset_at(at + LONG_OFFSET) - long_offset_at(at) + more


def copy_chosen(columns: Parts, column: Places, row: Places, end: int, ends: Ints, copied: Bytes) -> None:
    """Put rows of columns behind one another, each of which is `row[n]` of column `column[n]`; behind each
    comes the byte `end`, unless it is below 0."""
    for place in range(len(row)):
        if place + AHEAD < len(row):
            part = column[place + AHEAD] * PART
            at = columns[part + OFFSETS] + LONG_OFFSET * row[place + AHEAD]
            begin = long_offset_at(at)
            length = min(long_offset_at(at + LONG_OFFSET) - begin, FETCHED)
            for ahead in range(0, length, LINE):
                fetch_from(columns[part + BYTES] + begin + ahead)
        part = column[place] * PART
        at = columns[part + OFFSETS] + LONG_OFFSET * row[place]
        begin = long_offset_at(at)
        length = long_offset_at(at + LONG_OFFSET) - begin
        copy_bytes(columns[part + BYTES] + begin, length, columns[part + LIMIT], copied, ends[place])
        if end >= 0:
            copied[ends[place + 1] - 1] = end
