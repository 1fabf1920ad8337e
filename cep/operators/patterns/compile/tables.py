"""A rule's automaton, programs and updates as one flat int64 array: what the kernel interprets.

State numbers, places of conditions and edge numbers depend on the pattern's structure alone, so that runs
outlive a revision that changes only constants (docs/decisions/0001).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cep.expressions.conditions import split
from cep.operators.patterns.compile.automaton import (
    Automaton,
    Each,
    Item,
    Need,
    Since,
    State,
    Transition,
    Watch,
)
from cep.operators.patterns.compile.interests import Interest, Questions, interest, needs_every_event
from cep.operators.patterns.compile.liveness import Fact, Facts, Places, traits
from cep.operators.patterns.compile.program import (
    FLOAT,
    INTEGER,
    TEXT,
    Column,
    Compiler,
    Instruction,
    Layout,
    Outside,
    Register,
)
from cep.operators.patterns.compile.row_bounds import rows_of_states
from cep.operators.patterns.compile.states import automaton
from cep.operators.patterns.kernel import bytecode, merge, tables, wait_index
from cep.operators.patterns.kernel import layout as kernel_layout
from rules.typed import Aggregate, Expression, Match, Pack, PrevRef, Rule, StepRef, walk


@dataclass(frozen=True, slots=True)
class Place:
    """A condition over the candidate alone at a place of the rule; None: any event of the stream."""

    stream: str
    condition: Expression | None


@dataclass(frozen=True, slots=True)
class LookBack:
    """A guard whose events are looked back at: its place, its program (place, length), and how far."""

    place: int
    program: tuple[int, int]
    duration: int


@dataclass(frozen=True, slots=True)
class Tables:
    """A compiled pattern.

    `places` are the steps as they occur, then the guards; `everything` says that also events that fit no
    place matter (strict signs, `prev`). `constants` are (kind, value). `slots` is the scratch room that the
    longest program needs. `updates` has (place, number) for every edge, `edges` the number of its step's
    name. `ranked`: the order of strings matters. `outside` are conditions that no program expresses;
    `look_backs` follow the columns.
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
    edges: npt.NDArray[np.int64]
    ranked: bool
    outside: tuple[Outside, ...]
    look_backs: tuple[LookBack, ...]

    @property
    def row_width(self) -> int:
        """The numbers (int64) that the row of an alternative takes."""
        return int(self.array[tables.H_ALT])

    @property
    def forks(self) -> bool:
        """True if alternatives of a run can go on independently, and so come to one match twice."""
        return bool(self.array[tables.H_COPIES] > 1)


_SKIPS = {
    "past last": tables.SKIP_PAST_LAST,
    "next": tables.SKIP_TO_NEXT,
    "first": tables.SKIP_TO_FIRST,
    "last": tables.SKIP_TO_LAST,
    "none": tables.SKIP_NONE,
}
_KINDS = {"option": tables.OPTION, "timer": tables.TIMER, "ending": tables.ENDING, "end": tables.THE_END}
_SIGNS = {"->": tables.RELAXED, "=>": tables.STRICT, "~>": tables.ANY}
_NEEDS = {
    "at least": tables.AT_LEAST,
    "below": tables.BELOW,
    "nothing taken": tables.NOTHING_TAKEN,
    "something taken": tables.SOMETHING_TAKEN,
    "reached": tables.TIME_REACHED,
    "ahead": tables.TIME_AHEAD,
}
NEVER_PARKS = 2**62
"""More runs than a key can have."""
_ACTIONS = {"zero": tables.ZERO, "one more": tables.ONE_MORE, "as many": tables.AS_MANY, "now": tables.NOW}


def compile_tables(pack: Pack, rule: Rule) -> Tables:
    """The tables of a rule with a pattern. Raises TooLargeError."""
    match = rule.body
    assert isinstance(match, Match)
    machine = automaton(match)
    streams = tuple(machine.stream(name) for name in machine.names)
    layout = Layout(pack, {name: n for n, name in enumerate(machine.names)}, streams, machine.rounds)
    asked = [(step.stream, step.condition) for step in machine.steps]
    asked += [(guard.stream, guard.condition) for guard in machine.guards]
    writer = _Writer(match, machine, layout, [(stream, split(c)[1]) for stream, c in asked])
    array = writer.array()
    looks_back = any(isinstance(n, PrevRef) for _, c in asked if c is not None for n in walk(c))
    codes = [code for program in writer.programs.values() for code in program]
    return Tables(
        automaton=machine,
        array=array,
        places=tuple(Place(stream, split(condition)[0]) for stream, condition in asked),
        everything=machine.everything or looks_back,
        columns=tuple(layout.columns),
        registers=tuple(layout.registers),
        constants=tuple(layout.constants),
        slots=writer.slots,
        updates=np.array(writer.updates, np.int64).ravel(),
        edges=np.array([machine.name(step) for step in machine.edges], np.int64),
        ranked=any(code[0] in (bytecode.LESS_T, bytecode.AT_MOST_T) for code in codes)
        or any(r.kind == TEXT and r.what in ("min", "max") for r in layout.registers),
        outside=tuple(layout.outside),
        look_backs=tuple(writer.look_backs),
    )


_Program = tuple[int, frozenset[str]]
"""A step or guard, and the names whose events of an earlier round it does not see. -1: `having`."""


@dataclass(slots=True)
class _Writer:
    """Writes the array: programs are compiled first, since they make registers and columns."""

    match: Match
    machine: Automaton
    layout: Layout
    asked: list[tuple[str, Expression | None]]
    """Stream and condition over earlier events, of the steps as they occur and then the guards."""
    programs: dict[_Program, list[Instruction]] = field(default_factory=dict)
    slots: int = 0
    updates: list[tuple[int, int]] = field(default_factory=list)
    look_backs: list[LookBack] = field(default_factory=list)
    content: list[int] = field(default_factory=list)
    written: dict[_Program, tuple[int, int]] = field(default_factory=dict)
    questions: Questions = field(default_factory=Questions)
    changes: dict[int, list[Instruction]] = field(default_factory=dict)
    """By edge, what taking an event does to the registers."""
    rows: list[int] = field(default_factory=list)
    """By state, the most rows that an alternative in it may need for one event."""

    def array(self) -> npt.NDArray[np.int64]:
        """The head, then everything that it and the parts point at, the states and their transitions last."""
        machine, layout = self.machine, self.layout
        self.rows = rows_of_states(machine)
        for state in machine.states:
            for transition in state.transitions:
                self._compile_all(transition)
        self._compile((-1, frozenset()), None, self.match.having)
        words = -(-len(layout.registers) // kernel_layout.BITS)
        masks = max(1, -(-max(len(state.transitions) for state in machine.states) // kernel_layout.BITS))
        counters = kernel_layout.T_MASK + masks
        nulls = counters + machine.counters
        row_width = nulls + words + len(layout.registers)
        self.content = [0] * tables.HEAD
        initial = self._put(self._initial_nulls(words))
        for name, program in self.programs.items():
            self.written[name] = (self._put([n for code in program for n in code]), len(program))
        having = self.written[-1, frozenset()]
        steps = self._put([machine.name(step) for step in machine.edges])
        states = self._states(Places(counters, nulls + words, self._sums()))
        questions = self._put([n for row in self.questions.rows for n in row])
        within = -1 if self.match.within is None else self.match.within
        skip = self.match.skip
        self.content[: tables.HEAD] = (
            states, initial, within, _SKIPS[skip.to], layout.steps.get(skip.step or "", -1), steps, masks,
            counters, nulls, nulls + words, row_width, self.match.limit, max(self.rows), int(machine.plain),
            int(self.match.on_timeout is not None), -1 if machine.taken is None else machine.taken, *having,
            wait_index.PARK_BEYOND if self._parks() else NEVER_PARKS, len(self.asked), questions,
            len(self.questions.rows), int(self._next_decides()), merge.MERGE_BEYOND, self._copies(),
            merge.MOST_ALTERNATIVES, merge.ALL_ALTERNATIVES, kernel_layout.BACKBONES,
        )  # fmt: skip
        return np.array(self.content, dtype=np.int64)

    def _put(self, numbers: list[int]) -> int:
        """Append numbers; where they begin."""
        self.content.extend(numbers)
        return len(self.content) - len(numbers)

    # Programs.

    def _compile_all(self, transition: Transition) -> None:
        if transition.step is not None:
            self._compile((transition.step, self._fresh(transition)), *self.asked[transition.step])
        guards = [watch.guard for watch in (*transition.untils, *transition.watches)]
        guards += [guard for guard, _ in transition.absences]
        for guard in guards:
            number = len(self.machine.steps) + guard
            self._compile((number, self._fresh(transition)), *self.asked[number])

    def _fresh(self, transition: Transition) -> frozenset[str]:
        return transition.fresh & self.machine.rounds

    def _compile(self, name: _Program, stream: str | None, condition: Expression | None) -> None:
        if name in self.programs:
            return
        compiler = Compiler(self.layout, stream, name[1])
        if condition is not None:
            compiler.condition(condition)
        self.programs[name] = compiler.code
        self.slots = max(self.slots, compiler.slots)

    # States.

    def _states(self, places: Places) -> int:
        count = len(self.machine.states)
        at = self._put([0] * tables.STATE * count)
        transitions = [transition for state in self.machine.states for transition in state.transitions]
        self.changes = {
            transition.edge: self._updates(transition)
            for transition in transitions
            if transition.edge is not None
        }
        distinguishing = traits(
            self.machine, self._asked_by, self._reads((-1, frozenset())), self.changes, places
        )
        self.updates = [(0, 0)] * len(self.machine.edges)
        first = self._put([0] * tables.TRANSITION * len(transitions))
        for number, state in enumerate(self.machine.states):
            row = at + number * tables.STATE
            for place, transition in enumerate(state.transitions):
                where = first + place * tables.TRANSITION
                self.content[where : where + tables.TRANSITION] = self._transition(transition)
            tokens = self._tokens(state, first)
            token = self._put(tokens)
            for k in range(token, token + len(tokens), tables.TOKEN):
                self.content[k + tables.K_END] = token + self.content[k + tables.K_END] * tables.TOKEN
            forks = any(isinstance(item, Each) for item in state.items)
            apart = distinguishing[number]
            self.content[row : row + tables.STATE] = (
                first, len(state.transitions), token, len(tokens) // tables.TOKEN - 1, int(forks),
                int(_is_plain(state)), self.rows[number], self._put([n for row in apart for n in row]),
                len(apart),
            )  # fmt: skip
            first += len(state.transitions) * tables.TRANSITION
        return at

    def _tokens(self, state: State, first: int) -> list[int]:
        """The tokens of a state and one that ends them; ends as numbers of tokens."""
        rows: list[list[int]] = []
        transitions = 0

        def add(items: tuple[Item, ...]) -> None:
            nonlocal transitions
            for item in items:
                row = [tables.A_TRANSITION, first + transitions * tables.TRANSITION, transitions, 0]
                rows.append(row)
                if isinstance(item, Transition):
                    transitions += 1
                else:
                    row[:2] = tables.AN_EACH, 0
                    for child in item.children:
                        inner = [tables.A_CHILD, 0, transitions, 0]
                        rows.append(inner)
                        add(child)
                        inner[tables.K_END] = len(rows)
                row[tables.K_END] = len(rows)

        add(state.items)
        rows.append([tables.A_CHILD, 0, transitions, len(rows) + 1])
        return [number for row in rows for number in row]

    def _transition(self, transition: Transition) -> tuple[int, ...]:
        place = program = length = step = target = edge = -1
        update = (0, 0)
        if transition.kind == "option":
            assert transition.step is not None
            assert transition.edge is not None
            place, step, edge = transition.step, transition.step, transition.edge
            program, length = self.written[transition.step, self._fresh(transition)]
            changes = self.changes[edge]
            update = (self._put([n for change in changes for n in change]), len(changes))
            self.updates[edge] = update
        if transition.target is not None:
            target = transition.target
        parts: list[int] = []
        for rows in (
            [self._since(since) for since in transition.over],
            [self._watch(watch, transition) for watch in transition.untils],
            [self._watch(watch, transition) for watch in transition.watches],
            [self._need(need) for need in transition.needs],
            [(_ACTIONS[action.kind], action.counter) for action in transition.actions],
        ):
            parts += [self._put([n for row in rows for n in row]), len(rows)]
        looks = [self._look_back(guard, duration, transition) for guard, duration in transition.absences]
        wants, asked = self.questions.written(self._interests(transition))
        if needs_every_event(transition):
            wants |= 1 << wait_index.EVERY_EVENT
        return (
            _KINDS[transition.kind], place, program, length, _SIGNS[transition.sign], target, edge, step,
            -1 if transition.gap is None else transition.gap, *parts, *update,
            self._put([n for look in looks for n in look]), len(looks),
            wants, self._put([n for row in asked for n in row]), len(asked),
        )  # fmt: skip

    def _interests(self, transition: Transition) -> Iterator[Interest]:
        """The events that matter to an alternative that waits for the transition."""
        guards = () if transition.kind == "end" else (*transition.untils, *transition.watches)
        numbers = [len(self.machine.steps) + watch.guard for watch in guards]
        if transition.kind == "option":
            assert transition.step is not None
            numbers.append(transition.step)
        for number in numbers:
            yield interest(number, self.programs[number, self._fresh(transition)])

    def _parks(self) -> bool:
        """True if there is a state in which some event does not matter."""
        states = self.machine.states[1:]
        return any(
            state.transitions and not any(map(needs_every_event, state.transitions)) for state in states
        )

    def _next_decides(self) -> bool:
        """True if a run that has begun lives only if the very next event fits its second step."""
        states = self.machine.states
        return self.match.on_timeout is None and all(
            after.kind == "option" and after.sign == "=>"
            for transition in states[0].transitions
            for after in states[transition.target or 0].transitions
        )

    def _since(self, since: Since) -> tuple[int, int]:
        duration = -1 if since.duration is None else since.duration
        return (-1 if since.counter is None else since.counter, duration)

    def _watch(self, watch: Watch, transition: Transition) -> tuple[int, ...]:
        place = len(self.machine.steps) + watch.guard
        until = (tables.NEVER, 0) if watch.until is None else self._since(watch.until)
        after = -1 if watch.after is None else watch.after
        after = tables.BEGINS if watch.begins else after
        program = self.written[place, self._fresh(transition)]
        return (place, *program, int(watch.next_only), *until, after, watch.guard)

    def _need(self, need: Need) -> tuple[int, int, int]:
        counter = -1 if need.counter is None else need.counter
        return (_NEEDS[need.kind], counter, -1 if need.number is None else need.number)

    def _look_back(self, guard: int, duration: int, transition: Transition) -> tuple[int, int]:
        place = len(self.machine.steps) + guard
        look = LookBack(place, self.written[place, self._fresh(transition)], duration)
        if look not in self.look_backs:
            self.look_backs.append(look)
        return (len(self.layout.columns) + self.look_backs.index(look), duration)

    def _copies(self) -> int:
        """The number of equivalent alternatives that a list keeps: two where alternatives go on
        independently, since one and more than one then differ."""
        states = self.machine.states
        forks = any(isinstance(item, Each) for state in states for item in state.items)
        return (
            2
            if forks or any(transition.sign == "~>" for state in states for transition in state.transitions)
            else 1
        )

    def _sums(self) -> frozenset[int]:
        return frozenset(n for n, register in enumerate(self.layout.registers) if register.what == "sum")

    def _asked_by(self, transition: Transition) -> Facts:
        """The facts that the conditions of a transition read of an alternative."""
        numbers = [
            len(self.machine.steps) + watch.guard for watch in (*transition.untils, *transition.watches)
        ]
        if transition.step is not None:
            numbers.append(transition.step)
        return frozenset().union(*(self._reads((number, self._fresh(transition))) for number in numbers))

    def _reads(self, name: _Program) -> Facts:
        """The facts that a program reads of an alternative; outside, the events that steps took."""
        facts: set[Fact] = set()
        for operation, a, _, _ in self.programs[name]:
            if operation == bytecode.REGISTER:
                facts.add(Fact("register", a))
            elif operation == bytecode.OUTSIDE:
                asked = self.layout.outside[a]
                facts |= {Fact("register", register) for _, register in asked.registers}
                names = [n.step for n in walk(asked.expression) if isinstance(n, StepRef | Aggregate)]
                facts |= {Fact("taken", self.layout.steps[step]) for step in names}
        return frozenset(facts)

    def _initial_nulls(self, words: int) -> list[int]:
        """All values are null at first, all counts 0."""
        nulls = [0] * words
        for number, register in enumerate(self.layout.registers):
            if register.what not in ("count", "known"):
                nulls[number // kernel_layout.BITS] |= 1 << (number % kernel_layout.BITS)
        return nulls

    def _updates(self, transition: Transition) -> list[Instruction]:
        """The updates of registers by an edge's event, in an order in which none is read after it changed."""
        assert transition.step is not None
        registers = self.layout.registers
        step = self.machine.name(transition.step)
        changes: list[Instruction] = [
            (bytecode.RESET, number, -1, 0)
            for number, register in enumerate(registers)
            if register.only and self.machine.names[register.step] in transition.fresh
        ]
        own = [(n, r) for n, r in enumerate(registers) if r.step == step]
        for number, register in sorted(own, key=lambda item: -item[1].offset):
            if register.what == "value" and register.from_end and register.offset:
                nearer = Register(step, "value", register.column, True, register.offset - 1, register.kind)
                changes.append((bytecode.SHIFT, number, -1, self.layout.register(nearer)))
            elif register.what == "value" and register.from_end:
                changes.append((bytecode.SET, number, register.column, 0))
            elif register.what == "value":
                count = self.layout.register(Register(step, "count"))
                changes.append(
                    (bytecode.NTH, number, register.column, count * bytecode.FIRSTS + register.offset)
                )
            elif register.what != "count":
                changes.append((_UPDATES[register.what, register.kind], number, register.column, 0))
        changes.extend((bytecode.COUNT, n, -1, 0) for n, r in own if r.what == "count")
        return changes


def _is_plain(state: State) -> bool:
    """True if all that waits in it waits together: whatever happens first decides."""
    return all(
        isinstance(item, Transition)
        and item.kind != "ending"
        and not (item.kind == "option" and item.sign == "~>")
        for item in state.items
    )


_UPDATES = {
    ("known", INTEGER): bytecode.KNOWN,
    ("sum", INTEGER): bytecode.SUM_I,
    ("sum", FLOAT): bytecode.SUM_F,
    ("min", INTEGER): bytecode.LEAST_I,
    ("min", FLOAT): bytecode.LEAST_F,
    ("min", TEXT): bytecode.LEAST_T,
    ("max", INTEGER): bytecode.GREATEST_I,
    ("max", FLOAT): bytecode.GREATEST_F,
    ("max", TEXT): bytecode.GREATEST_T,
}
