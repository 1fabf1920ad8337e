"""Liveness: of all that an alternative keeps, what its future can depend on. Where two differ in nothing of
that, they are equivalent.

Equivalent alternatives are in one state, wait for the same transitions and agree in all that may still be
read. They develop alike, whatever events come, so that the less preferred of them can never be raised
(docs/decisions/0012). What may be read is found backward over the automaton, as a compiler finds the
variables that are live (Aho, Lam, Sethi, Ullman: Compilers, 9.2.5): a transition reads what its conditions
and times name, and what its target reads and its own actions and updates do not set first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from cep.operators.patterns.compile.automaton import Automaton, State, Transition
from cep.operators.patterns.compile.program import Instruction
from cep.operators.patterns.kernel import bytecode, layout, tables


@dataclass(frozen=True, slots=True, order=True)
class Fact:
    """Something that an alternative keeps.

    A register; only whether a register that counts has come to the places at which others are set; a counter;
    when its state was entered, when its last event came, whether that was the newest event of its key; the
    events that a step, by the number of its name, took.
    """

    kind: Literal["register", "passed", "counter", "came", "last", "newest", "taken"]
    number: int = -1


Facts = frozenset[Fact]
Row = tuple[int, int, int]
_NOTHING: Facts = frozenset()
_CAME, _LAST, _NEWEST = Fact("came"), Fact("last"), Fact("newest")


@dataclass(frozen=True, slots=True)
class Places:
    """The layout of an alternative: the first of its counters and of its registers, and which are sums.

    A sum that overflowed is null for good; what stands in its place distinguishes it from an empty one.
    """

    counters: int
    values: int
    sums: frozenset[int]


def traits(
    machine: Automaton,
    asked: Callable[[Transition], Facts],
    having: Facts,
    updates: Mapping[int, Sequence[Instruction]],
    places: Places,
) -> list[list[Row]]:
    """For each state what distinguishes alternatives in it besides the transitions that they wait for, a row
    each as the kernel reads it (kernel.D_KIND and what follows).

    `asked` gives what the conditions of a transition and of its guards read, `having` what that reads,
    `updates` by edge what taking an event along it does to registers.
    """
    counters = _counters(machine, places.counters)
    bounds: dict[int, int] = {}
    counted: set[int] = set()
    for operation, register, _, other in (update for of in updates.values() for update in of):
        if operation == bytecode.NTH:
            count, offset = divmod(other, bytecode.FIRSTS)
            bounds[count] = max(offset + 1, bounds.get(count, 0))
        elif operation in (bytecode.COUNT, bytecode.KNOWN):
            counted.add(register)

    def row(fact: Fact) -> Iterator[Row]:
        n = fact.number
        match fact.kind:
            case "came":
                yield tables.EXACTLY, layout.T_TIME, -1
            case "last":
                yield tables.EXACTLY, layout.T_LAST, -1
            case "newest":
                yield tables.JUST_NOW, layout.T_SEQUENCE, -1
            case "taken":
                yield tables.TAKEN_BY, layout.T_NODE, n
            case "counter":
                yield counters[n]
            case "passed":
                yield tables.UP_TO, places.values + n, bounds[n]
            case "register" if n in counted:
                yield tables.EXACTLY, places.values + n, -1
            case "register":
                yield tables.NULLNESS, layout.T_STATE, n
                yield tables.EXACTLY if n in places.sums else tables.IF_KNOWN, places.values + n, n

    return [
        [one for fact in sorted(facts) for one in row(fact)]
        for facts in _live(machine, asked, having, updates)
    ]


def _live(
    machine: Automaton,
    asked: Callable[[Transition], Facts],
    having: Facts,
    updates: Mapping[int, Sequence[Instruction]],
) -> list[Facts]:
    """For each state what of an alternative in it may be read from there on, to the fixed point."""
    reads = [
        frozenset().union(
            *(
                asked(transition)
                | _waiting(transition)
                | (having if transition.kind == "ending" else _NOTHING)
                for transition in transitions
            )
        )
        for transitions in (state.transitions for state in machine.states)
    ]
    arriving = [_at_arrival(state, having) for state in machine.states]
    found = list(reads)
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(found))):
            facts = reads[number].union(
                *(
                    _before(
                        transition,
                        found[transition.target] | arriving[transition.target],
                        _of(transition, updates),
                    )
                    for transition in machine.states[number].transitions
                    if transition.target is not None
                )
            )
            changed = changed or facts != found[number]
            found[number] = facts
    return found


def _at_arrival(state: State, having: Facts) -> Facts:
    """The facts read when a state is entered; the present time is the same for all that enter it."""
    facts: set[Fact] = set()
    for transition in state.transitions:
        for need in transition.needs:
            if need.counter is not None:
                facts.add(Fact("counter", need.counter))
            if need.kind == "ahead":
                facts |= {
                    Fact("counter", over.counter) for over in transition.over if over.counter is not None
                }
        if transition.kind == "end":
            facts |= having
    return frozenset(facts)


def _waiting(transition: Transition) -> Facts:
    """The facts read while an alternative waits for a transition, but for conditions."""
    facts: set[Fact] = set()
    if transition.gap is not None:
        facts.add(_LAST)
    if any(action.kind == "now" for action in transition.actions):
        facts.add(_CAME)
    watches = (*transition.untils, *transition.watches)
    for since in (*transition.over, *(watch.until for watch in watches)):
        if since is not None and since.counter is not None:
            facts.add(Fact("counter", since.counter))
        elif since is not None and since.duration is not None:
            facts.add(_CAME)
    for watch in watches:
        if watch.next_only:
            facts.add(_NEWEST)
        if watch.after is not None:
            facts.add(Fact("counter", watch.after))
    return frozenset(facts)


def _before(transition: Transition, after: Facts, updates: Sequence[Instruction]) -> Facts:
    """The facts that are needed before a transition fires, for those that are needed `after` it."""
    facts = set(after) - {_CAME, _NEWEST}
    if transition.kind == "option":
        facts.discard(_LAST)
    for operation, register, _, other in reversed(updates):
        value = Fact("register", register)
        if value not in facts:
            continue
        match operation:
            case bytecode.SET | bytecode.RESET:
                facts.remove(value)
            case bytecode.SHIFT:
                facts.remove(value)
                facts.add(Fact("register", other))
            case bytecode.NTH:
                facts.add(Fact("passed", other // bytecode.FIRSTS))
            case _:
                pass  # what it was is part of what it becomes
    for action in reversed(transition.actions):
        if action.kind != "one more":
            facts.discard(Fact("counter", action.counter))
    return frozenset(facts)


def _of(transition: Transition, updates: Mapping[int, Sequence[Instruction]]) -> Sequence[Instruction]:
    return () if transition.edge is None else updates[transition.edge]


def _counters(machine: Automaton, first: int) -> dict[int, Row]:
    """By counter how it is read: as a number of rounds, a number of events taken before, or a time."""
    transitions = [transition for state in machine.states for transition in state.transitions]
    actions = {(action.kind, action.counter) for transition in transitions for action in transition.actions}
    most: dict[int, int] = {}
    for need in (need for transition in transitions for need in transition.needs):
        if need.counter is not None and need.number is not None:
            most[need.counter] = max(need.number, most.get(need.counter, 0))
    found: dict[int, Row] = {}
    for counter in range(machine.counters):
        if ("one more", counter) in actions:
            # One round more is begun than it says; from the greatest number on it makes no difference.
            found[counter] = tables.UP_TO, first + counter, most.get(counter, 1) - 1
        elif ("as many", counter) in actions:
            found[counter] = tables.TAKEN_SINCE, first + counter, -1
        else:
            found[counter] = tables.EXACTLY, first + counter, -1
    return found
