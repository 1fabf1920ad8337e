"""The queue of one receiver: which delivery is attempted next, when, and when to leave the receiver alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from alerts.breaker import Breaker
from alerts.due import Due
from alerts.keys_in_order import KeysInOrder
from alerts.outbox import Held, Outbox, Settled
from alerts.outbox.notifications import Making, MakingDone
from alerts.receivers.receiver import Following, Gathering, OfEpisodes, Outcome, Receiver, Transacting
from alerts.settings import Settings
from alerts.stages.candidate import Candidate, Hold
from alerts.stages.inhibit import Inhibitors
from alerts.stages.notifying import Notifying
from alerts.stages.throttle import OVER
from alerts.transactions import Transactions

_SECOND = 1_000_000_000
_AHEAD = 256  # deliveries read from the outbox at once
_MADE_AHEAD = 64  # notifications that are made in one transaction, and then wait for an attempt


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

    def __init__(
        self, receiver: Receiver, schedule: Schedule, random: Random, stages: Notifying | None = None
    ) -> None:
        self.receiver = receiver
        self.breaker = Breaker(lambda number: schedule.pause(number, random), int(schedule.longest * _SECOND))
        self.look_at = 0
        """When to look into the outbox again, wall clock in ns; 0: at once."""
        self.stages = stages or Notifying(receiver.name, Settings(), Inhibitors(), {})
        self.held: list[Held] = []
        """Deliveries that were held back and are not written yet."""
        self.newly_held: list[str] = []
        """The reasons of what was held back since somebody counted, but for what they held before."""
        self._schedule = schedule
        self._random = random
        self._ready: deque[Candidate] = deque()
        self._unspent: deque[Due] = deque()  # made, and over the rate for now
        self._taken: set[int] = set()
        self._keys = KeysInOrder(self.stages.throttle) if self.stages.manner.by_key else None
        self._read_all = True
        self._in_flight = 0
        self._not_before = 0
        self._together, self._pace = 1, 0
        self._of_episodes = isinstance(receiver, OfEpisodes)
        self.follows = isinstance(receiver, Following)
        """True for a receiver that is told what becomes of episodes."""
        if isinstance(receiver, Gathering):
            self._together, self._pace = receiver.together, receiver.pace
        self.transactions = Transactions()
        self.transacts = isinstance(receiver, Transacting)
        """True for a receiver that takes transactions."""
        if isinstance(receiver, Transacting):
            self._together = receiver.together

    def take_up(self, outbox: Outbox, now: int) -> None:
        """Begin where a program before ended. Raises OutboxError."""
        outbox.take_up(self.receiver.name, self.stages, now)

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
    def any_ready(self) -> bool:
        """True if something is read and neither attempted nor held back."""
        return bool(self._ready)

    @property
    def more_to_read(self) -> bool:
        """True if the outbox had more than was read, and all that was read is attempted or held back."""
        return not self._read_all and not self._ready

    @property
    def _next(self) -> int:
        """The moment before which nothing is attempted."""
        return max(self._not_before, self.breaker.standing.probe_at or 0)

    def fill(self, outbox: Outbox, now: int, poll: float) -> float:
        """Reads what is due, if it is time to; seconds until it may be worth looking again.

        Raises OutboxError.
        """
        if self.gone or self._transaction_under_way:
            return poll
        if len(self._ready) <= self.receiver.in_flight and now >= self.look_at:
            most = len(self._taken) + max(_AHEAD, self._together)
            over = self.stages.throttle.next_at(now) > now
            found = outbox.due(
                self.receiver.name, now, most, of_episodes=self._of_episodes, follows=self.follows,
                but=OVER if over else None,
            )  # fmt: skip
            fresh = [due for due in found if due.place not in self._taken]
            self._read_all = len(found) < most
            if self._keys is not None:
                fresh.sort(key=lambda due: due.number)
                self._keys.forget_settled(outbox, self.receiver.name, now)
            self._ready.extend(map(Candidate, fresh))
            self._taken.update(due.place for due in fresh)
            if not fresh:
                following = outbox.next_due(self.receiver.name, now, follows=self.follows)
                self.look_at = now + int(poll * _SECOND)
                if following is not None:
                    self.look_at = min(self.look_at, following)
                if over:  # what it holds back is due then
                    self.look_at = min(self.look_at, self.stages.throttle.next_at(now))
        waits = [self.look_at - now] if self.look_at > now else []
        if self._unspent:
            waits.append(self._spend_again(now))
        if self._ready and self._next > now:
            waits.append(self._next - now)
        return min([poll, *(wait / _SECOND for wait in waits)])

    def _spend_again(self, now: int) -> int:
        """Nanoseconds until what is over the rate may go; where that is now, it is ready."""
        wait = self.stages.throttle.next_at(now) - now
        if wait <= 0:
            self._ready.extendleft(map(Candidate, reversed(self._unspent)))
            self._unspent.clear()
        return max(wait, 0)

    def take(self, now: int) -> Due | None:
        """The next delivery to attempt, None if none may be attempted now; what a stage holds back is put
        aside. What is to be made first (`makings`) waits for that."""
        if self._waits(now):
            return None
        due = self._let_through(now)
        if due is not None:
            self._in_flight += 1
            self._not_before = max(self._not_before, now + self._pace)
            self.stages.throttle.spend(now)
        return due

    def _waits(self, now: int) -> bool:
        idle = self.gone or not self._ready or now < self._next
        return idle or self._in_flight >= self._most_in_flight or self._transaction_under_way

    def _let_through(self, now: int) -> Due | None:
        """The next delivery that nothing holds back; those before it are put aside."""
        while self._ready:
            one = self._ready.popleft()
            due = one.due
            if not due.settled and self.stages.make:
                self._ready.appendleft(one)
                return None
            keys = self._keys if due.follow is None else None
            if keys is not None and not keys.has_begun(due) and keys.waits(one):
                continue
            if due.settled:  # what it is about was settled when it was made
                if self.stages.throttle.next_at(now) > now:
                    self._unspent.append(due)
                    continue
            elif self._held_back(one, now):
                continue
            if keys is not None and not keys.has_begun(due):
                keys.begin(one)
            return due
        return None

    def makings(self, now: int) -> list[Making]:
        """The notifications that are to be made before anything is attempted; what a stage holds back is put
        aside. They are to be given to `made` when they are, else to `unmade`."""
        if not self.stages.make or self._waits(now):
            return []
        # those that are made go first: what is to be made waits for the room that they take
        self._ready = deque(sorted(self._ready, key=lambda one: one.due.made is None))
        waiting = sum(one.due.made is not None for one in self._ready)
        room = (_MADE_AHEAD if self.breaker.closed and not self._pace else 1) - waiting
        free = self.stages.throttle.free(now)
        room = room if not free else min(room, free - waiting)
        kept: deque[Candidate] = deque()
        found: list[tuple[Candidate, set[int]]] = []
        of_group: dict[str, set[int]] = {}
        while self._ready:
            one = self._ready.popleft()
            joined = None if one.due.settled else of_group.get(self.stages.group.name(one))
            if one.due.settled or (joined is None and len(found) >= room):
                kept.append(one)
                continue
            if joined is None and self._keys is not None and self._keys.waits(one):
                continue
            if self._held_back(one, now):
                continue
            kept.append(one)
            if joined is not None:
                joined.add(one.due.number)
                continue
            found.append((one, {one.due.number}))
            if name := self.stages.group.name(one):
                of_group[name] = found[-1][1]
            if self._keys is not None:
                self._keys.begin(one)
        self._ready = kept
        return [self._making(one, numbers, now) for one, numbers in found]

    def _making(self, first: Candidate, numbers: set[int], now: int) -> Making:
        until, name = now + self.stages.group.interval(first), self.receiver.name
        return Making(name, frozenset(numbers), first.group, until, self._of_episodes, first.due.place)

    def _held_back(self, one: Candidate, now: int) -> bool:
        hold = self.stages(one, now)
        if hold is None:
            return False
        if hold.reason == one.due.held == OVER:  # as the outbox has it
            self._taken.discard(one.due.place)
        else:
            self._hold(one.due, hold, now)
        return True

    def _hold(self, due: Due, hold: Hold, now: int) -> None:
        name = self.receiver.name
        self.held.append(Held(name, due.number, hold.reason, hold.said, hold.until, now, hold.group))
        if self._keys is not None:
            self._keys.is_held(due)
        if due.held != hold.reason:
            self.newly_held.append(hold.reason)

    def made(self, some: Sequence[tuple[Making, MakingDone]], now: int) -> None:
        """These notifications were made, or stages hold back all that they were to be made of."""
        ready: dict[int, Due | None] = {}
        gone: set[int] = set()
        for making, done in some:
            gone |= making.numbers.union(done.numbers)
            ready[making.first] = done.made
            if done.made is not None and making.group is not None:
                self.stages.group.told(making.group, making.quiet_until, now)
        before, self._ready = self._ready, deque()
        for one in before:
            made = ready.pop(one.due.place, None)
            if made is not None:
                self._taken.add(made.place)
                self._ready.append(Candidate(made))
            elif one.due.settled or one.due.number not in gone:
                self._ready.append(one)
        self._taken -= gone
        if self._keys is not None:
            for making, done in some:
                if done.made is None:
                    self._ready.extendleft(reversed(self._keys.end(making.first, None)))
                else:
                    self._keys.go_on_as(making.first, done.made, gone)

    def unmade(self, some: Sequence[Making]) -> None:
        """These notifications could not be made."""
        if self._keys is not None:
            for making in some:
                self._ready.extend(self._keys.end(making.first, None))
            self._ready = deque(sorted(self._ready, key=lambda one: one.due.number))

    def companions(self, now: int) -> list[Due]:
        """Further deliveries that go out in the attempt that was taken last."""
        found: list[Due] = []
        if self.stages.make or (self.transacts and self.transactions.session is None):
            return found
        while len(found) < self._together - 1 and (due := self._let_through(now)) is not None:
            found.append(due)
        return found

    @property
    def _transaction_under_way(self) -> bool:
        """True if what comes next has to wait until a transaction is written down."""
        return self.transacts and (self._in_flight > 0 or self.transactions.unwritten)

    @property
    def _most_in_flight(self) -> int:
        if not self.breaker.closed or self.transacts:
            return 1
        # a little more than can be under way, so that no thread waits while outcomes are written
        own = self.receiver.in_flight
        return own if self._pace else own + min(own, 8)

    def forget(self) -> None:
        """An attempt that was taken was not made, and what is read may not be as it was read."""
        self._in_flight -= 1
        self.stages.throttle.unspend()
        self._ready.clear()
        self._unspent.clear()
        self._taken.clear()
        self.stages.throttle.failing.clear()
        if self._keys is not None:
            self._keys = KeysInOrder(self.stages.throttle)
        self.look_at = 0

    def put_back(self, dues: Sequence[Due]) -> None:
        """An attempt that was taken was not made."""
        self._in_flight -= 1
        self.stages.throttle.unspend()
        self._leave(dues)

    def _leave(self, dues: Sequence[Due]) -> None:
        for due in dues:
            self._release(due)
        self._ready.extendleft(map(Candidate, reversed(dues)))

    def _release(self, due: Due, settled: Settled | None = None) -> None:
        """Look again at what came behind one of its key."""
        if self._keys is not None:
            self._ready.extendleft(reversed(self._keys.end(due.place, settled)))

    def settle(self, due: Due, outcome: Outcome, now: int) -> Settled:
        """Takes in the outcome of an attempt; what is to be written about it."""
        return self.settle_all([due], [outcome], now)[0]

    def settle_all(self, dues: Sequence[Due], outcomes: Sequence[Outcome], now: int) -> list[Settled]:
        """The same of an attempt that several deliveries went out in; those behind the last outcome were not
        attempted."""
        self._in_flight -= 1
        first = next((one for one in outcomes if one.result != "refused"), outcomes[0])
        self._listen(dues[0], first, now)
        made = dues[: len(outcomes)]
        found = [self._settled(due, outcome, now) for due, outcome in zip(made, outcomes, strict=True)]
        self._leave(dues[len(made) :])
        for due, settled in zip(made, found, strict=True):
            self._release(due, None if self.transacts else settled)
        return found

    def _settled(self, due: Due, outcome: Outcome, now: int) -> Settled:
        attempts, name, said = due.attempts + 1, self.receiver.name, outcome.detail
        made = (None if due.made is None else due.made.number), due.follow
        if outcome.result == "delivered":
            return Settled(name, due.number, "delivered", attempts, said, None, now, *made)
        if outcome.result == "refused":
            return Settled(name, due.number, "failed", attempts, said, None, now, *made)
        if self.transacts:  # it is the receiver that fails, whatever it gets: in order, at its first moment
            return Settled(name, due.number, "pending", attempts, said, due.recorded_at, now, *made)
        if outcome.result == "gone" or attempts >= self._schedule.attempts:
            return Settled(name, due.number, "failed", attempts, said, None, now, *made)
        delay = self._schedule.delay(attempts, self._random)
        if outcome.retry_after is not None:
            delay = max(delay, self._asked(outcome.retry_after))
        return Settled(name, due.number, "pending", attempts, said, now + delay, now, *made)

    def _listen(self, due: Due, outcome: Outcome, now: int) -> None:
        """Note what an outcome says of the receiver itself."""
        if outcome.retry_after is not None:
            self._not_before = max(self._not_before, now + self._asked(outcome.retry_after))
        number = due.number
        if self.transacts:
            number = self.transactions.attempts  # no alert is to blame
            if (failures := self.transactions.failures) > 0:
                self._not_before = now + self._schedule.pause(failures, self._random)
        self.breaker.note(number, outcome, now)

    def _asked(self, retry_after: int) -> int:
        return min(retry_after, int(self._schedule.longest * _SECOND))

    def written(self, settled: Iterable[Settled | Held]) -> None:
        """The outbox knows these outcomes; what is pending of them can be read again when it is due."""
        self.transactions.unwritten = False
        for one in settled:
            self._taken.discard(one.place if isinstance(one, Settled) else one.number)
            if one.due_at is not None:
                self.look_at = min(self.look_at, one.due_at)
