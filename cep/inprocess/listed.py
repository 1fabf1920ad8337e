"""Events given as a list, decoded and run to the end: cases, and what programs hold in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from alerts.raised import Raised
from alerts.raised_columns import RaisedColumns
from alerts.stages.decided import InProcess
from alerts.stages.suppress import Suppress
from cep.counters import Counts
from cep.events import MAX_TIME, MIN_TIME, TIME, Events
from cep.inprocess.engines import Name, engine
from cep.inprocess.rows import line_events
from cep.resources.resource import Resources
from rules.typed import Pack


@dataclass(frozen=True, slots=True)
class Times:
    """Times of an evaluation, in ns since 1970 UTC.

    At the end the watermark stands at the greatest event time, or at `watermark`, or with `drain` at the end
    of time. Events too far ahead of the `clock` are malformed (`future` of a stream); without one none is.
    """

    watermark: int | None = None
    drain: bool = False
    clock: int | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """A list of events after its run: the alerts that suppression let through, in order.

    `events` could be read, `rejected` are number and reason of the others.
    """

    alerts: list[Raised]
    withheld: int
    events: int
    rejected: list[tuple[int, str]]
    counts: Counts


def of_list(
    name: Name,
    pack: Pack,
    rows: Iterable[tuple[int, str, bytes]],
    times: Times,
    resources: Resources | None = None,
) -> Listed:
    """Runs events of (number, stream, one line of JSON), all of them read whatever the watermark.

    They are taken in order of event time, those of one instant in the order given (docs/cli.md, Cases).
    `resources` as `engine` takes them.
    """
    events, rejected = line_events(pack, rows, times.clock)
    end = MAX_TIME if times.drain else _greatest(events) if times.watermark is None else times.watermark
    running = engine(name, [pack], True, resources)
    passed = InProcess().decide(RaisedColumns.ordered([running.feed(events, end), running.finish()]))
    number, withheld = sum(part.table.num_rows for part in events), passed.count(Suppress.name)
    return Listed(list(passed.on), withheld, number, rejected, running.counts)


def _greatest(events: Sequence[Events]) -> int:
    times = [pc.max(part.table.column(TIME)).as_py() for part in events if part.table.num_rows]
    return max(times, default=MIN_TIME)
