"""What outlives a batch, or a revision: runs renumbered, registers worked out anew, strings collected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.automata.plan import Plan, RulePlan, Space
from cep.automata.program import TEXT
from cep.expressions.columns import Columns
from cep.matching import kernel
from cep.matching.engines import Engine
from cep.matching.history import History, back, texts_in
from cep.matching.judgement import as_numbers
from cep.matching.keys import Keys
from cep.matching.pool import Runs
from cep.matching.sightings import Sightings
from cep.matching.state import RuleId, SpaceState
from cep.matching.taken import EventBook
from cep.matching.texts import Texts
from rules.typed import Path

Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class Migration:
    """The runs of the rules that are still there, readable by the plan that runs now."""

    texts: Texts
    rules: Mapping[RuleId, Runs]
    histories: Mapping[RuleId, History]
    sightings: Mapping[RuleId, Sightings]

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
            return cls(Texts.empty(), {}, {}, {})
        rules = {rule.identity: rule for rule in space.rules}
        for name, runs in old.rules.items():
            if name not in rules:
                counts["runs", name[1], "dropped"] += len(runs.runs)
        kept = {name: runs for name, runs in old.rules.items() if name in rules}
        histories = {
            name: history
            for name, table in old.histories.items()
            if name in rules and len((history := History.of(table)).values) == len(back(rules[name]))
        }
        sightings = {name: Sightings.of(table) for name, table in old.sightings.items() if name in rules}
        if old.plan == plan.id:
            return cls(Texts(old.texts), kept, histories, sightings)
        texts = Texts.empty()
        book = _Stored(old, texts)
        return cls(
            texts,
            {name: book.replayed(rules[name], runs, engine) for name, runs in kept.items()},
            {name: h.translated(rules[name], old.texts, texts) for name, h in histories.items()},
            sightings,
        )


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

    def replayed(self, rule: RulePlan, runs: Runs, engine: Engine) -> Runs:
        """The runs with the registers that the rule's tables have now."""
        tables = rule.tables
        assert tables is not None
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
        threads = np.zeros((len(runs.threads), tables.thread), np.int64)
        threads[:, :fixed] = runs.threads[:, :fixed]
        flat = threads.ravel()
        scratch = np.zeros(2, np.int64)
        cursor = np.zeros(kernel.CURSOR, np.int64)
        cursor[kernel.C_EVENTS] = size
        path = np.zeros(max(1, len(runs.nodes)), np.int64)
        # Ranks of what the columns hold; the dictionary may still grow, which changes no comparison.
        ranks = self.texts.ranks() if tables.ranked else np.zeros(1, np.int64)
        engine.replay(
            tables.array, flat, runs.nodes.astype(np.int64).ravel(), tables.updates,
            values.ravel(), nulls.ravel(), ranks, scratch, cursor, path,
        )  # fmt: skip
        return replace(runs, threads=flat.reshape(threads.shape))


def compacted(
    plan: Plan,
    space: Space,
    sequence: int,
    keys: Keys,
    texts: Texts,
    book: EventBook,
    live: Mapping[RuleId, Runs],
    histories: Mapping[RuleId, History],
    sightings: Mapping[RuleId, Sightings],
) -> SpaceState:
    """The state of the space: only the keys, events and strings that something still names."""
    rules = {rule.identity: rule for rule in space.rules}
    named = [runs.lists[:, 0] for runs in live.values()] + [h.keys for h in histories.values()]
    named += [seen.keys for seen in sightings.values()]
    used = np.unique(np.concatenate(named)) if named else np.zeros(0, np.int64)
    of_key = np.zeros(max(1, keys.count), np.int64)
    of_key[used] = np.arange(len(used))
    events = [runs.nodes[:, kernel.N_EVENT] for runs in live.values()]
    taken = np.unique(np.concatenate(events)) if events else np.zeros(0, np.int64)
    stored, places = book.kept(space, taken)
    left, of_text = _collected(texts, rules, live, histories)
    after: dict[RuleId, Runs] = {}
    for name, runs in live.items():
        lists, threads, nodes = runs.lists.copy(), runs.threads, runs.nodes.copy()
        lists[:, 0] = of_key[lists[:, 0]]
        nodes[:, kernel.N_EVENT] = np.searchsorted(taken, nodes[:, kernel.N_EVENT])
        for column, word, bit in _text_registers(rules[name]):
            known = (threads[:, word] >> bit) & 1 == 0
            threads[known, column] = of_text[threads[known, column]]
        after[name] = Runs(lists, runs.runs, threads, nodes)
    tables = {}
    for name, history in histories.items():
        values = history.values.copy()
        for row, column in enumerate(back(rules[name])):
            if texts_in(rules[name], column):
                known = history.nulls[row] == 0
                values[row, known] = of_text[values[row, known]]
        tables[name] = History(of_key[history.keys], history.times, values, history.nulls).table()
    kept_keys = keys.values.take(pa.array(used)).combine_chunks() if keys.values.num_columns else keys.values
    seen = {name: replace(s, keys=of_key[s.keys]).table() for name, s in sightings.items()}
    return SpaceState(plan.id, sequence, kept_keys, left.values, stored, places, after, tables, seen)


def _text_registers(rule: RulePlan) -> list[tuple[int, int, int]]:
    """The registers that hold numbers of the dictionary: column of a thread, its null word, its bit."""
    tables = rule.tables
    assert tables is not None
    first, values = int(tables.array[kernel.H_NULLS]), int(tables.array[kernel.H_VALUES])
    return [
        (values + number, first + number // kernel.BITS, number % kernel.BITS)
        for number, register in enumerate(tables.registers)
        if register.kind == TEXT
    ]


def _collected(
    texts: Texts,
    rules: Mapping[RuleId, RulePlan],
    live: Mapping[RuleId, Runs],
    histories: Mapping[RuleId, History],
) -> tuple[Texts, Ints]:
    """The dictionary with only what registers and histories hold."""
    used = [np.zeros(0, np.int64)]
    for name, runs in live.items():
        for column, word, bit in _text_registers(rules[name]):
            used.append(runs.threads[(runs.threads[:, word] >> bit) & 1 == 0, column])
    for name, history in histories.items():
        for row, column in enumerate(back(rules[name])):
            if texts_in(rules[name], column):
                used.append(history.values[row, history.nulls[row] == 0])
    return texts.kept(np.concatenate(used))
