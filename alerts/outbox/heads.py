"""Ids of alerts as the outbox finds them: by a number of eight bytes, an eighth of the id's text.

The index that says which ids there are is the one that every alert is put into at a random place, so that its
length decides what an insert costs. The number is that of the first 60 bits of the id, with place for four
alerts that agree in these: none of them is taken for another (decision 34).
"""

from __future__ import annotations

import re

import numpy as np

from alerts.arrow_columns import Ints
from alerts.raised_columns import Ids

PLACES = 4
_ID = re.compile("[0-9a-f]{64}")


def heads(ids: Ids) -> Ints:
    """The least number under which each id may stand, of the `PLACES` that follow one another."""
    first = np.ascontiguousarray(ids[:, :8]).view(">u8").reshape(-1).astype(np.uint64)
    return ((first >> np.uint64(4)) << np.uint64(2)).astype(np.int64)


def places(id_: str) -> list[int]:
    """The numbers under which the alert of an id may stand; none for what is no id."""
    if not _ID.fullmatch(id_):
        return []
    head = (int(id_[:16], 16) >> 4) << 2
    return list(range(head, head + PLACES))
