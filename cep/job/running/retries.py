"""The number of times that a batch is run again which failed for no fault of its own."""

from __future__ import annotations

_MOST = 3


class Retries:
    """Counts the failures since the last batch that was done."""

    def __init__(self) -> None:
        self._done: int | None = None
        self._failures = 0

    def allow(self, done: int | None) -> bool:
        """True if it is tried again after a failure; `done` is the last batch that was done, if any."""
        self._failures = self._failures + 1 if done == self._done else 1
        self._done = done
        return self._failures <= _MOST
