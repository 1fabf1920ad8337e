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
from cep.matching.engines import Engine
from cep.matching.history import History, back
from cep.matching.judgement import as_numbers
from cep.matching.memory import Recalled
from cep.matching.numbered import Numbered
from cep.matching.past import Past
from cep.matching.runs import Runs, counted, joined, width_class
from cep.matching.segments import RULE, Rows
from cep.matching.sightings import Sightings
from cep.matching.texts import Texts
from rules.typed import Path

Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class Migration:
    """The runs of the rules that are still there, readable by the plan that runs now and by its numbers."""

    texts: Texts
    runs: Mapping[int, Runs]
    past: Past

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
            return cls(texts, old.runs, _past(tables, old))
        numbers = np.array([tables.numbers.get(name, -1) for name in rules], np.int64)
        for name, number, runs in zip(rules, numbers, counted(old.runs, len(rules)).tolist(), strict=True):
            if number < 0 and runs:
                counts[RunsDropped(*name[:2], "dropped")] += runs
        kept = {width: _renumbered(runs, numbers) for width, runs in old.runs.items()}
        histories, sightings = (_of_rules(rows, numbers) for rows in (old.histories, old.sightings))
        past = _past(tables, replace(old, histories=histories, sightings=sightings))
        return cls(texts, _Stored(recalled.events, texts).replayed(tables, kept, engine), past)


def _of_rules(rows: Ints, numbers: Ints) -> Ints:
    """The rows of the rules that have a number (not -1), by it."""
    left = rows[numbers[rows[:, RULE]] >= 0]
    left[:, RULE] = numbers[left[:, RULE]]
    return left


def _past(tables: SpaceTables, kept: Rows) -> Past:
    """What rules remember of events that no run took, rule by rule."""
    histories = {
        number: History.of(rows, len(back(tables.rules[number]))) for number, rows in _by_rule(kept.histories)
    }
    return Past(histories, {number: Sightings.of(rows) for number, rows in _by_rule(kept.sightings)})


def _by_rule(rows: Ints) -> Iterator[tuple[int, Ints]]:
    for number in np.unique(rows[:, RULE]).tolist():
        yield number, rows[rows[:, RULE] == number]


def _renumbered(runs: Runs, numbers: Ints) -> Runs:
    """The runs of the rules that have a number (not -1), by it. Numbers rise where old ones do."""
    of_list = numbers[runs.lists[:, kernel.KEPT_RULE]]
    if of_list.min(initial=0) < 0:
        left = np.flatnonzero(of_list >= 0)
        runs, of_list = runs.chosen(left), of_list[left]
    lists = runs.lists.copy()
    lists[:, kernel.KEPT_RULE] = of_list
    return replace(runs, lists=lists)


class _StoredColumns(Columns):
    """Expressions over the fields that were kept of events."""

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
        engine.replay(
            tables.array, runs.lists.ravel(), flat, nodes.ravel(), tables.updates, values.ravel(),
            nulls.ravel(), ranks, scratch, cursor, path,
        )  # fmt: skip
        return replace(runs, threads=flat.reshape(threads.shape))
