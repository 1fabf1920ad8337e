"""One batch, in the parts that the job runs on several machines and `cep.evaluate` in one process.

    before the shuffle    cep.routing.classify.classify: events to payloads by shard, and what was `Seen`
    in every shard        `clock_of`: the same clock everywhere, as every mapper tells every shard what it saw
                          cep.matching.match.match_shard: payloads and state to decisions and state
    after it              alerts.stages.order.in_order over the decisions of all shards; `next_start`

The job: cep.job.mapper, cep.job.shard, cep.job.driver, whose manifest and result hold the `BatchStart`.
"""

from __future__ import annotations

from cep.operators.operator import Clock
from cep.plan.plan import Plan
from cep.watermark import BatchStart, Seen, watermark_after


def clock_of(start: BatchStart, plan: Plan, seen: Seen, one_partition: bool = False) -> Clock:
    """The clock by which a shard matches a batch; `seen` is what all parts of the batch saw.

    `one_partition`: events of all streams came interleaved, their offsets alone order them (cases, tests).
    """
    return Clock(
        start.number,
        start.watermark,
        watermark_after(start, plan, seen),
        start.since,
        one_partition,
        start.seen.joined([seen]).first,
    )


def next_start(start: BatchStart, clock: Clock, seen: Seen) -> BatchStart:
    """Where the batch after this one starts, with nothing silent, forced or ended."""
    return BatchStart(start.number + 1, clock.watermark_after, start.seen.joined([seen]), start.since)
