"""Continuations: what follows a place of a pattern, and what was passed to come there."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cep.operators.patterns.compile.automaton import Action, Need
from rules.typed import Sign


@dataclass(frozen=True, slots=True)
class Guarded:
    """A watch before its state is known: `any_order` numbers the group whose beginning it counts from (None:
    from when the state was entered), `duration` is how long (None: until `within` is over), `after`
    the loop that must have taken an event."""

    guard: int
    next_only: bool = False
    timed: bool = False
    any_order: int | None = None
    duration: int | None = None
    after: int | None = None


@dataclass(frozen=True, slots=True)
class Inside:
    """Conditions on every event taken inside the elements around a step."""

    untils: tuple[Guarded, ...] = ()
    gap: int | None = None
    watches: tuple[Guarded, ...] = ()


@dataclass(frozen=True, slots=True)
class Rest:
    """The rest of a sequence from element `at` on, then what follows it."""

    sequence: int
    at: int
    inside: Inside
    then: Then


@dataclass(frozen=True, slots=True)
class Again:
    """The end of a round of a loop that was entered by a sign."""

    loop: int
    sign: Sign
    outside: Inside
    watches: tuple[Guarded, ...]
    then: Then


@dataclass(frozen=True, slots=True)
class Operands:
    """The operands of `&` that still wait, by number. `timed`: its absences count from its beginning."""

    group: int
    waiting: tuple[int, ...]
    timed: bool
    inside: Inside
    then: Then


Then = Rest | Again | Operands | None
"""What is waited for after that; None: nothing, the pattern is complete."""


@dataclass(frozen=True, slots=True)
class Path:
    """Everything passed since the last event or time: the difference between two paths to one place.

    `entered` and `begun` are loops and rounds, `grouped` groups of `&`, that began since. `timed`: the last
    thing was a time, so that a loop may have taken nothing in its round.
    """

    taken: bool = True
    timed: bool = False
    needs: tuple[Need, ...] = ()
    actions: tuple[Action, ...] = ()
    fresh: frozenset[str] = frozenset()
    watches: tuple[Guarded, ...] = ()
    absences: tuple[tuple[int, int], ...] = ()
    entered: frozenset[int] = frozenset()
    begun: frozenset[int] = frozenset()
    grouped: frozenset[int] = frozenset()

    def needing(self, *needs: Need) -> Path:
        return replace(self, needs=(*self.needs, *needs))

    def doing(self, kind: str, counter: int | None) -> Path:
        if counter is None:
            return self
        return replace(self, actions=(*self.actions, Action(kind, counter)))  # type: ignore[arg-type]


Place = tuple[str, int | None, Then, frozenset[str]]
"""A state before its transitions are known: what happened, its step, what follows, earlier names."""
