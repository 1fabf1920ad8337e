"""The lease of a job: of several processes that could run it, one does, and the others stand by.

It lies in the outbox's database, where that is one that several machines reach. The process that holds it
renews it, and every transaction that it writes checks its epoch (alerts.outbox.leases): so one that was
paused or cut off for longer than the lease, while another took over, writes nothing any more, and ends.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from alerts.codes import LOCKED, RUNS_ELSEWHERE, TAKEN_OVER
from alerts.outbox import Outbox, OutboxError
from alerts.outbox.leases import JOB, Held
from cep.errors import ConfigurationError, OutsideError
from cep.job.running.stopping import Stop
from cep.job.state_folder.folder import ended

SECONDS = 10.0
"""The length of a lease."""
_RENEWALS = 4
"""So often a lease is renewed while it lasts."""
_TICK = 0.2
"""Seconds from one look at the clock to the next."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process of a machine, as the lease names it."""

    host: str
    number: int

    @classmethod
    def own(cls) -> Process:
        """This process."""
        return cls(socket.gethostname(), os.getpid())

    @classmethod
    def named(cls, text: str) -> Process:
        """The process that a lease names."""
        number, _, host = text.removeprefix("process ").partition(" on ")
        return cls(host, int(number))

    def __str__(self) -> str:
        return f"process {self.number} on {self.host}"

    @property
    def ended(self) -> bool:
        """True if it was one of this machine and is gone."""
        return self.host == socket.gethostname() and ended(self.number)


class Leadership:
    """The lease of the job of an outbox: taken, kept until the job ends, or lost.

    `tick` is seconds that no one sets back.
    """

    def __init__(
        self,
        outbox: Outbox,
        stop: Stop,
        tell: Callable[[str], None],
        seconds: float = SECONDS,
        tick: Callable[[], float] = time.monotonic,
    ) -> None:
        self._outbox = outbox
        self._stop = stop
        self._tell = tell
        self._seconds = seconds
        self._tick = tick
        self._holder = Process.own()
        self._epoch = 0
        self._until = 0.0
        self._over = threading.Event()
        self._lost = False

    def take(self, standby: bool) -> bool:
        """Wait for the lease and take it; False if the job was to stop meanwhile.

        One that is not renewed is waited for until it ends. Of one that is renewed a `standby` waits for the
        end, however long; else ConfigurationError is raised. Raises OutboxError, where not on standby.
        """
        first: Held | None = None
        told = False
        while not self._stop.is_set():
            begun = self._tick()
            try:
                held = self._outbox.job_lease()
                if held is None or held.left <= 0 or Process.named(held.holder).ended:
                    taken = self._outbox.take_job(str(self._holder), held, self._seconds)
                    if taken is not None:
                        self._epoch, self._until = taken, begun + self._seconds
                        if told and held is not None:
                            self._tell(f"takes over the job from {held.holder}")
                        return True
                    continue
            except OutboxError as error:
                if not standby or not (error.passing or error.code == LOCKED):
                    raise
                self._stop.wait(1)
                continue
            if not standby and first is not None and held.renewed_since(first):
                raise ConfigurationError(
                    f"{held.holder} runs the job of this outbox",
                    "stop it first, start this one with --standby, or give it an outbox of its own",
                    RUNS_ELSEWHERE,
                )
            if not told:
                told = True
                what = "on standby" if standby else "waiting for the end of a lease"
                self._tell(f"{what}: {held.holder} runs the job")
            first = first or held
            self._stop.wait(min(max(held.left, 0.05), 0.5))
        return False

    def keep(self, stack: ExitStack) -> None:
        """Renew the lease in a thread of its own until `stack` ends; then it is given back."""
        keeper = threading.Thread(target=self._keep, name="lease of the job", daemon=True)
        keeper.start()

        def end() -> None:
            self._over.set()
            keeper.join()
            if not self._lost:
                with suppress(OutboxError):  # then it ends by itself
                    self._outbox.give_leases_back({JOB: self._epoch})

        stack.callback(end)

    def assure(self) -> None:
        """Return when the lease is known to be held: by its own time, or else by the database's word.

        Raises OutboxError.
        """
        if self._tick() >= self._until:
            self._renew()

    def _keep(self) -> None:
        due = self._until - self._seconds * (1 - 1 / _RENEWALS)
        while not self._over.wait(_TICK):
            if self._tick() < due:
                continue
            try:
                self._renew()
                due = self._tick() + self._seconds / _RENEWALS
            except OutboxError as error:
                if error.code == TAKEN_OVER:
                    self._lost = True
                    self._stop.end(OutsideError(error.message, error.help, error.code))
                    return

    def _renew(self) -> None:
        begun = self._tick()
        self._outbox.renew_job(str(self._holder), self._epoch, self._seconds)
        self._until = begun + self._seconds
