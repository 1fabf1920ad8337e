"""The backlog of a source, and how soon it is read."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

_SHORTEST, _LONGEST = 10.0, 60.0
"""Seconds over which a pace is measured."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Records of a feed that wait to be read, of which a batch takes about `at_once`.

    `pace` is by how many a second they get fewer, negative where they get more; None: that is not known yet.
    """

    records: int
    at_once: int = 0
    pace: float | None = None

    @property
    def behind(self) -> bool:
        """True if the next batch will not take all."""
        return self.records > self.at_once

    @property
    def seconds(self) -> float | None:
        """Until none waits, if it goes on so; None where that is not known, or will not be."""
        return self.records / self.pace if self.pace is not None and self.pace > 0 else None


class Pace:
    """Measures by how many a second the records of a feed get fewer, over a minute or what there is of it."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def take(self, at: float, records: int, at_once: int) -> Waiting:
        """So many wait at a time in seconds, of which a batch takes about `at_once`."""
        seen = self._seen
        seen.append((at, records))
        while len(seen) > 2 and at - seen[1][0] >= _LONGEST:
            seen.popleft()
        passed = at - seen[0][0]
        return Waiting(records, at_once, (seen[0][1] - records) / passed if passed >= _SHORTEST else None)
