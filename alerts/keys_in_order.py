"""The deliveries of a receiver that gets the alerts of one key one after another."""

from __future__ import annotations

from alerts.due import Due
from alerts.outbox import Outbox, Settled
from alerts.stages.candidate import Candidate
from alerts.stages.throttle import Throttle, key_of


class KeysInOrder:
    """Keys of which an attempt is under way, and what came behind it meanwhile. What fails is told to the
    stage, which holds back what is behind it until it is tried again."""

    def __init__(self, throttle: Throttle) -> None:
        self._throttle = throttle
        self._keys: dict[int, str] = {}
        self._behind: dict[str, list[Candidate]] = {}

    def waits(self, one: Candidate) -> bool:
        """True if one of its key is under way; it will come back from `end`."""
        behind = self._behind.get(key_of(one))
        if behind is None:
            return False
        behind.append(one)
        return True

    def begin(self, one: Candidate) -> None:
        """Begin an attempt."""
        key = self._keys[one.due.place] = key_of(one)
        self._behind[key] = []

    def is_held(self, due: Due) -> None:
        """Another stage holds back what had failed: what comes behind it goes on."""
        for key, (number, _) in list(self._throttle.failing.items()):
            if number == due.number:
                del self._throttle.failing[key]

    def forget_settled(self, outbox: Outbox, receiver: str, now: int) -> None:
        """Forget what was to be tried again by now and is not pending any more. Raises OutboxError."""
        failing = self._throttle.failing
        over = {number for number, due_at in failing.values() if due_at <= now}
        if not over:
            return
        over -= outbox.still_pending(receiver, over)
        for key in [key for key, (number, _) in failing.items() if number in over]:
            del failing[key]

    def go_on_as(self, due: Due, made: Due) -> None:
        """Go on with what was begun as the notification that was made of it."""
        self._keys[made.place] = self._keys.pop(due.place)

    def end(self, due: Due, settled: Settled | None) -> list[Candidate]:
        """End an attempt; those that came behind it, in order."""
        key = self._keys.pop(due.place, None)
        if key is None:
            return []
        if settled is not None:
            if settled.due_at is None:
                self._throttle.failing.pop(key, None)
            else:
                self._throttle.failing[key] = settled.number, settled.due_at
        return self._behind.pop(key)
