"""What outlives a revision: runs by the new numbers of their rules, registers worked out anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.automata.plan import Plan, Space
from cep.automata.space_tables import SpaceTables
from cep.automata.tables import Tables
from cep.counters import Counts, RunsDropped
from cep.expressions.columns import Columns
from cep.matching import kernel
from cep.matching.already_raised import COLUMNS, RAISED
from cep.matching.engines import Engine
from cep.matching.history import HISTORIES, History, back
from cep.matching.judgement import as_numbers
from cep.matching.memory import Recalled, counted
from cep.matching.numbered import Numbered
from cep.matching.past import Past
from cep.matching.runs import RUNS, RunRows, Runs, joined, width_class
from cep.matching.sightings import SIGHTINGS, Sightings
from cep.matching.texts import Texts
from cep.state.keyed_rows import RULE, FlatRows, Kept, of_kind
from rules.typed import Path, TextMatch

Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class Migration:
    """The runs of the rules that are still there, readable by the plan that runs now and by its numbers."""

    texts: Texts
    runs: Mapping[int, Runs]
    past: Past
    raised: FlatRows

    @classmethod
    def of(
        cls,
        plan: Plan,
        space: Space,
        recalled: Recalled,
        engine: Engine,
        counts: Counts,
    ) -> Migration:
        """What goes on from earlier batches.

        A rule that is gone or has another structure loses its runs, which are counted. Under a new plan,
        the registers of the others are worked out anew from the events that they took, so that no old
        constant is left in them.
        """
        tables = space.tables
        assert tables is not None
        texts, old = Texts(recalled.texts), recalled.rows
        rules = recalled.layout.rules
        if recalled.layout.plan == plan.id:
            return cls(texts, _runs(old), _past(tables, old), _raised(old))
        numbers = np.array([tables.numbers.get(name, -1) for name in rules], np.int64)
        for name, number, runs in zip(rules, numbers, counted(old, len(rules)).tolist(), strict=True):
            if number < 0 and runs:
                counts[RunsDropped(*name[:2], "dropped")] += runs
        left = {kind: rows.of_rules(numbers) for kind, rows in old.items()}
        replayed = _Stored(recalled.events, texts).replayed(tables, _runs(left), engine)
        return cls(texts, replayed, _past(tables, left), _raised(left))


def _raised(kept: Kept) -> FlatRows:
    return of_kind(kept, RAISED, FlatRows, FlatRows.none(COLUMNS))


def _runs(kept: Kept) -> Mapping[int, Runs]:
    return of_kind(kept, RUNS, RunRows, RunRows()).by_width


def _past(tables: SpaceTables, kept: Kept) -> Past:
    """What rules remember of events that no run took, rule by rule."""
    histories = {
        number: History.of(rows, len(back(tables.rules[number])))
        for number, rows in _by_rule(kept, HISTORIES)
    }
    return Past(histories, {number: Sightings.of(rows) for number, rows in _by_rule(kept, SIGHTINGS)})


def _by_rule(kept: Kept, kind: str) -> Iterator[tuple[int, Ints]]:
    rows = of_kind(kept, kind, FlatRows, FlatRows.none()).rows
    for number in np.unique(rows[:, RULE]).tolist():
        yield number, rows[rows[:, RULE] == number]


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
class _Stored:
    events: Sequence[tuple[str, Numbered]]
    texts: Texts

    def replayed(self, tables: SpaceTables, kept: Mapping[int, Runs], engine: Engine) -> Mapping[int, Runs]:
        """The runs with the registers that the rules' tables have now, by the width that these have."""
        found: dict[int, list[Runs]] = {}
        for runs in kept.values():
            of_list = runs.lists[:, kernel.KEPT_RULE]
            for number in np.unique(of_list).tolist():
                mine = runs.chosen(np.flatnonzero(of_list == number))
                width = width_class(tables.tables(number).thread)
                found.setdefault(width, []).append(self._of_rule(tables.tables(number), width, mine, engine))
        return {width: joined(parts) for width, parts in found.items()}

    def _of_rule(self, tables: Tables, width: int, runs: Runs, engine: Engine) -> Runs:
        nodes = runs.nodes.copy()
        real = nodes[:, kernel.N_EDGE] != kernel.SPLICE
        taken = np.unique(nodes[real, kernel.N_EVENT])
        size = len(taken)
        values = np.zeros((len(tables.columns), size), np.int64)
        nulls = np.ones((len(tables.columns), size), np.uint8)
        for stream, kept in self.events:
            where, rows = kept.find(taken)
            if not len(where):
                continue
            columns = _StoredColumns(kept.table.take(pa.array(rows)))
            for place, column in enumerate(tables.columns):
                if column.stream == stream and not column.back:
                    values[place, where], nulls[place, where] = as_numbers(
                        columns.evaluate(column.expression), self.texts
                    )
        nodes[real, kernel.N_EVENT] = np.searchsorted(taken, nodes[real, kernel.N_EVENT])
        fixed = int(tables.array[kernel.H_NULLS])
        threads = np.zeros((len(runs.threads), width), np.int64)
        threads[:, :fixed] = runs.threads[:, :fixed]
        flat = threads.ravel()
        scratch = np.zeros(2, np.int64)
        cursor = np.zeros(kernel.CURSOR, np.int64)
        cursor[kernel.C_EVENTS] = size
        cursor[kernel.C_WIDTH] = width
        path = np.zeros(max(1, len(runs.nodes)), np.int64)
        # Ranks of what the columns hold; the dictionary may still grow, which changes no comparison.
        ranks = self.texts.ranks() if tables.ranked else np.zeros(1, np.int64)
        none = np.zeros(0, np.int64)
        rule = kernel.Rule(
            tables.array, none, none.view(np.uint8), values.ravel(), nulls.ravel(), ranks, scratch,
            scratch.view(np.float64), none,
        )  # fmt: skip
        engine.replay(rule, runs.lists.ravel(), flat, nodes.ravel(), tables.updates, path, cursor)
        return replace(runs, threads=flat.reshape(threads.shape))
