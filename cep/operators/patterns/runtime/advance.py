"""The patterns of one key space over one shard's events: from arrivals and state to decisions and state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from cep.batch.arrivals import Arrivals
from cep.batch.decisions import Decisions
from cep.batch.texts import Texts
from cep.batch.trace import Trace
from cep.counters import AlternativesDropped, Count, Counts, Overflows, RunsDropped, RunsOverLimit
from cep.operators.operator import BatchContext
from cep.operators.patterns.compile.space_tables import SpaceTables, WidthClass
from cep.operators.patterns.kernel import layout
from cep.operators.patterns.runtime import already_raised
from cep.operators.patterns.runtime.blocks import blocks
from cep.operators.patterns.runtime.engines import INTERPRETED, Engine, engine
from cep.operators.patterns.runtime.kinds import PACKED, RAISED, RUNS
from cep.operators.patterns.runtime.looking_back import Events, Past, looking_back
from cep.operators.patterns.runtime.matches import Matches, decisions_of
from cep.operators.patterns.runtime.outside_conditions import Lookups, OutsideEvaluator
from cep.operators.patterns.runtime.over_limit import crowded, most_dropped
from cep.operators.patterns.runtime.packed_runs import PackedRuns
from cep.operators.patterns.runtime.packing import all_packed, unpacked
from cep.operators.patterns.runtime.pool import Pool
from cep.operators.patterns.runtime.predicate_bits import AtomEvents, Columns, PredicateReader
from cep.operators.patterns.runtime.runs import RunRows, Runs, joined
from cep.operators.patterns.runtime.stored_events import StoredEvents
from cep.operators.patterns.runtime.strict import StrictBatch, packable
from cep.operators.patterns.runtime.trace_records import TraceWriter
from cep.state.keyed_rows import RULE, FlatRows, Kept, of_kind

Ints = npt.NDArray[np.int64]


def run_patterns(
    tables: SpaceTables, kept: Kept, events: Arrivals, context: BatchContext
) -> tuple[list[Decisions], Kept]:
    """Run every rule of a space over events up to the watermark: key by key in order of time, or all in order
    of time (`only_sets`)."""
    machine = engine(len(context.numbers), context.compiled)
    reader = PredicateReader(context.plan.id, events, context.texts, tables)
    reader.encode()
    runs, packed = _forms(tables, kept, events, context, machine)
    seen = _events(reader, context, machine, sets=packed is not None)
    past = Past.of(tables, kept)
    active = _active(seen, runs, past)
    matched: list[Matches] = []
    kinds: Kept = {}
    if packed is not None:
        active = active[~np.isin(active, tables.strict_rules)]
        matched, packed = StrictBatch(tables, machine, seen, reader, context).run(packed)
        kinds = {PACKED: packed} if packed.groups else {}
    columns = reader.columns(active)
    lookups = Lookups(context.book, context.keys, context.texts)
    if tables.back:
        rules = active[np.isin(active, tables.back)]
        columns, past = looking_back(tables, rules, past, seen, columns, lookups)
    found, live = _Batch(tables, machine, seen, columns, lookups, context).run_all(active, runs)
    fresh, raised = _once(tables, found, already_raised.rows_in(kept), live)
    if raised.size:
        kinds = {**kinds, RAISED: raised}
    state: Kept = {RUNS: RunRows(live), **past.kept, **kinds}
    return decisions_of(tables.rules, matched + fresh, context.keys, context.book), state


def only_sets(tables: SpaceTables, plan: str, kept: Kept, events: Arrivals) -> bool:
    """True if `run_patterns` runs all rules as sets, which take events in order of time; without a trace."""
    one_by_one = len(tables.strict_rules) < len(tables.rules) or len(tables.back)
    return not one_by_one and not of_kind(kept, RUNS, RunRows).size and packable(plan, events)


def _events(reader: PredicateReader, context: BatchContext, machine: Engine, sets: bool) -> Events:
    """The events; by atom, too, where not all rules are run as sets."""
    tables, texts, clock = reader.tables, context.texts, context.clock
    constants = _constants(tables, texts)
    ranks = texts.ranks() if tables.ranked else np.zeros(1, np.int64)
    only_sets = sets and len(tables.strict_rules) == len(tables.rules)
    by_atom = AtomEvents.none(tables) if only_sets else reader.by_atom(machine)
    return Events(context.numbers, reader.events.time, clock.watermark_after, by_atom, constants, ranks)


def _forms(
    tables: SpaceTables, kept: Kept, events: Arrivals, context: BatchContext, machine: Engine
) -> tuple[Mapping[int, Runs], PackedRuns | None]:
    """The runs that are kept one by one, and those of strict sequences.

    None instead of these, and all runs one by one, where they have to be looked at so: for a trace, and for
    events that another plan evaluated, for other rules.
    """
    runs, sets = of_kind(kept, RUNS, RunRows), of_kind(kept, PACKED, PackedRuns)
    stored = StoredEvents(context.book.kept, context.texts)
    if context.trace is None and packable(context.plan.id, events):
        found = all_packed(tables, runs, sets, stored)
        if found is not None:
            return found[0].by_width, found[1]
    return unpacked(tables, runs, sets, stored, machine).by_width, None


Traced = tuple[int, Ints, Ints, Runs]
"""A rule's number, the rows of its trace, the nodes that these name, and the runs that live on."""


def _write_trace(tables: SpaceTables, traced: Sequence[Traced], context: BatchContext, trace: Trace) -> None:
    """Make records of the kernel's trace, rule by rule as the packs have them."""
    places = {rule.identity: place for place, rule in enumerate(context.space.rules)}
    for number, rows, nodes, going_on in sorted(
        traced, key=lambda one: places[tables.rules[one[0]].identity]
    ):
        if trace.selection.has(tables.rules[number].rule.name):
            writer = TraceWriter(context.plan, tables.rules[number], context.keys, context.book, trace)
            writer.write(rows, nodes)
            writer.write_waiting(going_on)


def _once(
    tables: SpaceTables, matched: Sequence[Matches], before: Ints, live: Mapping[int, Runs]
) -> tuple[list[Matches], FlatRows]:
    """The matches that were not raised before, each at its first decision; and those that a live run may come
    to again. `matched` are those of a rule each."""
    fresh: list[Matches] = []
    rows = [before]
    for found in matched:
        if tables.tables(number := int(found.rule[0])).forks:
            named = already_raised.identities(found.timeout, found.ends, found.steps, found.sequences)
            known = before[before[:, RULE] == number, already_raised.IDENTITY]
            new = already_raised.first_of_each(named, known)
            found = found.chosen(new)
            rows.append(already_raised.rows_of(found, named[new]))
        if len(found.time):
            fresh.append(found)
    return fresh, already_raised.still_possible(rows, live.values(), len(tables.rules))


def _constants(tables: SpaceTables, texts: Texts) -> Ints:
    """All rules' constants as 64 bits, texts by their numbers in the shard's dictionary."""
    if not len(tables.texts):
        return tables.constants
    found = tables.constants.copy()
    found[tables.text_places] = texts.numbers(tables.texts)
    return found


def _active(events: Events, kept: Mapping[int, Runs], past: Past) -> Ints:
    """The rules that have anything to do, rising: an event, runs, or a past that ends."""
    found = events.by_atom.counts_by_rule() > 0
    for runs in kept.values():
        found[runs.lists[:, layout.KEPT_RULE]] = True
    found[list(past.rules())] = True
    return np.flatnonzero(found)


@dataclass(slots=True)
class _Batch:
    """Values that the classes of a space share in one shard and batch."""

    tables: SpaceTables
    engine: Engine
    events: Events
    columns: Columns
    lookups: Lookups
    context: BatchContext

    @property
    def keys(self) -> int:
        """The number of keys."""
        return self.context.keys.count

    @property
    def traced(self) -> bool:
        """True if the kernel writes a trace."""
        return self.context.trace is not None

    def run_all(self, rules: Ints, kept: Mapping[int, Runs]) -> tuple[list[Matches], Mapping[int, Runs]]:
        """Run some rules; what they matched, and the runs that live on. Writes the trace."""
        matched: list[Matches] = []
        live: dict[int, Runs] = {}
        traced: list[Traced] = []
        for of_width in self.tables.classes:
            mine = of_width.rules[np.isin(of_width.rules, rules)]
            parts = []
            for pool in self.run(of_width, mine, kept.get(of_width.width)) if len(mine) else ():
                _count(self.tables, pool, self.context.counts)
                self.name_dropped(of_width, pool)
                matched += _matches(self.tables, pool)
                parts.append(pool.live())
                if self.traced:
                    traced += _traced(pool, parts[-1])
            if parts and len((going_on := joined(parts)).lists):
                live[of_width.width] = going_on
        if self.context.trace is not None:
            _write_trace(self.tables, traced, self.context, self.context.trace)
        return matched, live

    def run(self, of_width: WidthClass, rules: Ints, kept: Runs | None) -> Iterator[Pool]:
        """Run some rules of a class; pools with what came of it."""
        rows = of_width.rows[np.searchsorted(of_width.rules, rules)]
        rows[:, layout.U_PAIRS] = self.events.by_atom.first_pairs[rules]
        rows[:, layout.U_PAIRS_END] = self.events.by_atom.first_pairs[rules + 1]
        rows[:, layout.U_COLUMNS] = self.columns.first_of_rule[rules]
        for number in np.flatnonzero(np.isin(rules, self.tables.back)).tolist():
            rows[number, layout.U_SINCE] = self.context.clock.watching(self.tables.rules[rules[number]])
        # Rules with conditions that are evaluated outside run alone, and those between them together.
        kept = Runs.none(of_width.width) if kept is None else kept
        asking = np.flatnonzero(np.isin(rules, self.tables.outside))
        ends = np.unique(np.concatenate(([0, len(rules)], asking, asking + 1))).tolist()
        for first, last in pairwise(ends):
            pool = self._pool(of_width, rows[first:last], kept)
            with self._engine_of(int(rules[first]), pool) as machine:
                self._run(pool, machine)
            yield pool

    def _pool(self, of_width: WidthClass, rows: Ints, kept: Runs) -> Pool:
        """An empty pool for rules that run together."""
        by_atom, rules = self.events.by_atom, rows[:, layout.U_RULE]
        if self.traced:
            # What the trace names stays where it is.
            ends = np.array([[len(self.events.keys), self.keys]], np.int64)
        else:
            looks = int(by_atom.counts_by_rule()[rules].sum())
            ends = blocks(self.events.keys, self.keys, looks, kept, len(rules))
        begun = int(by_atom.counts_by_rule(self.tables.begins)[rules].sum())
        return self._placed(Pool.of(of_width, rows, ends, kept, begun, self.traced))

    def _placed(self, pool: Pool) -> Pool:
        """The pool, knowing where in time and among all events its events are."""
        cursor = pool.cursor
        # An event's number is its sequence number, for good.
        cursor[layout.C_SEQUENCE] = cursor[layout.C_EVENT] = self.lookups.book.first
        cursor[layout.C_EVENTS] = len(self.events.keys)
        cursor[layout.C_WATERMARK] = self.events.watermark
        return pool

    def name_dropped(self, of_width: WidthClass, pool: Pool) -> None:
        """Count for each rule of a pool that dropped runs over its `limit` those of one of their keys."""
        for row in np.flatnonzero(pool.rules[:, layout.U_DROPPED]).tolist():
            number = int(pool.rules[row, layout.U_RULE])
            tried = crowded(self.tables, self.events.by_atom, self.events.keys, self.keys, pool.kept, number)
            found = most_dropped(
                self.tables.rules[number], self.lookups.keys, tried, int(pool.rules[row, layout.U_DROPPED]),
                partial(self._dropped, of_width, pool, row),
            )  # fmt: skip
            if found is not None:
                counter = RunsOverLimit(*self.tables.rules[number].name, found[0])
                self.context.counts[counter] += found[1]

    def _dropped(self, of_width: WidthClass, pool: Pool, row: int, key: int) -> int:
        """Number of runs of one key that a rule drops. The rule is run again, on that key alone."""
        keys, by_atom, lists = self.events.keys, self.events.by_atom, pool.kept.lists
        rule = pool.rules[row : row + 1].copy()
        number = int(rule[0, layout.U_RULE])
        rule[:, layout.U_DROPPED] = 0
        mine = (lists[:, layout.KEPT_RULE] == number) & (lists[:, layout.KEPT_KEY] == key)
        begin, end = np.searchsorted(keys, (key, key + 1)).tolist()
        # The kernel takes up after the block before: all keys before this one.
        ends = np.empty((2, layout.BLOCK), np.int64)
        ends[:, layout.B_EVENT], ends[:, layout.B_KEY] = (begin, end), (key, key + 1)
        alone = Pool.of(of_width, rule, ends, pool.kept.chosen(np.flatnonzero(mine)), end - begin, False)
        self._placed(alone).cursor[layout.C_BLOCK] = 1
        heads = by_atom.ends[by_atom.pairs[:, 1]]
        for pair in range(int(by_atom.first_pairs[number]), int(by_atom.first_pairs[number + 1])):
            atom = by_atom.pairs[pair, 1]
            heads[pair] += np.searchsorted(by_atom.events[by_atom.ends[atom] : by_atom.ends[atom + 1]], begin)
        with self._engine_of(number, alone) as machine:
            self._run(alone, machine, heads)
        return int(alone.rules[0, layout.U_DROPPED])

    def _run(self, pool: Pool, machine: Engine, heads: Ints | None = None) -> None:
        """Run the rules of a pool. `heads`: by pair the first event of its atom, where some are left out."""
        size, by_atom, kept = len(self.events.keys), self.events.by_atom, pool.kept
        heads = by_atom.ends[by_atom.pairs[:, 1]] if heads is None else heads
        batch = layout.Batch(
            pool.rules.ravel(), pool.tables, self.events.constants, by_atom.pairs.ravel(), by_atom.ends,
            by_atom.events, self.events.keys, self.events.times, self.columns.values.ravel(),
            self.columns.nulls.ravel(), self.events.ranks, pool.blocks.ravel(),
        )  # fmt: skip
        stored = layout.StoredRuns(
            _read_only(kept.lists), _read_only(kept.runs), _read_only(kept.alternatives),
            _read_only(kept.nodes), pool.order, kept.firsts().ravel(),
        )  # fmt: skip
        slots = self.tables.most_slots + 2
        scratch = layout.Scratch(
            np.full(self.keys, layout.NONE, np.int64), np.full(2 * self.keys, layout.NONE, np.int64),
            np.zeros(size, np.int64), heads, np.zeros(self.tables.most_places * size, np.uint8),
            np.zeros(slots, np.int64), np.zeros(slots, np.int64),
        )  # fmt: skip
        while True:
            if machine.run_rules(batch, stored, scratch, pool.pools(), pool.output()) == layout.DONE:
                return
            pool.grow(machine)

    @contextmanager
    def _engine_of(self, number: int, pool: Pool) -> Iterator[Engine]:
        """The engine of a rule; meanwhile conditions that no program expresses have an evaluator."""
        if number not in self.tables.outside:
            yield self.engine
            return
        rule, first = self.tables.rules[number], self.columns.first_of_rule[number]
        columns, nulls = self.columns.values[first:], self.columns.nulls[first:]
        with OutsideEvaluator(rule, pool, self.lookups, columns, nulls).installed():
            yield INTERPRETED


def _read_only(rows: Ints) -> Ints:
    """Rows one after the other as an array that nobody writes, without a copy of them."""
    flat = rows.ravel().view()
    flat.flags.writeable = False
    return flat


def _count(tables: SpaceTables, pool: Pool, counts: Counts) -> None:
    rows = pool.rules
    kinds = (layout.U_DROPPED, layout.U_GIVEN_UP, layout.U_OVERFLOWS)
    for row in np.flatnonzero(rows[:, kinds].any(axis=1)).tolist():
        name = tables.rules[int(rows[row, layout.U_RULE])].name
        counters: tuple[Count, ...] = (
            RunsDropped(*name, "limit"),
            AlternativesDropped(*name),
            Overflows("rule", *name),
        )
        for kind, counter in zip(kinds, counters, strict=True):
            if rows[row, kind]:
                counts[counter] += int(rows[row, kind])


def _matches(tables: SpaceTables, pool: Pool) -> Iterator[Matches]:
    """The matches of a pool's rules, rule by rule."""
    for number, matches, ends, taken in pool.found():
        steps = tables.tables(number).edges[taken[:, layout.A_EDGE]]
        events, sequences = taken[:, layout.AN_EVENT].copy(), taken[:, layout.A_SEQUENCE].copy()
        yield Matches.of(number, matches, ends, steps, events, sequences)


def _traced(pool: Pool, state: Runs) -> Iterator[Traced]:
    for row, number in enumerate(pool.rules[:, layout.U_RULE].tolist()):
        waiting = state.chosen(np.flatnonzero(state.lists[:, layout.KEPT_RULE] == number))
        yield number, pool.traced(row), pool.nodes, waiting
