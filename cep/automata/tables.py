"""A rule's automaton, programs and updates as one flat int64 array: what `cep.matching.kernel` interprets.

State numbers, places of conditions and step numbers depend on the pattern's structure alone, so that runs
outlive a revision that changes only constants (docs/decisions/0001).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cep.automata.automaton import Automaton, State, automaton
from cep.automata.conditions import split
from cep.automata.program import FLOAT, INTEGER, TEXT, Column, Compiler, Instruction, Layout, Register
from cep.matching import kernel
from rules.typed import Expression, Match, Pack, PrevRef, Rule, walk


@dataclass(frozen=True, slots=True)
class Place:
    """A condition over the candidate alone at a place of the rule; None: any event of the stream."""

    stream: str
    condition: Expression | None


@dataclass(frozen=True, slots=True)
class Tables:
    """A compiled pattern.

    `places` are the steps in order, then the guard of an absence; `everything` says that also events that
    fit no place matter (strict signs, `prev`). `constants` are (kind, value). `slots` is the scratch
    room that the longest program needs. `updates` has (place, number) for every step. `ranked`: the order
    of strings matters.
    """

    automaton: Automaton
    array: npt.NDArray[np.int64]
    places: tuple[Place, ...]
    everything: bool
    columns: tuple[Column, ...]
    registers: tuple[Register, ...]
    constants: tuple[tuple[int, object], ...]
    slots: int
    updates: npt.NDArray[np.int64]
    ranked: bool

    @property
    def thread(self) -> int:
        """How many int64 a thread takes."""
        return int(self.array[kernel.H_THREAD])


_SKIPS = {
    "past last": kernel.SKIP_PAST_LAST,
    "next": kernel.SKIP_TO_NEXT,
    "first": kernel.SKIP_TO_FIRST,
    "last": kernel.SKIP_TO_LAST,
    "none": kernel.SKIP_NONE,
}


def compile_tables(pack: Pack, rule: Rule) -> Tables:
    """The tables of a rule with a pattern.

    Raises NotExecutedError for a condition that no program expresses.
    """
    match = rule.body
    assert isinstance(match, Match)
    machine = automaton(match)
    steps = machine.steps
    layout = Layout(pack, {s.name: n for n, s in enumerate(steps)}, tuple(s.stream for s in steps))
    for number in range(len(steps)):
        if machine.counted(number):
            layout.register(Register(number, "count"))
    guarded = [(step.stream, step.condition) for step in steps]
    if machine.absent is not None:
        guarded.append((machine.absent.guard.stream, machine.absent.guard.condition))
    places = []
    programs: list[list[Instruction]] = []
    slots = 0
    for stream, condition in guarded:
        alone, rest = split(condition)
        places.append(Place(stream, alone))
        compiler = Compiler(layout, stream)
        if rest is not None:
            compiler.value(rest)
        programs.append(compiler.code)
        slots = max(slots, compiler.slots)
    looks_back = any(isinstance(n, PrevRef) for _, c in guarded if c is not None for n in walk(c))
    writer = _Writer(match, machine, layout, programs)
    array = writer.array()
    return Tables(
        automaton=machine,
        array=array,
        places=tuple(places),
        everything=machine.strict or looks_back,
        columns=tuple(layout.columns),
        registers=tuple(layout.registers),
        constants=tuple(layout.constants),
        slots=slots,
        updates=np.array(writer.updates, np.int64).ravel(),
        ranked=any(code[0] in (kernel.LESS_T, kernel.AT_MOST_T) for program in programs for code in program)
        or any(r.kind == TEXT and r.what in ("min", "max") for r in layout.registers),
    )


@dataclass(slots=True)
class _Writer:
    match: Match
    machine: Automaton
    layout: Layout
    programs: list[list[Instruction]]
    updates: list[tuple[int, int]] = field(default_factory=list)

    def array(self) -> npt.NDArray[np.int64]:
        """The head, the states, the edges, the registers' first null words, then programs and updates."""
        words = -(-len(self.layout.registers) // kernel.NULL_BITS)
        states = kernel.HEAD
        edges = states + kernel.STATE * len(self.machine.states)
        initial = edges + kernel.EDGE * sum(len(state.edges) for state in self.machine.states)
        at = initial + words
        code: list[int] = []
        conditions: list[tuple[int, int]] = []
        for program in self.programs:
            conditions.append((at + len(code), len(program)))
            code.extend(number for instruction in program for number in instruction)
        updates = self.updates
        for step in range(len(self.machine.steps)):
            changes = self._updates(step)
            updates.append((at + len(code), len(changes)))
            code.extend(number for change in changes for number in change)
        state_rows: list[int] = []
        edge_rows: list[int] = []
        for state in self.machine.states:
            state_rows.extend(self._state(edges + len(edge_rows), state, conditions))
            for edge in state.edges:
                counter = self._counter(state.step)
                condition, length = conditions[edge.step]
                update, changed = updates[edge.step]
                edge_rows.extend(
                    (edge.step, condition, length, int(edge.strict), counter, edge.least, edge.most, update,
                     changed, edge.step + 1, edge.step)
                )  # fmt: skip
        within = -1 if self.match.within is None else self.match.within
        skip = self.match.skip
        most_edges = max(len(state.edges) for state in self.machine.states)
        head = (
            states, edges, initial, within, _SKIPS[skip.to], self.layout.steps.get(skip.step or "", -1),
            len(self.layout.registers), words, kernel.T_NULLS + words + len(self.layout.registers),
            self.match.limit, 2 * most_edges + 1,
        )  # fmt: skip
        array = [*head, *state_rows, *edge_rows, *self._initial_nulls(words), *code]
        return np.array(array, dtype=np.int64)

    def _state(self, first_edge: int, state: State, conditions: list[tuple[int, int]]) -> tuple[int, ...]:
        timer, guard, program, length = kernel.NO_TIMER, -1, 0, 0
        if state.absent:
            absent = self.machine.absent
            assert absent is not None
            timer = kernel.UNTIL_WITHIN if absent.duration is None else absent.duration
            guard = len(self.machine.steps)
            program, length = conditions[guard]
        prevented = -1 if state.prevented is None else state.prevented
        counter = self._counter(state.step)
        return (
            first_edge, len(state.edges), int(state.accepts), counter, state.least, timer, guard, program,
            length, prevented,
        )  # fmt: skip

    def _counter(self, step: int | None) -> int:
        if step is None or not self.machine.counted(step):
            return -1
        return self.layout.register(Register(step, "count"))

    def _initial_nulls(self, words: int) -> list[int]:
        """All values are null at first, all counts 0."""
        nulls = [0] * words
        for number, register in enumerate(self.layout.registers):
            if register.what not in ("count", "known"):
                nulls[number // kernel.NULL_BITS] |= 1 << (number % kernel.NULL_BITS)
        return nulls

    def _updates(self, step: int) -> list[Instruction]:
        """What a step's event does to the registers, in an order in which none is read after it changed."""
        own = [(n, r) for n, r in enumerate(self.layout.registers) if r.step == step]
        changes: list[Instruction] = []
        for number, register in sorted(own, key=lambda item: -item[1].offset):
            if register.what == "value" and register.from_end and register.offset:
                nearer = Register(step, "value", register.column, True, register.offset - 1, register.kind)
                changes.append((kernel.SHIFT, number, -1, self.layout.register(nearer)))
            elif register.what == "value" and register.from_end:
                changes.append((kernel.SET, number, register.column, 0))
            elif register.what == "value":
                count = self.layout.register(Register(step, "count"))
                changes.append((kernel.NTH, number, register.column, count * kernel.FIRSTS + register.offset))
            elif register.what != "count":
                changes.append((_UPDATES[register.what, register.kind], number, register.column, 0))
        changes.extend((kernel.COUNT, n, -1, 0) for n, r in own if r.what == "count")
        return changes


_UPDATES = {
    ("known", INTEGER): kernel.KNOWN,
    ("sum", INTEGER): kernel.SUM_I,
    ("sum", FLOAT): kernel.SUM_F,
    ("min", INTEGER): kernel.LEAST_I,
    ("min", FLOAT): kernel.LEAST_F,
    ("min", TEXT): kernel.LEAST_T,
    ("max", INTEGER): kernel.GREATEST_I,
    ("max", FLOAT): kernel.GREATEST_F,
    ("max", TEXT): kernel.GREATEST_T,
}
