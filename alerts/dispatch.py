"""Delivery: takes what is due from the outbox, makes attempts, writes down what came of them.

One thread decides everything; attempts run in a small pool of threads per receiver. Outcomes are
committed in small batches after the fact, so that a crash repeats deliveries and never loses one: at
least once, under one id and with the same body. A receiver of transactions is asked first what it has, and
gets each once.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random

from alerts.attempting import Attempted, attempted
from alerts.codes import FENCED
from alerts.due import Due
from alerts.grouping import Grouping
from alerts.lane import Lane, Schedule
from alerts.listeners import Attempt, Listeners
from alerts.outbox import Held, Outbox, OutboxError, Settled
from alerts.receivers.receiver import Grouped, Receiver, Session
from alerts.settings import Settings
from alerts.sharing import Holder, Share
from alerts.stages.candidate import REASONS
from alerts.stages.inhibit import Inhibitors
from alerts.stages.mute import Silences
from alerts.stages.notifying import Notifying
from alerts.standing import Standing
from alerts.transactions import told

_FLUSH_EVERY = 0.02  # seconds that an outcome may wait to be written with others
_FLUSH_AT = 128
_HELD_AT = 1_024  # deliveries that are held back and not written
_UNWRITTEN = 1_024  # outcomes; with so many that could not be written, no further attempt is made


class Dispatcher:
    """Delivers the outbox's alerts to receivers until it is stopped.

    `clock` is the wall clock in nanoseconds, `random` spreads retries. `listeners` hear what happens.
    `settings` say what comes between a delivery and its notification.
    `poll` is how many seconds pass at most before it looks for deliveries that nobody woke it for.
    With a `holder` it shares the receivers with other dispatchers on the outbox.
    """

    def __init__(
        self,
        outbox: Outbox,
        receivers: Sequence[Receiver],
        *,
        clock: Callable[[], int] = time.time_ns,
        random: Random | None = None,
        schedule: Schedule | None = None,
        listeners: Listeners | None = None,
        poll: float = 1.0,
        settings: Settings | None = None,
        holder: Holder | None = None,
    ) -> None:
        self._outbox = outbox
        self._clock = clock
        self._random = random or Random()
        self._schedule = schedule or Schedule()
        self._hear = listeners or Listeners()
        self._poll = poll
        self._settings = settings or Settings()
        inhibitions = self._settings.inhibitions
        self._inhibitors = Inhibitors(
            inhibitions, lambda *times: outbox.sources_between(self._inhibitors, *times)
        )
        self._inhibitors_at: int | None = None
        self._of_way: dict[int, Grouping] = {}
        self._lanes = [self._lane(one) for one in receivers]
        self._share = None if holder is None else Share(outbox, holder, [one.name for one in receivers])
        self._pools = [
            ThreadPoolExecutor(r.in_flight, thread_name_prefix=f"deliver-{r.name}") for r in receivers
        ]
        self._following = {lane.receiver.name for lane in self._lanes if lane.follows}
        self._inbox: queue.SimpleQueue[Attempted | None] = queue.SimpleQueue()
        self._unwritten: list[Settled] = []
        self._unwritten_held: list[Held] = []
        self._unwritten_numbers: dict[str, int] = {}
        self._silences_at = 0
        self._write_at: float | None = None
        self._write_failures = 0
        self._paused_at: dict[str, tuple[int, float]] = {}
        self._kept: dict[str, Standing] = {}
        self._asked_at = 0.0
        self._in_flight = 0
        self._missed: set[str] = set()
        self._stopping = threading.Event()
        self._progress = threading.Condition()
        self.failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="dispatcher", daemon=True)

    def start(self) -> None:
        """Begins to deliver, to receivers as they stood when another program ended. Raises OutboxError."""
        if self._following:
            self._outbox.follow()
        self._kept = self._outbox.standings()
        if (branches := self._settings.branches) is not None:
            ways = self._outbox.ways(branches)
            of_branch = {number: one.grouping for number, one in enumerate(branches.all, 1)}
            self._of_way.update({ways[n]: one for n, one in of_branch.items() if one is not None})
        if self._share is None:
            for lane in self._lanes:
                self._begin_with(lane)
        self._thread.start()

    def _lane(self, receiver: Receiver) -> Lane:
        apart = isinstance(receiver, Grouped) and receiver.apart
        stages = Notifying(receiver.name, self._settings, self._inhibitors, self._of_way, apart=apart)
        return Lane(receiver, self._schedule, self._random, stages)

    @property
    def _served(self) -> list[tuple[Lane, ThreadPoolExecutor]]:
        """The lanes whose receivers this dispatcher serves now."""
        every = zip(self._lanes, self._pools, strict=True)
        return [one for one in every if self._share is None or self._share.has(one[0].receiver.name)]

    def _renew(self) -> None:
        """Keep the leases; a receiver that is gained is begun with as after a restart, one that is lost is
        forgotten."""
        if self._share is None:
            return
        try:
            gained, lost = self._share.renew()
            for place, lane in enumerate(self._lanes):
                name = lane.receiver.name
                if name in gained or name in lost:
                    self._unwritten = [one for one in self._unwritten if one.receiver != name]
                    self._unwritten_held = [one for one in self._unwritten_held if one.receiver != name]
                    self._unwritten_numbers.pop(name, None)
                    self._lanes[place] = self._lane(lane.receiver)
                if name in gained:
                    self._begin_with(self._lanes[place])
                    if (before := gained[name]) is not None:
                        self._hear.report(f"{name}: taken over from {before}")
            self._missed.discard("leases")
        except OutboxError as error:
            self._miss("leases", "it is not known which receivers are to be served", error)

    def _begin_with(self, lane: Lane) -> None:
        self._kept = self._outbox.standings()
        lane.take_up(self._outbox, self._clock())
        lane.breaker.take_up(self._kept.get(lane.receiver.name, Standing()))
        if not lane.breaker.closed:
            self._tell(lane)

    def wake(self) -> None:
        """Says that the outbox may have something new. Returns at once."""
        self._inbox.put(None)

    def cease(self) -> None:
        """Begins no further attempt from now on. Returns at once; what is not attempted stays pending."""
        self._stopping.set()
        self.wake()

    def stop(self, timeout: float = 30.0) -> bool:
        """Begins no further attempt, waits for those under way, writes their outcomes, closes receivers.

        Returns whether that was done within `timeout` seconds. What was not stays pending.
        """
        self.cease()
        if self._thread.ident is not None:
            self._thread.join(timeout)
        finished = not self._thread.is_alive()
        for pool in self._pools:
            pool.shutdown(wait=False, cancel_futures=True)
        for lane in self._lanes:
            lane.receiver.close()
        return finished

    def drain(self, timeout: float, given_up: Callable[[], bool] = lambda: False) -> bool:
        """Waits until nothing is pending for its receivers; whether that came within `timeout` seconds.

        Nor does it wait any longer once it is `given_up`. A receiver that is paused is not waited for. Raises
        OutboxError.
        """
        end = time.monotonic() + timeout
        self.wake()
        while True:
            if not self._outbox.waiting(
                [lane.receiver.name for lane in self._lanes if not lane.breaker.paused]
            ):
                return not self._outbox.waiting([lane.receiver.name for lane in self._lanes])
            rest = end - time.monotonic()
            if rest <= 0 or given_up() or not self._thread.is_alive():
                return False
            with self._progress:
                self._progress.wait(min(rest, 0.1))

    @property
    def alive(self) -> bool:
        """True if it is delivering: started, not stopped, and not ended by a `failure`."""
        return self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._deliver()
        except Exception as error:
            self._hear.report(
                f"delivery has stopped by a mistake of this program: {type(error).__name__}: {error}"
            )
            raise

    def _deliver(self) -> None:
        while not (self._stopping.is_set() and self._in_flight == 0):
            wait = self._poll
            if not self._stopping.is_set():
                wait = self._begin_attempts()
            self._collect(self._until_write(wait))
            if self._write_due():
                self._write()
        self._write()
        if self._share is not None:
            with contextlib.suppress(OutboxError):  # then they end by themselves
                self._share.end()

    def _begin_attempts(self) -> float:
        """Fills the lanes and starts what may start; seconds until there may be more to do."""
        waits = [self._poll]
        self._renew()
        self._read_silences()
        self._resume()
        for lane, pool in self._served:
            try:
                if lane.recovered:
                    self._outbox.hasten(lane.receiver.name, self._clock())
                    lane.recovered, lane.look_at = False, 0
                if lane.transacts and not lane.transactions.begun:
                    lane.transactions.known = self._outbox.position(
                        lane.receiver.name, self._fence([lane.receiver.name])
                    )
                waits.append(lane.fill(self._outbox, self._clock(), self._poll))
                self._missed.discard(lane.receiver.name)
            except OutboxError as error:
                lane.look_at = self._clock() + int(self._poll * 1e9)
                self._miss(lane.receiver.name, f"deliveries to {lane.receiver.name} wait", error)
            if lane.any_ready and not self._know_inhibitors():
                continue
            self._count_paused(lane)
            self._take(lane, pool)
            if lane.held:
                self._hold(lane)
                if lane.more_to_read:
                    waits.append(0.0)
        return max(0.0, min(waits))

    def _take(self, lane: Lane, pool: ThreadPoolExecutor) -> None:
        """Make what notifications a lane wants, and start what it may attempt."""
        made = taken = 1
        while made or (taken and lane.stages.make):
            made, taken = self._make(lane), 0
            while self._unwritten_count < _UNWRITTEN and (due := lane.take(self._clock())) is not None:
                taken += 1
                self._in_flight += 1
                dues = [due, *lane.companions(self._clock())]
                pool.submit(self._attempt, lane, lane.transactions.session, dues)

    def _make(self, lane: Lane) -> int:
        """Make the notifications that a lane wants first; how many, 0 where the outbox cannot be written."""
        if not (makings := lane.makings(now := self._clock())):
            return 0
        self._hold(lane)
        self._write()
        if not self._unwritten_count:
            try:
                fence = self._fence([lane.receiver.name])
                done = self._outbox.make(makings, lane.stages, now, fence)
            except OutboxError as error:
                self._doubt(error)
                self._hear.report(f"deliveries to {lane.receiver.name} wait: {error}")
            else:
                lane.made(list(zip(makings, done, strict=True)), now)
                self._count(lane, (reason for one in done for reason in one.reasons))
                return len(makings)
        lane.unmade(makings)
        return 0

    def _know_inhibitors(self) -> bool:
        """Read the alerts that may hold back others; False if that fails."""
        if not self._settings.inhibitions:
            return True
        try:
            self._inhibitors_at, found = self._outbox.sources(self._inhibitors, self._inhibitors_at)
        except OutboxError as error:
            self._hear.report(f"deliveries wait: {error}")
            return False
        self._inhibitors.add(found)
        return True

    def _read_silences(self) -> None:
        """Read what people have silenced, as often as the outbox is looked into without being woken."""
        now = self._clock()
        if now < self._silences_at:
            return
        self._silences_at = now + int(self._poll * 1e9)
        try:
            silences = Silences(self._outbox.silences(now))
            self._missed.discard("")
        except OutboxError as error:
            self._miss("", "silences of before go on to count", error)
            return
        for lane in self._lanes:
            lane.stages.mute.silences = silences

    def _miss(self, what: str, sentence: str, error: OutboxError) -> None:
        """Report that the outbox cannot be asked; of a database that is away once, until it is back."""
        if not error.passing or what not in self._missed:
            self._hear.report(f"{sentence}: {error}")
        if error.passing:
            self._missed.add(what)

    def _hold(self, lane: Lane) -> None:
        """Note what a lane holds back, to be written with outcomes."""
        self._count(lane, lane.newly_held)
        lane.newly_held.clear()
        self._unwritten_held += lane.held
        lane.held.clear()
        if self._write_at is None:
            self._write_at = time.monotonic() + _FLUSH_EVERY

    def _count(self, lane: Lane, reasons: Iterable[str]) -> None:
        for one in reasons:
            self._hear.held(lane.receiver.name, REASONS[one.partition(" ")[0]])

    def _count_paused(self, lane: Lane) -> None:
        """Count what waits for a receiver that is paused: all of it, then what comes meanwhile."""
        name = lane.receiver.name
        if not lane.breaker.paused:
            self._paused_at.pop(name, None)
            return
        number, asked = self._paused_at.get(name, (0, -1.0))
        if time.monotonic() < asked:
            return
        with contextlib.suppress(OutboxError):  # said where deliveries are read
            count, number = self._outbox.pending_after(name, number)
            self._count(lane, ["paused"] * count)
        self._paused_at[name] = number, time.monotonic() + self._poll

    def _resume(self) -> None:
        """Looks, once in a while, whether a person has resumed a receiver that is left alone."""
        left = [lane for lane, _ in self._served if not lane.breaker.closed]
        if not left or time.monotonic() < self._asked_at or self._unwritten:
            return
        self._asked_at = time.monotonic() + self._poll
        try:
            stored = self._outbox.standings()
        except OutboxError:
            return  # said where deliveries are read
        for lane in left:
            name = lane.receiver.name
            if stored.get(name, Standing()).state == "closed" and name in self._kept:
                paused = lane.breaker.paused
                lane.breaker.resume()
                self._kept[name] = Standing()
                if paused:
                    self._tell(lane)

    def _tell(self, lane: Lane) -> None:
        standing, name = lane.breaker.standing, lane.receiver.name
        if standing.state == "paused":
            self._hear.report(
                f"{name} is paused: {standing.reason}; its alerts wait until `cep receivers resume {name}`"
            )
        elif standing.state == "closed":
            self._hear.report(f"{name} is no longer paused: what waits is sent")

    def _attempt(self, lane: Lane, session: Session | None, dues: Sequence[Due]) -> None:
        """In a thread of the receiver's pool."""
        if self._stopping.is_set() or lane.gone:
            self._inbox.put(Attempted(lane, dues, (), 0.0))
            return
        self._inbox.put(attempted(lane, session, dues, self._outbox, self._clock))

    def _until_write(self, wait: float) -> float:
        if self._write_at is None:
            return wait
        return max(0.0, min(wait, self._write_at - time.monotonic()))

    def _collect(self, wait: float) -> None:
        """Waits for something to happen, then takes in all that has happened."""
        with contextlib.suppress(queue.Empty):
            item = self._inbox.get(timeout=wait) if wait else self._inbox.get_nowait()
            while True:
                if item is None:
                    self._silences_at = 0
                    for lane in self._lanes:
                        lane.look_at = 0
                else:
                    self._settle(item)
                item = self._inbox.get_nowait()

    def _settle(self, done: Attempted) -> None:
        self._in_flight -= 1
        lane, now, receiver = done.lane, self._clock(), done.lane.receiver.name
        if lane not in self._lanes:  # another dispatcher serves the receiver now, and sends it again
            if done.opened is not None:
                done.opened.close()
            return
        if done.opened is not None:
            self._begin_session(lane, done.opened, now)
            return
        if lane.transacts and lane.transactions.note(done.outcomes):
            self._unwritten_numbers[receiver] = lane.transactions.known.number
        if not done.outcomes:
            lane.put_back(done.dues)
            return
        was_paused = lane.breaker.paused
        every = lane.settle_all(done.dues, done.outcomes, now)
        self._unwritten += every
        if lane.transacts:  # the next transaction waits for it
            self._write_at = time.monotonic() if self._write_failures == 0 else self._write_at
        elif self._write_at is None:
            self._write_at = time.monotonic() + _FLUSH_EVERY
        if lane.breaker.paused != was_paused:
            self._tell(lane)
        for due, settled, outcome in zip(done.dues, every, done.outcomes, strict=False):
            if settled.state == "failed" and not lane.gone:
                what = "alert" if due.follow is None else f"{due.follow.says} of the episode of alert"
                self._hear.report(
                    f"the {what} {due.id} to {receiver} was given up after {settled.attempts} attempts; "
                    f"the last: {settled.outcome}"
                )
            age = max(0, now - due.recorded_at) / 1e9
            self._hear.attempted(Attempt(receiver, due.id, outcome, settled.attempts, done.seconds, age))

    def _begin_session(self, lane: Lane, session: Session, now: int) -> None:
        """Write down what a receiver of transactions has; what is to be sent is read again after it."""
        name = lane.receiver.name
        self._write()
        lane.forget()
        try:
            confirmed = self._outbox.confirm(name, session.last, now, self._fence([name]))
        except OutboxError as error:
            session.close()
            lane.look_at = now + int(self._poll * 1e9)
            self._doubt(error)
            self._miss(name, f"deliveries to {name} wait", error)
            return
        lane.transactions.begin(session, confirmed)
        if session.notice:
            self._hear.report(f"{name}: {session.notice}")
        if sentence := told(name, confirmed):
            self._hear.report(sentence)

    def _fence(self, receivers: Iterable[str]) -> Mapping[str, int]:
        return {} if self._share is None else self._share.fence(receivers)

    def _doubt(self, error: OutboxError) -> None:
        if self._share is not None and error.code == FENCED:
            self._share.doubt()

    @property
    def _unwritten_count(self) -> int:
        return len(self._unwritten) + len(self._unwritten_held)

    def _write_due(self) -> bool:
        if self._write_at is None:
            return False
        many = len(self._unwritten) >= _FLUSH_AT or len(self._unwritten_held) >= _HELD_AT
        return (many and not self._write_failures) or time.monotonic() >= self._write_at

    def _write(self) -> None:
        if not self._unwritten_count:
            return
        standings = {lane.receiver.name: lane.breaker.standing for lane, _ in self._served}
        changed = {name: one for name, one in standings.items() if one != self._kept.get(name, Standing())}
        try:
            every: list[Settled | Held] = [*self._unwritten, *self._unwritten_held]
            fence = self._fence({*changed, *(one.receiver for one in every)})
            numbers, held = self._unwritten_numbers, self._unwritten_held
            self._outbox.settle(self._unwritten, changed, held, self._following, fence, numbers)
        except OutboxError as error:
            self._doubt(error)
            self._write_failures += 1
            self._write_at = time.monotonic() + min(30.0, 0.25 * 2**self._write_failures)
            self._hear.report(f"outcomes of {self._unwritten_count} deliveries are not written yet: {error}")
            return
        if self._unwritten_held:
            self._silences_at = 0  # one that was taken back meanwhile would hold them again
        for lane in self._lanes:
            written: list[Settled | Held] = [*self._unwritten, *self._unwritten_held]
            lane.written(one for one in written if one.receiver == lane.receiver.name)
        self._kept |= changed
        self._unwritten.clear()
        self._unwritten_held.clear()
        self._unwritten_numbers.clear()
        self._write_at, self._write_failures = None, 0
        with self._progress:
            self._progress.notify_all()
