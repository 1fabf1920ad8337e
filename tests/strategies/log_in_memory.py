"""A log in memory that commits records and position together or not at all, the model of what brokers do."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Literal

from alerts.position import Placed, Position
from alerts.receivers.receiver import Outcome

Fate = Literal["delivered", "lost", "unheard", "raised", "crash", "cut", "empty", "refused", "not opened"]
"""What becomes of an attempt: it is committed; it is not; it is, and nobody hears of that; the receiver has a
mistake; it is committed and the process ends before it is written down; of the first half only; of nothing
(the session ends); all but the first; the session cannot be opened."""
FATES: tuple[Fate, ...] = (
    "delivered", "lost", "unheard", "raised", "crash", "cut", "empty", "refused", "not opened",
)  # fmt: skip


class Log:
    """What outlives every process: what was committed, and the fates of the attempts to come."""

    def __init__(self, fates: Sequence[Fate]) -> None:
        self.committed: list[str] = []
        self.last = Position(0)
        self.fates = list(fates)
        self.epoch = 0
        self.refused: set[str] = set()
        self.crash = threading.Event()
        self.shared = False
        """Whether several processes open sessions at once."""

    def fate(self) -> Fate:
        return self.fates.pop(0) if self.fates else "delivered"


class LogReceiver:
    """The receiver of one process."""

    name, in_flight, together = "stream", 1, 4

    def __init__(self, log: Log) -> None:
        self.log = log

    def open(self, id_: str) -> LogSession | Outcome:
        assert id_
        if self.log.fates[:1] == ["not opened"]:
            self.log.fate()
            return Outcome("unreachable", "no broker")
        self.log.epoch += 1
        return LogSession(self.log)

    def send(self, id_: str, body: str, now: int) -> Outcome:  # noqa: ARG002
        raise AssertionError("only a test of the receiver would")

    def close(self) -> None:
        pass


class LogSession:
    def __init__(self, log: Log) -> None:
        self.last, self.over, self.log, self.epoch = log.last, False, log, log.epoch
        self.notice = ""

    def send(self, number: int, dues: Sequence[Placed], now: int) -> Sequence[Outcome]:  # noqa: ARG002
        assert not self.over
        if self.epoch != self.log.epoch:
            assert self.log.shared, "another session was opened"
            self.over = True
            return [Outcome("unreachable", "another one writes")] * len(dues)
        assert number > self.log.last.number
        if self.log.crash.is_set():  # the process has ended, though its threads do not know
            self.over = True
            return [Outcome("unreachable", "the process has ended")] * len(dues)
        fate = self.log.fate()
        if fate == "raised":
            raise RuntimeError("a mistake")
        if fate in ("lost", "not opened"):
            self.over = True
            return [Outcome("unreachable", "cut off")] * len(dues)
        if fate == "empty":
            self.over = True
            return ()
        if fate == "cut":
            dues = dues[: (len(dues) + 1) // 2]
        refused = {dues[0].place} if fate == "refused" else set()
        going = [due for due in dues if due.place not in refused]
        self.log.refused.update(due.sign for due in dues if due.place in refused)
        if going:
            self.log.committed += [due.sign for due in going]
            self.log.last = Position.of(number, going)
        if fate == "unheard":
            self.over = True
            return [Outcome("unreachable", "no answer")] * len(dues)
        if fate == "crash":
            self.log.crash.set()
        no, yes = Outcome("refused", "too large"), Outcome("delivered", "")
        return [no if due.place in refused else yes for due in dues]

    def close(self) -> None:
        self.over = True
