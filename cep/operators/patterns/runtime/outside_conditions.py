"""Conditions that no program expresses, evaluated over whole events while their rule runs interpreted.

Percentiles, distinct counts, deviations, decimals and functions of several events' strings have no place in
a run's registers. They are read from the events that the run took, as an alert's values are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cep.batch.taken import EventBook
from cep.batch.texts import Texts, from_text
from cep.expressions.held import python
from cep.expressions.scalar import Evaluator, aggregate_of, compiled
from cep.operators.patterns.compile.pattern_plan import PatternPlan
from cep.operators.patterns.compile.program import TEXT, Outside, kind_of
from cep.operators.patterns.kernel import bytecode, chains, layout
from cep.operators.patterns.kernel import tables as kernel_tables
from cep.state.keys import Keys
from rules.typed import Aggregate, Path, PrevRef, StepRef, TextMatch, WindowAggregate
from rules.types import Scalar, Type

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]


class AlternativeRows(Protocol):
    """Flat arrays of alternatives and of what they took, and the key at hand (the kernel's `layout`)."""

    @property
    def alternatives(self) -> Ints:
        """The rows of alternatives."""

    @property
    def nodes(self) -> Ints:
        """The events that they took."""

    @property
    def cursor(self) -> Ints:
        """The place of the key (C_KEY) and of the evaluator (C_HOOK)."""


@dataclass(frozen=True, slots=True)
class Lookups:
    """The events, keys and texts of a shard and batch, in which evaluators look values up."""

    book: EventBook
    keys: Keys
    texts: Texts


@dataclass(slots=True)
class OutsideEvaluator:
    """Evaluates conditions of a rule in one shard and batch. `values` and `nulls` are the rule's columns."""

    rule: PatternPlan
    pool: AlternativeRows
    lookups: Lookups
    values: Ints
    nulls: Bytes
    _evaluators: dict[int, Evaluator] = field(default_factory=dict)
    _fields: dict[tuple[int, Path], object] = field(default_factory=dict)

    def __call__(self, condition: int, event: int, alternative: int) -> int:
        """The truth of a condition for an event and an alternative: true (1), false (0) or unknown (-1)."""
        asked = self.rule.tables.outside[condition]
        if condition not in self._evaluators:
            self._evaluators[condition] = compiled(asked.expression)
        answer = self._evaluators[condition](_Scope(self, asked, event, alternative))
        return -1 if answer is None else int(bool(answer))

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Within the block the interpreted kernel finds this evaluator (`EVALUATORS` of its bytecode)."""
        hook = id(self)
        self.pool.cursor[layout.C_HOOK] = hook
        bytecode.EVALUATORS[hook] = self
        try:
            yield
        finally:
            del bytecode.EVALUATORS[hook]

    def taken(self, alternative: int, step: str) -> list[int]:
        """The numbers of the events that a step of an alternative took, in order."""
        tables = self.rule.tables
        name = tables.automaton.names.index(step)
        nodes, found = self.pool.nodes, []
        chain = int(self.pool.alternatives[alternative + layout.T_NODE])
        while chain >= 0:
            node = chain & layout.LOWER
            if tables.edges[nodes[node + layout.N_EDGE]] == name:
                found.append(int(nodes[node + layout.N_EVENT]))
            chain = chains.without_last(nodes, chain)
        return found[::-1]

    def field(self, number: int, path: Path) -> object:
        """A field of the event of that number."""
        known = (number, path)
        if known not in self._fields:
            table, row = self.lookups.book.place(number)
            name = "f:" + ".".join(path)
            held = name in table.column_names
            self._fields[known] = python(table.column(name).slice(row, 1))[0] if held else None
        return self._fields[known]

    def value(self, bits: int, null: bool, type_: Type) -> object:
        """A value as the language holds it, from the kernel's 64 bits."""
        if null:
            return None
        match type_:
            case Scalar.DOUBLE:
                return float(np.array([bits], np.int64).view(np.float64)[0])
            case Scalar.BOOLEAN:
                return bool(bits)
            case _ if kind_of(type_) == TEXT:
                return from_text(self.lookups.texts.values[bits].as_py(), type_)
            case _:
                return int(bits)


@dataclass(slots=True)
class _Scope:
    """The values that a condition sees: of the candidate, of the events taken, of those that came before."""

    evaluator: OutsideEvaluator
    asked: Outside
    event: int
    alternative: int

    def field(self, path: Path) -> object:
        return self.evaluator.field(self.evaluator.lookups.book.first + self.event, path)

    def key(self, name: str) -> object:
        by = self.evaluator.rule.rule.by
        assert by is not None
        number = int(self.evaluator.pool.cursor[layout.C_KEY])
        return self.evaluator.lookups.keys.python([number])[number][by.names.index(name)]

    def step(self, ref: StepRef) -> object:
        for known, register in self.asked.registers:
            if known == ref:
                return self._register(register, ref.type)
        taken = self.evaluator.taken(self.alternative, ref.step)
        place = ref.offset if ref.which == "first" else len(taken) - 1 - ref.offset
        return self.evaluator.field(taken[place], ref.path) if 0 <= place < len(taken) else None

    def _register(self, number: int, type_: Type) -> object:
        tables, alternatives = self.evaluator.rule.tables, self.evaluator.pool.alternatives
        null = bytecode.is_null(
            alternatives, self.alternative + int(tables.array[kernel_tables.H_NULLS]), number
        )
        bits = int(alternatives[self.alternative + int(tables.array[kernel_tables.H_VALUES]) + number])
        return self.evaluator.value(bits, bool(null), type_)

    def aggregate(self, ref: Aggregate) -> object:
        taken = self.evaluator.taken(self.alternative, ref.step)
        values: list[object] = [self.evaluator.field(n, ref.path) if ref.path else n for n in taken]
        return aggregate_of(ref.function, values, ref.parameter)

    def window(self, ref: WindowAggregate) -> object:
        raise AssertionError(f"{ref.function} of a window in a pattern")

    def previous(self, ref: PrevRef) -> object:
        return self._column(ref)

    def text_match(self, ref: TextMatch) -> bool | None:
        answer = self._column(ref)
        return None if answer is None else bool(answer)

    def _column(self, ref: PrevRef | TextMatch) -> object:
        column = next(number for known, number in self.asked.columns if known == ref)
        bits, null = self.evaluator.values[column, self.event], self.evaluator.nulls[column, self.event]
        return self.evaluator.value(int(bits), bool(null), ref.type)
