"""A shard's events as the kernel sees them, in key order: the atoms that are true of them, their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.batch.arrivals import Arrivals, EventTable, are_all
from cep.batch.predicates import Column
from cep.batch.texts import Texts
from cep.operators.patterns.compile.pattern_plan import PatternPlan
from cep.operators.patterns.compile.space_tables import SpaceTables
from cep.operators.patterns.runtime.engines import Engine
from cep.plan.plan import ByStream

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
BY_ATOM = 16
"""Atoms up to which looking for each of them among all events is quicker than looking at each event."""


@dataclass(frozen=True, slots=True)
class AtomEvents:
    """The events of which each atom is true, in order: `events[ends[a] : ends[a + 1]]` for atom a.

    `pairs` have a row for each place of a rule and atom that it is true by; those of rule r begin at
    `first_pairs[r]`. They are the plan's, and more where some of the events were evaluated under another
    plan.
    """

    first_pairs: Ints
    pairs: Ints
    ends: Ints
    events: Ints

    @classmethod
    def none(cls, tables: SpaceTables) -> AtomEvents:
        """No event, where nobody asks by atom."""
        none = np.zeros(0, np.int64)
        return cls(tables.first_pairs, tables.pairs, np.zeros(tables.atom_count + 1, np.int64), none)

    def counts_by_rule(self, which: npt.NDArray[np.bool_] | None = None) -> Ints:
        """By rule the number of events that it looks at; those that several of its places take count again.

        `which` of the plan's pairs are counted; all of them where another plan evaluated some.
        """
        of_pair = np.diff(self.ends)[self.pairs[:, 1]]
        if which is not None and len(which) == len(of_pair):
            of_pair = of_pair * which
        sums = np.concatenate((np.zeros(1, np.int64), np.cumsum(of_pair)))
        return np.diff(sums[self.first_pairs])

    def places(self, rule: int, count: int, size: int) -> Bytes:
        """A row of 0 and 1 per place of a rule, of `count` over `size` events."""
        found = np.zeros((count, size), np.uint8)
        for place, atom in self.pairs[self.first_pairs[rule] : self.first_pairs[rule + 1]].tolist():
            found[place, self.events[self.ends[atom] : self.ends[atom + 1]]] = 1
        return found


@dataclass(frozen=True, slots=True)
class Columns:
    """Values as 64 bits and whether they are null, a row per column; those of a rule begin at its first."""

    values: Ints
    nulls: Bytes
    first_of_rule: Ints


@dataclass(slots=True)
class PredicateReader:
    """Reads predicate bits and columns of events in the order given, every column encoded once."""

    plan: str
    events: Arrivals
    texts: Texts
    tables: SpaceTables
    _columns: dict[tuple[int, int], tuple[Ints, Bytes]] = field(default_factory=dict)

    def encode(self) -> None:
        """Number every text, so that the dictionary is complete before ranks are taken."""
        for number, part in enumerate(self.events.parts):
            for name, type_ in zip(part.table.column_names, part.table.schema.types, strict=True):
                if name[0] == "c" and _as_text(type_):
                    self._column(number, int(name[1:]))

    def by_atom(self, engine: Engine) -> AtomEvents:
        """By atom its events. Those evaluated under a plan without a rule fit none of the rule's places."""
        tables = self.tables
        bases: list[int] = []
        more: list[tuple[int, int, int]] = []
        total = tables.atom_count
        for part in self.events.parts:
            if part.layout.plan == self.plan:
                bases.append(tables.atoms[part.stream])
                continue
            bases.append(total)
            more += _foreign_pairs(part, tables, total)
            total += part.predicates.atoms
        counts, lists = np.zeros(total + 1, np.int64), []
        for number, (part, base) in enumerate(zip(self.events.parts, bases, strict=True)):
            where, rows = self.events.rows_of(number)
            of_atom, listed = _listed(part.predicates, total - base, rows, where, engine)
            counts[base + 1 : base + 1 + len(of_atom)] += of_atom
            lists.append((base, listed))
        ends = np.cumsum(counts)
        events = np.empty(int(ends[-1]), np.int64)
        for base, listed in lists:
            events[ends[base] : ends[base] + len(listed)] = listed
        first_pairs, pairs = tables.first_pairs, tables.pairs
        if more:
            of_rule = np.concatenate(
                (np.repeat(np.arange(len(tables.rules)), np.diff(first_pairs)), [rule for rule, _, _ in more])
            )
            order = np.argsort(of_rule, kind="stable")
            pairs = np.concatenate((pairs, [pair for _, *pair in more]))[order]
            first_pairs = np.searchsorted(of_rule[order], np.arange(len(tables.rules) + 1))
        return AtomEvents(first_pairs, pairs, ends, events)

    def columns(self, rules: Ints, room: int = 0) -> Columns:
        """The columns of some rules, shared by those with the same ones; null for events of other streams,
        and for so many more behind them as there is `room` for."""
        size = len(self.events.time)
        counts, blocks, of_rule = self._blocks(rules)
        firsts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))
        values = np.zeros((int(firsts[-1]), size + room), np.int64)
        nulls = np.ones(values.shape, np.uint8)
        for number, part in enumerate(self.events.parts):
            where, rows = self.events.rows_of(number)
            whole = len(self.events.parts) == 1 and are_all(rows, len(part.table))
            for first, block in zip(firsts[:-1].tolist(), blocks, strict=True):
                for place, of in enumerate(block[number] or ()):
                    if part.stream in of:
                        known, null = self._column(number, of[part.stream])
                        for to, of_rows in ((values, known), (nulls, null)):
                            if whole:
                                to[first + place, :size] = of_rows
                            elif len(self.events.parts) == 1:
                                # In this mode numpy writes where it is told, without a copy between.
                                of_rows.take(rows, out=to[first + place, :size], mode="clip")
                            else:
                                to[first + place, where] = of_rows[rows]
        first_of_rule = np.zeros(len(self.tables.rules), np.int64)
        first_of_rule[rules] = firsts[of_rule]
        return Columns(values, nulls, first_of_rule)

    def _blocks(self, rules: Ints) -> tuple[list[int], list[tuple[ByStream | None, ...]], Ints]:
        """The different sequences of columns: their lengths, their places by part, the one of each rule."""
        tables, parts = self.tables, self.events.parts
        if all(part.layout.plan == self.plan for part in parts):
            used, of_rule = np.unique(tables.block_of_rule[rules], return_inverse=True)
            blocks = [tables.blocks[n] for n in used.tolist()]
            return [len(block) for block in blocks], [(block,) * len(parts) for block in blocks], of_rule
        plans = [tables.rules[number] for number in rules.tolist()]
        own = [tuple(self._where(rule, part) for part in parts) for rule in plans]
        return [len(rule.columns) for rule in plans], own, np.arange(len(rules))

    def _where(self, rule: PatternPlan, part: EventTable) -> ByStream | None:
        if part.layout.plan == self.plan:
            return rule.columns
        slots = part.layout.slots.get(rule.identity)
        return None if slots is None or len(slots[1]) != len(rule.columns) else slots[1]

    def _column(self, part: int, number: int) -> tuple[Ints, Bytes]:
        if (part, number) not in self._columns:
            self._columns[part, number] = as_numbers(self.events.parts[part].column(f"c{number}"), self.texts)
        return self._columns[part, number]


def _listed(column: Column, atoms: int, rows: Ints, events: Ints, engine: Engine) -> tuple[Ints, Ints]:
    """The number of some rows that each atom is true of, of at most so many atoms, and the numbers of their
    events, atom by atom in order."""
    if column.bits and min(atoms, column.atoms) <= BY_ATOM:
        lists = [events.compress(column.true_of(atom, rows)) for atom in range(min(atoms, column.atoms))]
        return np.array([len(one) for one in lists], np.int64), np.concatenate([events[:0], *lists])
    counts = np.zeros(atoms + 1, np.int64)
    engine.count_hits(column.data, column.ends, column.bits, rows, 0, counts)
    ends = np.cumsum(counts)
    listed = np.zeros(int(ends[-1]), np.int64)
    engine.list_hits(column.data, column.ends, column.bits, rows, 0, events, ends[:-1].copy(), listed)
    return counts[1:], listed


def _foreign_pairs(part: EventTable, tables: SpaceTables, base: int) -> Sequence[tuple[int, int, int]]:
    """Rule, place and atom by the bits that another plan gave."""
    found = []
    for number, rule in enumerate(tables.rules):
        slots = part.layout.slots.get(rule.identity)
        if slots is None or len(slots[0]) != len(rule.places):
            continue
        for place, bits in enumerate(slots[0]):
            if part.stream in bits:
                found.append((number, place, base + bits[part.stream]))
    return found


def as_numbers(column: pa.Array, texts: Texts) -> tuple[Ints, Bytes]:
    """A column as 64 bits a value, and where it is null."""
    nulls = np.zeros(len(column), np.uint8)
    if column.null_count:
        nulls[:] = column.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_null(column.type):
        return np.zeros(len(column), np.int64), nulls
    if _as_text(column.type):
        return texts.numbers(column), nulls
    if column.null_count:
        column = column.fill_null(False if pa.types.is_boolean(column.type) else 0)
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype == np.float64:
        # One zero, so that equal values have equal bits.
        return (values + 0.0).view(np.int64), nulls
    return values.astype(np.int64), nulls


def _as_text(type_: pa.DataType) -> bool:
    """True if the kernel sees values of a type as numbers of the dictionary."""
    if pa.types.is_null(type_):
        return False
    return not pa.types.is_primitive(type_) or pa.types.is_decimal(type_)
