"""Events given as a list, decoded and run to the end; one case of `cep eval --cases`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow.compute as pc

from alerts.raised import Raised
from alerts.suppress import Memory, withhold
from cep.automata.unsupported import TOO_MANY_STATES
from cep.cli.cases import Case, Prepared
from cep.cli.engines import Name, engine
from cep.cli.rows import line_events
from cep.events import MAX_TIME, MIN_TIME, TIME, Events
from cep.packs import checked_text
from rules.diagnostics import has_errors
from rules.typed import Pack


def prepared(name: Name, folder: Path) -> Callable[[str], Prepared]:
    """Checks the text of a pack for an engine. Texts that come again are not read again.

    Files that a pack names are relative to the folder.
    """

    @lru_cache(maxsize=256)
    def load(text: str) -> Prepared:
        one = checked_text("case.rules", text, folder)
        found = tuple(d for d in one.diagnostics if name == "compiled" or d.code != TOO_MANY_STATES)
        return (None if has_errors(found) else one.pack), found

    return load


def evaluated(name: Name) -> Callable[[Pack, Case], tuple[list[Raised], list[tuple[int, str]]]]:
    """Runs a case: its alerts in order, and number and reason of the events that are none."""

    def evaluate(pack: Pack, case: Case) -> tuple[list[Raised], list[tuple[int, str]]]:
        found = of_list(name, pack, case.events, case.watermark, case.drain)
        return found.alerts, found.rejected

    return evaluate


@dataclass(frozen=True, slots=True)
class Listed:
    """A list of events after its run: the alerts that suppression let through, in order.

    `events` could be read, `rejected` are number and reason of the others.
    """

    alerts: list[Raised]
    withheld: int
    events: int
    rejected: list[tuple[int, str]]
    counts: Counter[tuple[str, ...]]


def of_list(
    name: Name, pack: Pack, rows: Iterable[tuple[int, str, bytes]], watermark: int | None, drain: bool
) -> Listed:
    """Runs events of (number, stream, one line of JSON), all of them read whatever the watermark.

    They are taken in order of event time, those of one instant in the order given. At the end the watermark
    stands at the greatest event time, or at `watermark` (ns since 1970 UTC), or with `drain` at the end of
    time (product.md, the contract of cases).
    """
    events, rejected = line_events(pack, rows)
    end = MAX_TIME if drain else _greatest(events) if watermark is None else watermark
    running = engine(name, [pack], one_partition=True)
    kept, withheld, _ = withhold(running.feed(events, end) + running.finish(), Memory())
    return Listed(kept, len(withheld), sum(part.table.num_rows for part in events), rejected, running.counts)


def _greatest(events: Sequence[Events]) -> int:
    times = [pc.max(part.table.column(TIME)).as_py() for part in events if part.table.num_rows]
    return max(times, default=MIN_TIME)
