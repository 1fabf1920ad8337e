"""The deliveries of a receiver that gets the alerts of one key one after another."""

from __future__ import annotations

from collections.abc import Collection

from alerts.due import Due
from alerts.outbox import Outbox, Settled
from alerts.stages.candidate import Candidate
from alerts.stages.throttle import Throttle, key_of


class KeysInOrder:
    """Keys of which an attempt is under way, or its notification is made, and what came behind it meanwhile.
    What fails is told to the stage, which holds back what is behind it until it is tried again."""

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

    def has_begun(self, due: Due) -> bool:
        """True if it is what is under way itself."""
        return due.place in self._keys

    def go_on_as(self, place: int, made: Due, gone: Collection[int]) -> None:
        """Go on with what was begun as the notification that was made of it; `gone` are the numbers of all
        that notifications were made of."""
        key = self._keys[made.place] = self._keys.pop(place)
        self._behind[key] = [one for one in self._behind[key] if one.due.number not in gone]

    def end(self, place: int, settled: Settled | None) -> list[Candidate]:
        """End what is under way at a place; what came behind it, in order."""
        key = self._keys.pop(place, None)
        if key is None:
            return []
        if settled is not None:
            if settled.due_at is None:
                self._throttle.failing.pop(key, None)
            else:
                self._throttle.failing[key] = settled.number, settled.due_at
        return self._behind.pop(key)
