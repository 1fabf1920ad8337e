"""Feeds: where each stream's events come from, how far it is, and what of it could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cep.events import MAX_TIME, MIN_TIME
from cep.job.state_folder.dead_letters import counts
from cep.job.state_folder.manifest import result_of
from cep.sources.files.files import paths
from cep.web.desk.desk import JobDesk, moment

if TYPE_CHECKING:
    from cep.job.batches.driver import FinishedBatch


@dataclass(frozen=True, slots=True)
class FeedView:
    """A feed. `newest` is the greatest event time that it brought, over its partitions.

    `lag_seconds` is from its watermark to the clock when the last batch ended; None where no batch has ended
    since the job started. `waiting` are the records of topics that no batch has read yet; None where that is
    not known. `caught_up_seconds` is when none will wait, if it goes on so; None also where the next batch
    takes all, or they do not get fewer.
    """

    stream: str
    source: str
    where: str
    newest: str | None
    partitions: int
    lag_seconds: float | None
    waiting: int | None
    caught_up_seconds: float | None
    dead_letters: int


def feeds_now(desk: JobDesk) -> tuple[FeedView, ...]:
    """The feeds of the job, in the order of job.toml. Raises OutboxError."""
    record = desk.outbox.last_batch()
    try:
        greatest = {} if record is None else result_of(record.result).greatest
    except ValueError:
        greatest = {}
    with desk.outbox.reading() as connection:
        dead = counts(connection)
    last = None if desk.driver is None else desk.driver.last
    behind = {} if last is None else lags(last)
    waiting = {} if desk.live is None else desk.live.waiting
    where = paths(desk.job.feeds)
    found = []
    for feed in desk.job.feeds:
        times = [time for (stream, _), time in greatest.items() if stream == feed.name]
        newest, wait = max(times, default=MIN_TIME), waiting.get(feed.name)
        found.append(
            FeedView(
                feed.name,
                feed.source.noun,
                where.get(feed.name, ""),
                moment(newest) if MIN_TIME < newest < MAX_TIME else None,
                len(times),
                behind.get(feed.name),
                None if wait is None else wait.records,
                wait.seconds if wait is not None and wait.behind else None,
                dead.get(feed.name, 0),
            )
        )
    return tuple(found)


def lags(batch: FinishedBatch) -> dict[str, float]:
    """By stream, seconds from its watermark (greatest event time less lateness) to the clock, at least 0."""
    found: dict[str, float] = {}
    greatest = {**batch.manifest.greatest, **batch.outcome.seen.greatest}
    for (stream, _), time in greatest.items():
        declared = batch.plan.streams.get(stream)
        if declared is None:
            continue
        lag = max(0.0, (batch.ended - max(batch.outcome.watermark, time - declared.lateness)) / 1e9)
        found[stream] = max(lag, found.get(stream, 0.0))
    return found
