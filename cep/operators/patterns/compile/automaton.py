"""A pattern as an automaton: a state is what just happened, its transitions are what may happen next.

The construction is Glushkov's (Russian Mathematical Surveys 16, 1961): a state is the step that took the last
event, or the timed step that was over, with what follows it, so that there are no empty transitions; state 0
is the start. `cep.operators.patterns.compile.states` builds it, `cep.operators.patterns.compile.tables`
writes it out for the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rules.typed import Guard, Sign, Step


@dataclass(frozen=True, slots=True)
class Since:
    """`duration` after the state was entered, or after a counter's time; None: when `within` ends."""

    counter: int | None
    duration: int | None


@dataclass(frozen=True, slots=True)
class Watch:
    """A guard (by number) that ends the waiting.

    `next_only`: only as the very next event. `until`: before that time only. `after`: a counter that holds
    how many events had been taken when a loop began; watched once there are more. `begins`: an `until` of a
    loop that has taken nothing yet: it ends nothing, but no event that satisfies it begins the loop.
    """

    guard: int
    next_only: bool = False
    until: Since | None = None
    after: int | None = None
    begins: bool = False


@dataclass(frozen=True, slots=True)
class Need:
    """A condition for a transition to be open when its state is entered: a counter and a number, or times."""

    kind: Literal["at least", "below", "nothing taken", "something taken", "reached", "ahead"]
    counter: int | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """A change of a counter when a transition fires."""

    kind: Literal["zero", "one more", "as many", "now"]
    counter: int


@dataclass(frozen=True, slots=True)
class Transition:
    """A transition, on an event of a step, a time, an end that may be prevented, or nothing: the end.

    `step` numbers the steps as they occur, `edge` the transitions that take an event. `target` is the state
    that it leads to. `untils` come before the step's own condition, `watches` after it. `fresh` are names
    whose events of an earlier round are not those of this one. `absences` are guards and durations of a look
    back before the first event.
    """

    kind: Literal["option", "timer", "ending", "end"]
    needs: tuple[Need, ...] = ()
    step: int | None = None
    sign: Sign = "->"
    gap: int | None = None
    over: tuple[Since, ...] = ()
    untils: tuple[Watch, ...] = ()
    watches: tuple[Watch, ...] = ()
    actions: tuple[Action, ...] = ()
    fresh: frozenset[str] = frozenset()
    absences: tuple[tuple[int, int], ...] = ()
    target: int | None = None
    edge: int | None = None


@dataclass(frozen=True, slots=True)
class Each:
    """Several alternatives that go on independently."""

    children: tuple[tuple[Item, ...], ...]


Item = Transition | Each


@dataclass(frozen=True, slots=True)
class State:
    """The transitions that an alternative waits for, in order of preference.

    Items between two ends (of either kind) wait together: the first that fires decides, and the others are
    given up.
    """

    items: tuple[Item, ...]
    transitions: tuple[Transition, ...] = field(init=False, repr=False, compare=False)
    """All transitions, in order."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "transitions", tuple(_transitions(self.items)))


def _transitions(items: tuple[Item, ...]) -> list[Transition]:
    found: list[Transition] = []
    for item in items:
        if isinstance(item, Transition):
            found.append(item)
        else:
            for child in item.children:
                found.extend(_transitions(child))
    return found


def _ends_beside(items: tuple[Item, ...]) -> bool:
    """True if an end that goes on independently waits together with something else, which may outlast it."""
    groups: list[list[Item]] = [[]]
    for item in items:
        if isinstance(item, Transition) and item.kind in ("end", "ending"):
            groups.append([])
        else:
            groups[-1].append(item)
    return any(
        (len(group) > 1 and any(transition.kind == "end" for transition in _transitions((item,))))
        or any(map(_ends_beside, item.children))
        for group in groups
        for item in group
        if isinstance(item, Each)
    )


@dataclass(frozen=True, slots=True)
class Automaton:
    """States by number, from the start. `edges` gives the step of each edge.

    `steps` are the steps as they occur in the text, `names` their distinct names in that order; `rounds`
    are the names of steps inside groups that repeat. `taken` is the counter of all events taken, if a
    transition needs it; `counters` counts the counters.
    """

    steps: tuple[Step, ...]
    names: tuple[str, ...]
    guards: tuple[Guard, ...]
    states: tuple[State, ...]
    edges: tuple[int, ...]
    rounds: frozenset[str]
    counters: int
    taken: int | None

    @property
    def everything(self) -> bool:
        """True if an event between two that are taken can matter although it fits nothing."""
        return any(
            (transition.sign == "=>" and transition.kind == "option" and number > 0)
            or transition.kind == "ending"
            or any(watch.next_only for watch in transition.watches)
            for number, state in enumerate(self.states)
            for transition in state.transitions
        )

    @property
    def plain(self) -> bool:
        """True if only `within` ends an alternative by time, and then it has come to no match."""
        return not any(
            _ends_beside(state.items)
            or any(
                transition.kind in ("timer", "ending") or transition.gap is not None
                for transition in state.transitions
            )
            for state in self.states
        )

    def name(self, step: int) -> int:
        """The number of the name of a step."""
        return self.names.index(self.steps[step].name)

    def stream(self, name: str) -> str:
        """The stream of the steps of a name."""
        return next(step.stream for step in self.steps if step.name == name)
