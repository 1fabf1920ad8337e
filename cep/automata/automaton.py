"""A pattern as an automaton: states are steps just taken, edges lead to the steps that may come next.

The construction is Glushkov's (Russian Mathematical Surveys 16, 1961): a state is the position of the step
that took the last event, so that there are no empty moves; state 0 is the start. Edges stand in order of
preference: another round of the loop, the next step, then what follows a step that may be left out. Rounds
are counted in registers. `cep.automata.tables` writes it out for the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from rules.typed import Absent, Match, Sign, Step

ALWAYS = 2**62
"""No greatest number of rounds."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A step that may take the next event; open while the source's rounds are in [least, most)."""

    step: int
    strict: bool
    least: int = 0
    most: int = ALWAYS


@dataclass(frozen=True, slots=True)
class State:
    """What a thread waits for after step `step` took an event (None: at the start).

    The pattern may end here after `least` rounds if `accepts`. `absent`: a timed step waits here, and
    `prevented` is the state without it (None: nothing is left).
    """

    step: int | None
    edges: tuple[Edge, ...]
    least: int
    accepts: bool
    absent: bool = False
    prevented: int | None = None


@dataclass(frozen=True, slots=True)
class Automaton:
    """States by number: 0 the start, 1 to n after a step, beyond those the ones after a prevented absence."""

    steps: tuple[Step, ...]
    absent: Absent | None
    states: tuple[State, ...]

    @property
    def strict(self) -> bool:
        """Whether an event between two that are taken can matter although it fits nothing."""
        return any(edge.strict for state in self.states for edge in state.edges)

    def counted(self, step: int) -> bool:
        """Whether the rounds of a step must be counted."""
        return not self.steps[step].quantifier.single


def automaton(match: Match) -> Automaton:
    """The automaton of a sequence of steps, with an absence at its end or none.

    `cep.automata.unsupported` keeps everything else away.
    """
    steps: list[tuple[Sign, Step]] = []
    absent: Absent | None = None
    for sign, element in match.pattern.elements:
        if isinstance(element, Step):
            steps.append((sign, element))
        elif isinstance(element, Absent):
            absent = element
        else:
            raise AssertionError(f"{type(element).__name__} was let through")
    states = [State(None, tuple(_following(steps, -1)), 0, False)]
    for number, (_, step) in enumerate(steps):
        states.append(_after(steps, number, step, absent is not None))
    for number, state in enumerate(tuple(states)):
        if state.absent and state.edges:
            states[number] = replace(state, prevented=len(states))
            states.append(replace(state, absent=False))
    return Automaton(tuple(step for _, step in steps), absent, tuple(states))


def _after(steps: list[tuple[Sign, Step]], number: int, step: Step, timed: bool) -> State:
    quantifier = step.quantifier
    edges: list[Edge] = []
    if not quantifier.single:
        most = ALWAYS if quantifier.most is None else quantifier.most
        edges.append(Edge(number, quantifier.own == "contiguous", 0, most))
    least = 0 if quantifier.single else quantifier.least
    edges.extend(Edge(e.step, e.strict, least) for e in _following(steps, number))
    ends = all(later.quantifier.least == 0 for _, later in steps[number + 1 :])
    return State(number, tuple(edges), least, ends and not timed, ends and timed)


def _following(steps: list[tuple[Sign, Step]], number: int) -> Iterator[Edge]:
    """The steps that may come right after a step, nearest first: those before the first that must be."""
    for following, (sign, step) in enumerate(steps[number + 1 :], number + 1):
        yield Edge(following, sign == "=>")
        if step.quantifier.least > 0:
            return
