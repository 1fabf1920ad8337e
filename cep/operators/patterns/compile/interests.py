"""The events that can matter to a waiting run, which it must be shown; the others pass it by.

To an alternative an event matters only if it satisfies, by itself (at its place), a step that the alternative
waits for or a guard that it watches. Where the condition also says that a field equals a value of an earlier
event, only events with that value matter: the parked run is found by hash
(`cep.operators.patterns.kernel.wait_index`). What the very next event decides, whatever it is, must see every
event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cep.operators.patterns.compile.automaton import Automaton, Each, Transition
from cep.operators.patterns.compile.program import Instruction
from cep.operators.patterns.kernel import bytecode, wait_index

MANY = 1_000
"""A limit of runs that is not reached at once. Where a rule sets none it is this one."""


@dataclass(frozen=True, slots=True)
class Interest:
    """Events that matter to a transition: those of a place; of these only those whose `column` equals
    `register`.

    Both are -1 where every event of the place matters.
    """

    place: int
    column: int = -1
    register: int = -1


def interest(place: int, program: Sequence[Instruction]) -> Interest:
    """The events of a place that a condition over earlier events, as its program, can be true for."""
    found = min(_equalities(program), default=None)
    return Interest(place) if found is None else Interest(place, *found[1:])


def _equalities(program: Sequence[Instruction]) -> Iterator[tuple[int, int, int]]:
    """Slot, column and register of each equality that holds wherever the program is true.

    Equal values have equal bits: numbers of one dictionary, and doubles with one zero
    (cep.operators.patterns.runtime.predicate_bits). The instruction at a place gives the slot of that number.
    """
    open_ = [len(program) - 1] if program else []
    while open_:
        operation, a, b, slot = program[open_.pop()]
        if operation == bytecode.AND:
            open_ += [a, b]
        elif operation in (bytecode.EQUAL_I, bytecode.EQUAL_F):
            sides = {program[side][0]: program[side][1] for side in (a, b)}
            if sides.keys() == {bytecode.COLUMN, bytecode.REGISTER}:
                yield slot, sides[bytecode.COLUMN], sides[bytecode.REGISTER]


def needs_every_event(transition: Transition) -> bool:
    """True if the very next event decides, whatever it is."""
    return transition.kind == "ending" or (transition.kind == "option" and transition.sign == "=>")


def awaited(automaton: Automaton) -> frozenset[int]:
    """The places of which an event can matter to a run that has begun; events of others only begin runs.

    All places where the very next event decides, and where an event may begin several runs at once.
    """
    begun = automaton.states[1:]
    guards = len(automaton.steps)
    if automaton.everything or any(isinstance(item, Each) for state in begun for item in state.items):
        return frozenset(range(guards + len(automaton.guards)))
    transitions = [transition for state in begun for transition in state.transitions]
    watched = {
        guards + watch.guard
        for transition in transitions
        for watch in (*transition.untils, *transition.watches)
    }
    return frozenset(watched | {transition.step for transition in transitions if transition.step is not None})


@dataclass(slots=True)
class Questions:
    """The equalities that a rule's runs wait for, as (place, column), numbered in order of first use."""

    rows: list[tuple[int, int]] = field(default_factory=list)

    def written(self, interests: Iterable[Interest]) -> tuple[int, list[tuple[int, int]]]:
        """Interests as a bit for each place all of whose events matter, and (question, register) pairs."""
        bits = 0
        asked: dict[tuple[int, int], None] = {}
        for one in interests:
            if one.column < 0:
                bits |= 1 << min(one.place, wait_index.OTHER_PLACES)
                continue
            question = (one.place, one.column)
            if question not in self.rows:
                self.rows.append(question)
            asked[self.rows.index(question), one.register] = None
        return bits, list(asked)
