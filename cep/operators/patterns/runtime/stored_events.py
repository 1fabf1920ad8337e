"""The events that runs of earlier batches took: what rules read of them, and registers made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.batch.texts import Texts
from cep.expressions.columns import Columns
from cep.operators.patterns.compile.space_tables import SpaceTables
from cep.operators.patterns.compile.tables import Tables
from cep.operators.patterns.kernel import layout
from cep.operators.patterns.kernel import tables as kernel_tables
from cep.operators.patterns.runtime.engines import Engine
from cep.operators.patterns.runtime.predicate_bits import as_numbers
from cep.operators.patterns.runtime.runs import Runs, joined, width_class
from cep.state.numbered import Numbered
from rules.typed import Path, TextMatch

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]


class _StoredColumns(Columns):
    """Expressions over the fields that were kept of events."""

    def text(self, condition: TextMatch) -> pa.BooleanArray:  # noqa: ARG002
        """Unknown: texts are searched when an event comes, and no register keeps what was found."""
        return pa.nulls(len(self.table), pa.bool_())

    def field(self, path: Path) -> pa.Array:
        """A field; nulls where it was not kept."""
        name = "f:" + ".".join(path)
        if name not in self.table.column_names:
            return pa.nulls(len(self.table))
        column = self.table.column(name).combine_chunks()
        return column if isinstance(column, pa.Array) else pa.concat_arrays(column.chunks)


@dataclass(slots=True)
class StoredEvents:
    """Events by stream and number, and the dictionary of a batch."""

    events: Sequence[tuple[str, Numbered]]
    texts: Texts

    def columns(self, tables: Tables, taken: Ints) -> tuple[Ints, Bytes]:
        """The columns of a rule for the events with these numbers (rising), as 64 bits, and where they are
        null."""
        values = np.zeros((len(tables.columns), len(taken)), np.int64)
        nulls = np.ones(values.shape, np.uint8)
        for stream, kept in self.events if len(tables.columns) else ():
            where, rows = kept.find(taken)
            if not len(where):
                continue
            columns = _StoredColumns(kept.table.take(pa.array(rows)))
            for place, column in enumerate(tables.columns):
                if column.stream == stream and not column.back:
                    values[place, where], nulls[place, where] = as_numbers(
                        columns.evaluate(column.expression), self.texts
                    )
        return values, nulls

    def replayed(self, tables: SpaceTables, kept: Mapping[int, Runs], engine: Engine) -> Mapping[int, Runs]:
        """The runs with the registers that the rules' tables have now, by the width that these have."""
        found: dict[int, list[Runs]] = {}
        for runs in kept.values():
            of_list = runs.lists[:, layout.KEPT_RULE]
            for number in np.unique(of_list).tolist():
                mine = runs.chosen(np.flatnonzero(of_list == number))
                width = width_class(tables.tables(number).row_width)
                found.setdefault(width, []).append(self._of_rule(tables.tables(number), width, mine, engine))
        return {width: joined(parts) for width, parts in found.items()}

    def _of_rule(self, tables: Tables, width: int, runs: Runs, engine: Engine) -> Runs:
        nodes = runs.nodes.copy()
        real = nodes[:, layout.N_EDGE] != layout.SPLICE
        taken = np.unique(nodes[real, layout.N_EVENT])
        values, nulls = self.columns(tables, taken)
        nodes[real, layout.N_EVENT] = np.searchsorted(taken, nodes[real, layout.N_EVENT])
        fixed = int(tables.array[kernel_tables.H_NULLS])
        alternatives = np.zeros((len(runs.alternatives), width), np.int64)
        alternatives[:, :fixed] = runs.alternatives[:, :fixed]
        flat = alternatives.ravel()
        scratch = np.zeros(2, np.int64)
        cursor = np.zeros(layout.CURSOR, np.int64)
        cursor[layout.C_EVENTS] = len(taken)
        cursor[layout.C_WIDTH] = width
        path = np.zeros(max(1, len(runs.nodes)), np.int64)
        # Ranks of what the columns hold; the dictionary may still grow, which changes no comparison.
        ranks = self.texts.ranks() if tables.ranked else np.zeros(1, np.int64)
        none = np.zeros(0, np.int64)
        rule = layout.Rule(
            tables.array, none, none.view(np.uint8), values.ravel(), nulls.ravel(), ranks, scratch,
            scratch.view(np.float64), none,
        )  # fmt: skip
        engine.replay(rule, runs.lists.ravel(), flat, nodes.ravel(), tables.updates, path, cursor)
        return replace(runs, alternatives=flat.reshape(alternatives.shape))
