"""The deliveries of a receiver that gets the alerts of one key one after another."""

from __future__ import annotations

from collections import deque

from alerts.due import Due
from alerts.outbox import Settled
from alerts.stages.candidate import Candidate
from alerts.stages.throttle import Throttle, key_of


class KeysInOrder:
    """Keys of which an attempt is under way, and what came behind it meanwhile. What fails is told to the
    stage, which holds back what is behind it until it is tried again."""

    def __init__(self, throttle: Throttle) -> None:
        self._throttle = throttle
        self._keys: dict[int, str] = {}
        self._behind: dict[str, deque[Due]] = {}

    def begin(self, one: Candidate) -> bool:
        """Begin an attempt; False: one of its key is under way, and it will come back from `end`."""
        key = key_of(one)
        if key in self._behind:
            self._behind[key].append(one.due)
            return False
        self._keys[one.due.place] = key
        self._behind[key] = deque()
        return True

    def go_on_as(self, due: Due, made: Due) -> None:
        """What was begun goes on as a notification that was made of it."""
        self._keys[made.place] = self._keys.pop(due.place)

    def end(self, due: Due, settled: Settled | None) -> list[Due]:
        """End an attempt; those that came behind it, in order."""
        key = self._keys.pop(due.place, None)
        if key is None:
            return []
        if settled is not None:
            if settled.due_at is None:
                self._throttle.failing.pop(key, None)
            else:
                self._throttle.failing[key] = settled.number, settled.due_at
        return list(self._behind.pop(key))
