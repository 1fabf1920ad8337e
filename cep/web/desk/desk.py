"""The job whose alerts a desk works on: its outbox, its job file, and the job itself where it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from alerts.notation import timestamp

if TYPE_CHECKING:
    from alerts.outbox import Outbox
    from cep.config import Job
    from cep.job.batches.driver import Driver
    from cep.sources.waiting import Waiting
    from cep.web.desk.query_counts import QueryCounts
    from cep.web.server import Health


class Live(Protocol):
    """A job that runs, as its threads report it."""

    @property
    def driver(self) -> Driver | None:
        """The driver of batches; None while the job starts."""

    @property
    def queries(self) -> QueryCounts:
        """The counts of standing queries."""

    @property
    def waiting(self) -> Mapping[str, Waiting]:
        """The backlog of topics by stream, where that is known."""

    def health(self) -> Health:
        """The state that /healthz tells."""

    def wake(self) -> None:
        """Has deliveries looked for at once."""


@dataclass(frozen=True, slots=True)
class JobDesk:
    """A job as its desk sees it. `live` is None for one that does not run here.

    `environ` has the secrets of receivers, `clock` gives the wall clock in ns.
    """

    outbox: Outbox
    job: Job
    environ: Mapping[str, str]
    live: Live | None = None
    clock: Callable[[], int] = time.time_ns

    @property
    def driver(self) -> Driver | None:
        """The driver of a job that runs."""
        return None if self.live is None else self.live.driver

    def wake(self) -> None:
        """Have deliveries looked for at once, where the job runs."""
        if self.live is not None:
            self.live.wake()


def moment(at: int) -> str:
    """A moment in ns as text, without what is less than a millisecond."""
    return timestamp(at // 1_000_000 * 1_000_000)


def moment_or_none(at: int | None) -> str | None:
    """The same of a moment that may not be there."""
    return None if at is None else moment(at)
