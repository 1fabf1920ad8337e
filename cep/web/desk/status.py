"""The state of a job in a few numbers: batches, deliveries, episodes, what fired, and whether to act."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from alerts.alert import SEVERITIES
from alerts.outbox.counts import counted_since
from alerts.outbox.stored import read_batch, read_batches
from cep.events import MIN_TIME
from cep.job.state_folder import dead_letters
from cep.job.state_folder.manifest import result_of
from cep.web.desk.batches import watermark_text
from cep.web.desk.desk import JobDesk, moment
from cep.web.desk.episodes import states_counted
from cep.web.desk.receivers import ReceiverView, receivers_now

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from alerts.outbox import BatchRecord
    from cep.config import Job

QUARTER = 15 * 60 * 10**9
DAY = 24 * 3_600 * 10**9


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job as it stands. `status` is starting, running, waiting, stuck, stopping, failed or stopped.

    `since` is when it came to be so, `batch_seconds` the time that the last batch took; both None where the
    job does not run. `alerts` counts by severity what was recorded in the last 15 minutes and 24 hours.
    `to_do` says in words why a person must act, and is empty if nobody has to.
    """

    job: str
    status: str
    since: str | None
    now: str
    batch: int | None
    batch_recorded_at: str | None
    watermark: str | None
    seconds_since_batch: float | None
    batch_seconds: float | None
    trigger_seconds: float
    packs: Mapping[str, str]
    outbox_age_seconds: float
    receivers: tuple[ReceiverView, ...]
    episodes: Mapping[str, int]
    dead_letters: int
    alerts: Mapping[str, Mapping[str, int]]
    to_do: tuple[str, ...]


def status_now(
    desk: JobDesk, alerts: Mapping[str, Mapping[str, int]] | None = None, most: int | None = None
) -> JobStatus:
    """The state of the job. Raises OutboxError.

    `alerts` has what it tells of alerts by severity, where they are counted already. With `most`, of more
    episodes in a state no more than one more is counted.
    """
    now = desk.clock()
    told: Mapping[str, object] = {} if desk.live is None else desk.live.health().told
    last = None if desk.driver is None else desk.driver.last
    with desk.outbox.reading() as connection:
        record = read_batch(connection, None)
        episodes = states_counted(connection, most)
        dead = sum(dead_letters.counts(connection).values())
        if alerts is None:
            alerts = {
                "15 minutes": _alerts(connection, now - QUARTER),
                "24 hours": _alerts(connection, now - DAY),
            }
        newest = read_batches(connection, None, 1)
    receivers = receivers_now(desk)
    packs = record.result.get("revisions") if record else None
    status, seconds = told.get("status", "stopped"), told.get("seconds_since_batch")
    return JobStatus(
        job=desk.job.name,
        status=str(status),
        since=str(told["since"]) if "since" in told else None,
        now=moment(now),
        batch=None if record is None else record.number,
        batch_recorded_at=moment(newest[0][1]) if newest else None,
        watermark=watermark_text(None if record is None else record.result.get("watermark")),
        seconds_since_batch=seconds if isinstance(seconds, float) else None,
        batch_seconds=None if last is None else round(last.seconds, 3),
        trigger_seconds=desk.job.trigger / 1e9,
        packs={str(k): str(v) for k, v in packs.items()} if isinstance(packs, dict) else {},
        outbox_age_seconds=max((one.oldest_seconds or 0.0 for one in receivers), default=0.0),
        receivers=receivers,
        episodes=episodes,
        dead_letters=dead,
        alerts=alerts,
        to_do=tuple(_to_do(str(status), receivers, episodes, awaited(desk.job, record))),
    )


def awaited(job: Job, record: BatchRecord | None) -> tuple[str, ...]:
    """The feeds that brought no event yet, where event time has not begun since it waits for them."""
    if record is None or watermark_text(record.result.get("watermark")) is not None:
        return ()
    try:
        greatest = result_of(record.result).greatest
    except ValueError:
        return ()
    come = {stream for (stream, _), time in greatest.items() if time > MIN_TIME}
    return tuple(feed.name for feed in job.feeds if feed.name not in come) if come else ()


def _alerts(connection: Connection, since: int) -> dict[str, int]:
    found = dict.fromkeys(SEVERITIES, 0)
    for one in counted_since(connection, since):
        found[one.severity] += one.alerts
    return found


def _to_do(
    status: str, receivers: tuple[ReceiverView, ...], episodes: Mapping[str, int], waits_for: tuple[str, ...]
) -> Iterator[str]:
    if status in ("waiting", "stuck", "failed"):
        yield f"the job is {status}"
    if status == "stopped":
        yield "the job does not run"
    if waits_for:
        names = ", ".join(waits_for)
        yield f"no event came yet of {names}: event time waits, and until then no rule fires"
    for one in receivers:
        if one.state == "paused":
            yield f"{one.receiver} is paused: {one.reason}"
        elif one.state != "closed":
            yield f"{one.receiver} does not take alerts: {one.reason}"
    if episodes.get("open"):
        yield f"open episodes: {episodes['open']:,}"
