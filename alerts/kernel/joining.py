"""Parts end to end, row by row, in their order or chosen."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

from alerts.kernel.intrinsics import Bytes, copy_byte, copy_wide, fetch_from, long_offset_at, offset_at
from alerts.kernel.layout import (
    BEGIN,
    BYTES,
    END,
    ENDS,
    FORM,
    LENGTH,
    LIMIT,
    LONG,
    LONG_OFFSET,
    NUMBER,
    OFFSET,
    OFFSETS,
    PART,
    TEXTS,
    WIDTH,
)
from kernels.family import inlined

Ints = npt.NDArray[np.int64]
Parts = Annotated[npt.NDArray[np.int64], "read only"]
Places = Parts

AHEAD = 8
"""Rows, which may lie anywhere, between one that is fetched and one that is copied."""
LINE, FETCHED = 64, 1024
"""Bytes that are fetched together, and the most of a row: what follows comes by itself."""


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
        copy_wide(address, to, at)
        for done in range(WIDTH, length, WIDTH):
            copy_wide(address + done, to, at + done)
    else:
        for done in range(length):
            copy_byte(address + done, to, at + done)


@inlined
def put_part(parts: Parts, part: int, row: int, joined: Bytes, at: int) -> int:
    """Write what a part has for a row; where it ends."""
    address, length, offsets = parts[part + BYTES], parts[part + LENGTH], parts[part + OFFSETS]
    if offsets and parts[part + LONG]:
        offsets += LONG_OFFSET * row
        begin = long_offset_at(offsets)
        length = long_offset_at(offsets + LONG_OFFSET) - begin
        address += begin
    elif offsets:
        texts = parts[part + TEXTS]
        offsets += OFFSET * (long_offset_at(texts + NUMBER * row) if texts else row)
        begin = offset_at(offsets)
        length = offset_at(offsets + OFFSET) - begin
        address += begin
    copy_bytes(address, length, parts[part + LIMIT], joined, at)
    return int(at + length)


def join_parts(parts: Parts, rows: int, joined: Bytes) -> None:
    """Put the parts of each row end to end, and rows behind one another."""
    at = 0
    for row in range(rows):
        for part in range(0, len(parts), PART):
            at = put_part(parts, part, row, joined, at)


def find_chosen_ends(forms: Parts, form: Places, row: Places, more: int, ends: Ints) -> None:
    """Where each row ends of those that are chosen, with so many bytes more behind each; behind a 0."""
    ends[0] = 0
    for place in range(len(row)):
        at = forms[form[place] * FORM + ENDS] + LONG_OFFSET * row[place]
        ends[place + 1] = ends[place] + long_offset_at(at + LONG_OFFSET) - long_offset_at(at) + more


def join_chosen(
    parts: Parts, forms: Parts, form: Places, row: Places, end: int, ends: Ints, joined: Bytes
) -> None:
    """Put rows behind one another, each of which is `row[n]` of the form `form[n]`; behind each comes the
    byte `end`, unless it is below 0."""
    for place in range(len(row)):
        if place + AHEAD < len(row):
            # What has no other part is long, and may lie anywhere.
            of = form[place + AHEAD] * FORM
            part = forms[of + BEGIN]
            if part + PART == forms[of + END]:
                at = forms[of + ENDS] + LONG_OFFSET * row[place + AHEAD]
                begin = long_offset_at(at)
                length = min(long_offset_at(at + LONG_OFFSET) - begin, FETCHED)
                for ahead in range(0, length, LINE):
                    fetch_from(parts[part + BYTES] + begin + ahead)
        of = form[place] * FORM
        at = ends[place]
        for part in range(forms[of + BEGIN], forms[of + END], PART):
            at = put_part(parts, part, row[place], joined, at)
        if end >= 0:
            joined[at] = end
