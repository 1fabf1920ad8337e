"""One case of `cep eval --cases`: its pack checked, its events decoded and run to the end."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pyarrow.compute as pc

from alerts.raised import Raised
from alerts.suppress import Memory, withhold
from cep.cli.cases import Case, Prepared
from cep.cli.engines import Name, engine
from cep.cli.rows import line_events
from cep.events import MAX_TIME, MIN_TIME, TIME, Events
from rules.diagnostics import has_errors
from rules.packs import load_texts
from rules.typed import Pack


def prepared(name: Name, folder: Path) -> Callable[[str], Prepared]:
    """Checks the text of a pack for an engine. Texts that come again are not read again.

    Files that a pack names are relative to the folder.
    """

    @lru_cache(maxsize=256)
    def load(text: str) -> Prepared:
        loaded = load_texts([("case.rules", text)])
        if loaded.pack is None:
            return None, loaded.diagnostics
        from cep.automata.unsupported import TOO_MANY_STATES, unsupported

        refused = [d for d in unsupported(loaded.pack) if name == "compiled" or d.code != TOO_MANY_STATES]
        found = [*loaded.diagnostics, *refused]
        pack = loaded.pack
        if pack.queries:
            from cep.standing.findings import findings
            from rules.query_files import with_files

            pack, missing = with_files(pack, folder)
            found += missing or findings(pack)
        return (None if has_errors(found) else pack), tuple(found)

    return load


def evaluated(name: Name) -> Callable[[Pack, Case], tuple[list[Raised], list[tuple[int, str]]]]:
    """Runs a case: its alerts in order, and number and reason of the events that are none."""

    def evaluate(pack: Pack, case: Case) -> tuple[list[Raised], list[tuple[int, str]]]:
        events, rejected = line_events(pack, case.events)
        running = engine(name, [pack], one_partition=True)
        raised = running.feed(events, _watermark(events, case)) + running.finish()
        kept, _, _ = withhold(raised, Memory())
        return kept, rejected

    return evaluate


def _watermark(events: list[Events], case: Case) -> int:
    """Where the watermark stands when all events were read (product.md, the contract of cases)."""
    if case.drain:
        return MAX_TIME
    if case.watermark is not None:
        return case.watermark
    times = [pc.max(part.table.column(TIME)).as_py() for part in events if part.table.num_rows]
    return max(times, default=MIN_TIME)
