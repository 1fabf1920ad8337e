"""Pending events, which wait for the watermark: each batch writes its own, as segments do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from cep.batch.arrivals import Arrivals, still_waiting
from cep.batch.payload import BATCH
from cep.batch.waiting import PendingPart
from cep.shard.memory import Merging

Ints = npt.NDArray[np.int64]
_ROW = 8
"""What an event weighs among numbers of 64 bits, about."""


def pending_parts(
    before: Sequence[PendingPart],
    rest: Arrivals,
    batch: int,
    watermark: int,
    numbers: Iterator[int],
    merging: Merging,
) -> tuple[PendingPart, ...]:
    """Parts with the events `rest`, which wait after a batch: those that came in it are a part of their own,
    or one with earlier parts, if `merging` says so."""
    parts = [part for part in before if part.last > watermark]
    batches = _batches(rest)
    fresh = int(np.count_nonzero(batches == batch))
    weights = [_ROW * len(part) for part in parts] + ([_ROW * fresh] if fresh else [])
    first, since = merging.first(weights, _ROW * len(batches)), batch
    if first < len(weights) - 1:
        parts, since = parts[:first], parts[first].batch
    elif not fresh:
        return tuple(parts)
    mine = rest.chosen(batches >= since)
    return (*parts, PendingPart(next(numbers), since, int(mine.time.max()), still_waiting(mine)))


def _batches(events: Arrivals) -> Ints:
    """The batch in which each event came."""
    found = np.zeros(len(events.time), np.int64)
    for number, part in enumerate(events.parts):
        where, rows = events.rows_of(number)
        found[where] = part.numbers(BATCH)[rows]
    return found
