"""Receivers: what each gets, what waits for it, and how it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from alerts.standing import Standing
from cep.web.desk.desk import JobDesk, moment_or_none
from cep.web.desk.errors import MissingError
from cep.web.desk.filters import told
from rules.suggest import meant

if TYPE_CHECKING:
    from alerts.outbox import Outbox, Status
    from cep.config import Job, Receiver


@dataclass(frozen=True, slots=True)
class ReceiverView:
    """A receiver of job.toml; `where` is without secrets. `since` is when it came to stand as it does.

    `pending`, `failed` and `held` count deliveries, `oldest_seconds` is how long one waits already;
    None: there is no outbox yet.
    """

    receiver: str
    kind: str
    where: str
    rules: tuple[str, ...] | None
    severity: str
    state: str
    reason: str
    since: str | None
    pending: int | None
    failed: int | None
    held: int | None
    oldest_seconds: float | None


def receivers_now(desk: JobDesk) -> tuple[ReceiverView, ...]:
    """The receivers of the job, in the order of job.toml. Raises OutboxError."""
    return receivers_of(desk.job, desk.outbox, desk.clock())


def receivers_of(job: Job, outbox: Outbox | None, now: int) -> tuple[ReceiverView, ...]:
    """The same of a job that may have no outbox yet; `now` is the wall clock in ns."""
    if outbox is None:
        return tuple(_view(one, None, {}, now) for one in job.receivers)
    status, standings = outbox.status(), outbox.standings()
    return tuple(_view(one, status, standings, now) for one in job.receivers)


def receiver_named(job: Job, name: str) -> Receiver:
    """The receiver of that name. Raises MissingError."""
    found = {receiver.name: receiver for receiver in job.receivers}
    if name not in found:
        help_ = meant(name[:100], found, "receivers") if found else "write [receivers.NAME] in it"
        raise MissingError(f"{job.file.name} has no receiver `{told(name)}`", help_)
    return found[name]


def _view(
    receiver: Receiver, status: Mapping[str, Status] | None, standings: Mapping[str, Standing], now: int
) -> ReceiverView:
    standing = standings.get(receiver.name, Standing())
    mine = None if status is None else status.get(receiver.name)
    none = None if status is None else 0
    since = standing.since_at or standing.failing_since_at
    return ReceiverView(
        receiver=receiver.name,
        kind=receiver.target.kind,
        where=receiver.target.where,
        rules=receiver.rules,
        severity=receiver.severity,
        state=standing.shown(now),
        reason=standing.reason,
        since=moment_or_none(None if since is None else since // 10**9 * 10**9),
        pending=mine.pending if mine else none,
        failed=mine.failed if mine else none,
        held=mine.held if mine else none,
        oldest_seconds=None if status is None else _age(mine, now),
    )


def _age(mine: Status | None, now: int) -> float:
    """Seconds since the oldest pending delivery was recorded."""
    return 0.0 if mine is None or mine.oldest_at is None else round(max(0, now - mine.oldest_at) / 1e9, 1)
