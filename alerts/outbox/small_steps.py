"""Writing in small steps beside the job, whose writer of batches waits for one of them at most."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from alerts.outbox.store import Outbox

REST = 4
"""So many times as long as a step took, nothing is written: the writer of batches finds the lock free."""
LONGEST = 0.03
"""Seconds that a transaction should take at most: the writer of batches may wait for it."""
FIRST, FEWEST, MOST = 50, 10, 500
"""Rows that the first transaction changes, the least that one does on a slow disk, and the most."""


def next_number(most: int, seconds: float) -> int:
    """The number of rows for the next transaction, after one of `most` that took so long."""
    enough = round(most * LONGEST / max(seconds, 1e-6))
    return max(FEWEST, min(MOST, 2 * most, enough))


def timed(outbox: Outbox, write: Callable[[Connection], object]) -> float:
    """The seconds that a writing transaction took, once it had the lock."""
    with outbox.writing() as connection:
        begun = time.perf_counter()
        write(connection)
    return time.perf_counter() - begun
