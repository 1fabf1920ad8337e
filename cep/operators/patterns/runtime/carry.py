"""State that outlives a revision: live runs with registers evaluated again."""

from __future__ import annotations

from cep.operators.operator import BatchContext
from cep.operators.patterns.compile.space_tables import SpaceTables
from cep.operators.patterns.runtime.engines import engine
from cep.operators.patterns.runtime.kinds import PACKED, RUNS
from cep.operators.patterns.runtime.packed_runs import PackedRuns
from cep.operators.patterns.runtime.packing import unpacked
from cep.operators.patterns.runtime.runs import RunRows
from cep.operators.patterns.runtime.stored_events import StoredEvents
from cep.state.keyed_rows import Kept, of_kind


def carried(tables: SpaceTables, kept: Kept, context: BatchContext) -> Kept:
    """The state kept under another plan, with registers evaluated again from the events that runs took, so
    that no old constant is left in them."""
    machine = engine(0, context.compiled)
    stored = StoredEvents(context.book.kept, context.texts)
    runs = RunRows(stored.replayed(tables, of_kind(kept, RUNS, RunRows).by_width, machine))
    runs = unpacked(tables, runs, of_kind(kept, PACKED, PackedRuns), stored, machine)
    return {**{kind: rows for kind, rows in kept.items() if kind != PACKED}, RUNS: runs}
