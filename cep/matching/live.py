"""What outlives a batch, or a revision: runs renumbered, registers worked out anew, strings collected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.automata.plan import Plan, Space
from cep.automata.space_tables import SpaceTables
from cep.automata.tables import Tables
from cep.expressions.columns import Columns
from cep.matching import kernel
from cep.matching.engines import Engine
from cep.matching.history import History, back, texts_in
from cep.matching.judgement import as_numbers
from cep.matching.keys import Keys
from cep.matching.past import Past
from cep.matching.runs import Runs, joined, width_class
from cep.matching.sightings import Sightings
from cep.matching.state import SpaceState
from cep.matching.taken import EventBook
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
        old: SpaceState | None,
        engine: Engine,
        counts: Counter[tuple[str, ...]],
    ) -> Migration:
        """What goes on from the state before.

        A rule that is gone or has another structure loses its runs, which are counted. Under a new plan,
        the registers of the others are worked out anew from the events that they took, so that no old
        constant is left in them.
        """
        if old is None:
            return cls(Texts.empty(), {}, Past())
        tables = space.tables
        assert tables is not None
        numbers = np.array([tables.numbers.get(name, -1) for name in old.rules], np.int64)
        if numbers.min(initial=0) < 0:
            for name, runs in old.live().items():
                if name not in tables.numbers:
                    counts["runs", name[1], "dropped"] += runs
        kept = {width: _renumbered(runs, numbers) for width, runs in old.runs.items()}
        rules = {
            name: tables.rules[n] for name in old.histories if (n := tables.numbers.get(name)) is not None
        }
        histories = {
            name: history
            for name in rules
            if len((history := History.of(old.histories[name])).values) == len(back(rules[name]))
        }
        sightings = {
            name: Sightings.of(table) for name, table in old.sightings.items() if name in tables.numbers
        }
        if old.plan == plan.id:
            return cls(Texts(old.texts), kept, Past(histories, sightings))
        texts = Texts.empty()
        histories = {name: h.translated(rules[name], old.texts, texts) for name, h in histories.items()}
        return cls(texts, _Stored(old, texts).replayed(tables, kept, engine), Past(histories, sightings))


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
    old: SpaceState
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
        size = len(self.old.events)
        values = np.zeros((len(tables.columns), size), np.int64)
        nulls = np.ones((len(tables.columns), size), np.uint8)
        for number, (stream, table) in enumerate(self.old.stored.items()):
            columns = _StoredColumns(table)
            where = np.flatnonzero(self.old.events[:, 0] == number)
            rows = self.old.events[where, 1]
            for place, column in enumerate(tables.columns):
                if column.stream == stream and not column.back:
                    known, null = as_numbers(columns.evaluate(column.expression), self.texts)
                    values[place, where] = known[rows]
                    nulls[place, where] = null[rows]
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
            tables.array, runs.lists.ravel(), flat, runs.nodes.ravel(), tables.updates, values.ravel(),
            nulls.ravel(), ranks, scratch, cursor, path,
        )  # fmt: skip
        return replace(runs, threads=flat.reshape(threads.shape))


def compacted(
    plan: Plan,
    space: Space,
    sequence: int,
    keys: Keys,
    texts: Texts,
    book: EventBook,
    live: Mapping[int, Runs],
    past: Past,
    engine: Engine,
) -> SpaceState:
    """The state of the space: only the keys, events, strings and rules that something still names."""
    tables = space.tables
    assert tables is not None
    used = np.zeros(max(1, keys.count), bool)
    for keys_of_past in [h.keys for h in past.histories.values()] + [s.keys for s in past.sightings.values()]:
        used[keys_of_past] = True
    taken, running = np.zeros(book.count, bool), np.zeros(len(tables.rules), bool)
    for runs in live.values():
        used[runs.lists[:, kernel.KEPT_KEY]] = True
        running[runs.lists[:, kernel.KEPT_RULE]] = True
        taken[runs.nodes[:, kernel.N_EVENT]] = True
    of_key, of_rule, of_event = (np.cumsum(which) - 1 for which in (used, running, taken))
    stored, places = book.kept(space, np.flatnonzero(taken))
    left, of_text = _collected(texts, tables, live, past, engine)
    after: dict[int, Runs] = {}
    for width, runs in live.items():
        lists, nodes = runs.lists.copy(), runs.nodes.copy()
        lists[:, kernel.KEPT_KEY] = of_key[lists[:, kernel.KEPT_KEY]]
        lists[:, kernel.KEPT_RULE] = of_rule[lists[:, kernel.KEPT_RULE]]
        nodes[:, kernel.N_EVENT] = of_event[nodes[:, kernel.N_EVENT]]
        after[width] = Runs(lists, runs.runs, runs.threads, nodes)
    histories = {}
    for name, history in past.histories.items():
        values = history.values.copy()
        rule = tables.rules[tables.numbers[name]]
        for row, column in enumerate(back(rule)):
            if texts_in(rule, column):
                known = history.nulls[row] == 0
                values[row, known] = of_text[values[row, known]]
        histories[name] = History(of_key[history.keys], history.times, values, history.nulls).table()
    kept = (
        keys.values.take(pa.array(np.flatnonzero(used))).combine_chunks()
        if keys.values.num_columns
        else keys.values
    )
    sightings = {name: replace(s, keys=of_key[s.keys]).table() for name, s in past.sightings.items()}
    rules = tuple(tables.identities[number] for number in np.flatnonzero(running).tolist())
    return SpaceState(
        plan.id, sequence, kept, left.values, stored, places, rules, after, histories, sightings
    )


def _collected(
    texts: Texts, tables: SpaceTables, live: Mapping[int, Runs], past: Past, engine: Engine
) -> tuple[Texts, Ints]:
    """The dictionary with only what registers and histories hold; ways name texts by their new numbers."""
    used = np.zeros(len(texts.values), np.uint8)
    for name, history in past.histories.items():
        rule = tables.rules[tables.numbers[name]]
        for row, column in enumerate(back(rule)):
            if texts_in(rule, column):
                used[history.values[row, history.nulls[row] == 0]] = 1
    registers = tables.first_registers, tables.registers.ravel()
    ways = [(r.lists.ravel(), r.threads.ravel(), width) for width, r in live.items() if len(tables.registers)]
    for of_width in ways:
        engine.texts_of(*of_width, *registers, used, np.zeros(0, np.int64))
    left, numbers = texts.kept(np.flatnonzero(used))
    for of_width in ways:
        engine.texts_of(*of_width, *registers, used, numbers)
    return left, numbers
