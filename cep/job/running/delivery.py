"""The delivery of a running job's alerts to the receivers of job.toml, in a thread of its own."""

from __future__ import annotations

import socket
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from alerts.dispatch import Dispatcher
from alerts.listeners import Listeners
from alerts.outbox import Outbox
from alerts.settings import Settings
from alerts.sharing import Holder
from cep.config import Receiver
from cep.job.running.progress import Progress
from cep.job.running.stopping import Stop
from cep.receivers_made import receiver_made
from cep.web.metrics import Metrics

_LONGEST = 60.0
"""Seconds that `--once` waits for its alerts to be delivered; what is not stays in the outbox."""


class Deliverer:
    """Delivers to some receivers by `settings`; `environ` has their secrets. `folder` is the job's state."""

    def __init__(
        self,
        receivers: tuple[Receiver, ...],
        environ: Mapping[str, str],
        metrics: Metrics,
        progress: Progress,
        stop: Stop,
        settings: Settings,
        folder: Path,
    ) -> None:
        self._receivers = receivers
        self._environ = environ
        self._metrics = metrics
        self._progress = progress
        self._stop = stop
        self._settings = settings
        self._folder = folder.resolve()
        self._outbox: Outbox
        self._dispatcher: Dispatcher

    @property
    def names(self) -> list[str]:
        """The names of the receivers."""
        return [receiver.name for receiver in self._receivers]

    def start(self, outbox: Outbox, stack: ExitStack) -> None:
        """Deliver from now on, until `stack` ends it; a job that is to stop begins no attempt any more."""
        for name, status in outbox.unserved(self.names).items():
            self._progress.tell(
                f"{name} is no receiver of job.toml any more; deliveries that stay pending: {status.pending}"
            )
        screen = self._progress.above(sys.stdout)
        holder = Holder(f"the job of {self._folder} on {socket.gethostname()}") if outbox.shared else None
        dispatcher = Dispatcher(
            outbox,
            [receiver_made(one, self._environ, screen) for one in self._receivers],
            listeners=Listeners(self._metrics.attempted, self._progress.tell, self._metrics.held),
            settings=self._settings,
            holder=holder,
        )
        self._outbox, self._dispatcher = outbox, dispatcher
        dispatcher.start()
        stack.callback(dispatcher.stop)
        self._stop.on_request = dispatcher.cease  # what is not sent yet is sent after the next start
        if self._stop.is_set():
            dispatcher.cease()

    def wake(self) -> None:
        """There is something new in the outbox."""
        self._dispatcher.wake()

    def finish(self) -> None:
        """Wait for deliveries, and tell which are left."""
        self._stop.stage = lambda: "delivering"
        if not self._dispatcher.drain(_LONGEST, self._stop.is_set):
            for name, status in self._outbox.status().items():
                if status.pending:
                    self._progress.tell(
                        f"to {name} {status.pending:,} of the alerts are not delivered yet; the next start "
                        "on this folder tries again"
                    )
