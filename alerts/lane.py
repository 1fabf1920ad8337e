"""The queue of one receiver: which delivery is attempted next, when, and when to leave the receiver alone."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from alerts.breaker import Breaker
from alerts.matchers import Labels
from alerts.notation import timestamp
from alerts.outbox import Due, Held, Outbox, Settled
from alerts.receivers.receiver import Gathering, Outcome, Receiver
from alerts.stages.mute import Muted, Silences

_SECOND = 1_000_000_000
_AHEAD = 256  # deliveries read from the outbox at once


@dataclass(frozen=True, slots=True)
class Schedule:
    """When to try again: exponential back-off with full jitter, in seconds.

    M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. After attempt n the next
    one comes within min(longest, first * 2**(n-1)), uniformly. With the defaults, 160 attempts take
    about three days; then the delivery has failed. `probe` bounds the pauses of a receiver that does not
    answer at all, during which single attempts find out whether it is back.
    """

    first: float = 1.0
    longest: float = 3600.0
    attempts: int = 160
    probe: float = 30.0

    def delay(self, attempt: int, random: Random) -> int:
        """Nanoseconds from a failed attempt, counted from 1, to the next."""
        return int(random.uniform(0, self._bound(self.longest, attempt)) * _SECOND)

    def pause(self, attempt: int, random: Random) -> int:
        """Nanoseconds for which to leave alone a receiver that has not answered so many times."""
        return int(random.uniform(0, self._bound(self.probe, attempt)) * _SECOND)

    def _bound(self, longest: float, attempt: int) -> float:
        return min(longest, self.first * 2.0 ** min(attempt - 1, 60))


class Lane:
    """The deliveries of one receiver that are read from the outbox and not yet settled there.

    Belongs to the dispatcher's thread.
    """

    def __init__(self, receiver: Receiver, schedule: Schedule, random: Random) -> None:
        self.receiver = receiver
        self.breaker = Breaker(lambda number: schedule.pause(number, random), int(schedule.longest * _SECOND))
        self.look_at = 0
        """When to look into the outbox again, wall clock in ns; 0: at once."""
        self.silences = Silences()
        """Those that may hold back what is about to be sent."""
        self.held: list[Held] = []
        """What was held back and is not written yet."""
        self._schedule = schedule
        self._random = random
        self._ready: deque[Due] = deque()
        self._taken: set[int] = set()
        self._in_flight = 0
        self._not_before = 0
        self._together, self._pace = 1, 0
        if isinstance(receiver, Gathering):
            self._together, self._pace = receiver.together, receiver.pace

    @property
    def gone(self) -> bool:
        """True if nothing is attempted before a person resumes."""
        return self.breaker.shut

    @property
    def recovered(self) -> bool:
        """True if the receiver is back, and what waits for it should go now."""
        return self.breaker.recovered

    @recovered.setter
    def recovered(self, value: bool) -> None:
        self.breaker.recovered = value

    @property
    def _next(self) -> int:
        """The moment before which nothing is attempted."""
        return max(self._not_before, self.breaker.standing.probe_at or 0)

    def fill(self, outbox: Outbox, now: int, poll: float) -> float:
        """Reads what is due, if it is time to; seconds until it may be worth looking again.

        Raises OutboxError.
        """
        if self.gone:
            return poll
        if len(self._ready) <= self.receiver.in_flight and now >= self.look_at:
            found = outbox.due(self.receiver.name, now, len(self._taken) + _AHEAD)
            fresh = [due for due in found if due.number not in self._taken]
            self._ready.extend(fresh)
            self._taken.update(due.number for due in fresh)
            if not fresh:
                following = outbox.next_due(self.receiver.name, now)
                self.look_at = now + int(poll * _SECOND)
                if following is not None:
                    self.look_at = min(self.look_at, following)
        waits = [self.look_at - now] if self.look_at > now else []
        if self._ready and self._next > now:
            waits.append(self._next - now)
        return min([poll, *(wait / _SECOND for wait in waits)])

    def take(self, now: int) -> Due | None:
        """The next delivery to attempt, None if none may be attempted now; what is muted is put aside."""
        if self.gone or not self._ready or now < self._next:
            return None
        if self._in_flight >= self._most_in_flight:
            return None
        due = self._unmuted(now)
        if due is not None:
            self._in_flight += 1
            self._not_before = max(self._not_before, now + self._pace)
        return due

    def _unmuted(self, now: int) -> Due | None:
        """The next delivery that nothing holds back; those before it are put aside."""
        while self._ready:
            due = self._ready.popleft()
            if (muted := self._muted(due, now)) is None:
                return due
            said = f"mute: {muted.reason} of {muted.silence.who} holds it back until {timestamp(muted.until)}"
            self.held.append(Held(self.receiver.name, due.number, muted.reason, said, muted.until, now))
        return None

    def _muted(self, due: Due, now: int) -> Muted | None:
        if not self.silences.any_active(now):
            return None
        return self.silences.mute(Labels(json.loads(due.body)), now)

    def companions(self, now: int) -> list[Due]:
        """Further deliveries that go out in the attempt that was taken last."""
        found: list[Due] = []
        while len(found) < self._together - 1 and (due := self._unmuted(now)) is not None:
            found.append(due)
        return found

    @property
    def _most_in_flight(self) -> int:
        if not self.breaker.closed:
            return 1
        # a little more than can be under way, so that no thread waits while outcomes are written
        own = self.receiver.in_flight
        return own if self._pace else own + min(own, 8)

    def put_back(self, dues: Sequence[Due]) -> None:
        """An attempt that was taken was not made."""
        self._in_flight -= 1
        self._ready.extendleft(reversed(dues))

    def settle(self, due: Due, outcome: Outcome, now: int) -> Settled:
        """Takes in the outcome of an attempt; what is to be written about it."""
        return self.settle_all([due], outcome, now)[0]

    def settle_all(self, dues: Sequence[Due], outcome: Outcome, now: int) -> list[Settled]:
        """The same of an attempt that several deliveries went out in."""
        self._in_flight -= 1
        self._listen(dues[0], outcome, now)
        return [self._settled(due, outcome, now) for due in dues]

    def _settled(self, due: Due, outcome: Outcome, now: int) -> Settled:
        attempts = due.attempts + 1
        if outcome.result == "delivered":
            return Settled(self.receiver.name, due.number, "delivered", attempts, outcome.detail, None, now)
        if outcome.result == "gone" or attempts >= self._schedule.attempts:
            return Settled(self.receiver.name, due.number, "failed", attempts, outcome.detail, None, now)
        delay = self._schedule.delay(attempts, self._random)
        if outcome.retry_after is not None:
            delay = max(delay, self._asked(outcome.retry_after))
        return Settled(self.receiver.name, due.number, "pending", attempts, outcome.detail, now + delay, now)

    def _listen(self, due: Due, outcome: Outcome, now: int) -> None:
        """Note what an outcome says of the receiver itself."""
        if outcome.retry_after is not None:
            self._not_before = max(self._not_before, now + self._asked(outcome.retry_after))
        self.breaker.note(due.number, outcome, now)

    def _asked(self, retry_after: int) -> int:
        return min(retry_after, int(self._schedule.longest * _SECOND))

    def written(self, settled: Iterable[Settled | Held]) -> None:
        """The outbox knows these outcomes; what is pending of them can be read again when it is due."""
        for one in settled:
            self._taken.discard(one.number)
            if one.due_at is not None:
                self.look_at = min(self.look_at, one.due_at)
