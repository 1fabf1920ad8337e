"""The threads that write a job's dead letters and late events to topics, each once; no batch waits for them.

They are in the outbox's database since their batch was written. A transaction takes the next ones of a table,
in the order of their numbers, and carries the position that it leads to, as transactions of alerts do.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from random import Random
from typing import TYPE_CHECKING

from sqlalchemy import Table

from alerts.codes import AHEAD
from alerts.lane import Schedule
from alerts.outbox import OutboxError
from alerts.receivers.receiver import Outcome
from cep.job.state_folder.dead_letters import dead_letters, late_events
from cep.job.state_folder.letters_on_topics import Letter, digest_of, letters_after
from cep.sources.kafka.options import revealed

if TYPE_CHECKING:
    from alerts.outbox import Outbox
    from alerts.receivers.kafka import TopicWay
    from alerts.receivers.topic_session import TopicSession
    from cep.config.job import Letters

_AT_ONCE = 2_000
_LONGEST = 60.0
"""Seconds that `--once` waits for its letters to be written; what is not is written by the next start."""
_SECOND = 1_000_000_000


class LettersOut:
    """Writes what `letters` says, until it is stopped; where that is None, nothing. `tell` is called with a
    sentence when a topic cannot be written, and when it can be again."""

    def __init__(
        self, letters: Letters | None, environ: Mapping[str, str], tell: Callable[[str], None]
    ) -> None:
        self._letters = letters
        self._environ = environ
        self._tell = tell
        self._writers: list[LetterWriter] = []

    def start(self, outbox: Outbox, stack: ExitStack) -> None:
        """Begin to write, until `stack` ends it. Raises SecretError."""
        if self._letters is None:
            return
        from alerts.receivers.kafka import Topic, TopicWay
        from alerts.receivers.topic_session import TopicRecord

        def record(letter: Letter) -> TopicRecord:
            return TopicRecord(None, letter.value, list(letter.headers))

        told = revealed(self._letters.options, self._environ)
        for table, name in ((dead_letters, self._letters.topic), (late_events, self._letters.late)):
            if name is not None:
                topic = Topic(self._letters.servers, name, told)
                way = TopicWay(table.name, topic, record)
                self._writers.append(LetterWriter(table, way, outbox, self._tell))
        for writer in self._writers:
            writer.start()
            stack.callback(writer.stop)

    def wake(self) -> None:
        """Say that there may be something new. Returns at once."""
        for writer in self._writers:
            writer.wake()

    def finish(self, given_up: Callable[[], bool]) -> None:
        """Wait until all is written that is there, but for no longer than a minute, nor once `given_up`."""
        until = time.monotonic() + _LONGEST
        for writer in self._writers:
            if not writer.drain(until, given_up):
                self._tell(f"{writer.what} are not all on their topic yet; the next start goes on")


class LetterWriter:
    """Writes the rows of one table to a topic, in a thread of its own."""

    def __init__(
        self, table: Table, way: TopicWay[Letter], outbox: Outbox, tell: Callable[[str], None]
    ) -> None:
        self.what = table.name.replace("_", " ")
        self._key = f"/{table.name}"  # no receiver is called so
        self._table = table
        self._way = way
        self._outbox = outbox
        self._tell = tell
        self._session: TopicSession[Letter] | None = None
        self._after = self._number = 0
        self._failures = 0
        self._told = ""
        self._asked = self._answered = 0
        self._heard = threading.Condition()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"letters-{table.name}", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self.wake()
        self._thread.start()

    def wake(self) -> None:
        """Say that there may be something new. Returns at once."""
        with self._heard:
            self._asked += 1
            self._heard.notify_all()

    def stop(self) -> None:
        """End; a transaction that is under way comes to its end."""
        self._stopping.set()
        self.wake()
        self._thread.join()
        self._way.close()

    def drain(self, until: float, given_up: Callable[[], bool]) -> bool:
        """True if all that was there at the call was written before a moment of the monotonic clock."""
        self.wake()
        with self._heard:
            wanted = self._asked
            while self._answered < wanted and time.monotonic() < until and not given_up():
                self._heard.wait(0.1)
            return self._answered >= wanted

    def _run(self) -> None:
        schedule, random = Schedule(), Random()
        while not self._stopping.is_set():
            with self._heard:
                asked = self._asked
            try:
                failure = self._write_all()
            except OutboxError as error:
                failure = str(error)
            if failure:
                self._failures += 1
                if failure != self._told:
                    self._tell(f"{self.what} wait: {failure}")
                    self._told = failure
                self._stopping.wait(schedule.pause(self._failures, random) / _SECOND)
                continue
            if self._told:
                self._tell(f"{self.what} go to their topic again")
            self._failures, self._told = 0, ""
            with self._heard:
                self._answered = asked
                self._heard.notify_all()
                self._heard.wait_for(lambda: self._asked > asked)  # noqa: B023  it ends before the next turn

    def _write_all(self) -> str:
        """Write until nothing is left, or it is stopped; why it cannot go on, "" where it can."""
        while not self._stopping.is_set():
            if (session := self._session) is None:
                if failure := self._open():
                    return failure
                continue
            with self._outbox.reading() as connection:
                some = letters_after(connection, self._table, self._after, _AT_ONCE)
            if not some:
                return ""
            outcomes = session.send(self._number + 1, some, time.time_ns())
            if session.over:
                self._session = None
                if outcomes:
                    return outcomes[0].detail
                continue
            self._written(some[: len(outcomes)], outcomes)
        return ""

    def _open(self) -> str:
        """Begin a session behind what the one before wrote; why that cannot be done, "" where it was."""
        kept = self._outbox.position(self._key)
        session = self._way.open(kept.id)
        if isinstance(session, Outcome):
            return session.detail
        if session.notice:
            self._tell(f"{self.what}: {session.notice}")
        self._after, self._number = kept.number, session.last.number
        places = session.last.places
        if places and places[-1] > kept.number:
            with self._outbox.reading() as connection:
                same = digest_of(connection, self._table, places) == session.last.digest
            if same:
                self._after = places[-1]
            else:
                said = "the topic is ahead of the outbox, which was put back to how it stood earlier"
                self._tell(f"{self.what}: {said}: what was written since is written again ({AHEAD})")
        self._session = session
        return ""

    def _written(self, letters: list[Letter], outcomes: Sequence[Outcome]) -> None:
        """Take note of a transaction."""
        for letter, outcome in zip(letters, outcomes, strict=True):
            if outcome.result == "refused":
                self._tell(f"{self.what}: {letter.sign} is left out: {outcome.detail}")
        if any(one.result == "delivered" for one in outcomes):
            self._number += 1
        self._after = letters[-1].place
        self._outbox.settle([], {}, numbers={self._key: self._after})
