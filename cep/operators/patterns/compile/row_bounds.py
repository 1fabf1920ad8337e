"""The most rows that the kernel may need for one event, by the state that an alternative is in."""

from __future__ import annotations

from cep.operators.patterns.compile.automaton import Automaton, Each, State


def rows_of_states(machine: Automaton) -> list[int]:
    """By state the most rows that an alternative in it may need for an event, before it gives any back."""
    arriving = [_arriving(state) for state in machine.states]
    return [
        2
        + arriving[number]
        + sum(
            (5 if transition.sign == "~>" else 2) + arriving[transition.target or 0]
            for transition in state.transitions
        )
        for number, state in enumerate(machine.states)
    ]


def _arriving(state: State) -> int:
    """The most rows that an alternative may become when it enters a state."""
    if any(isinstance(item, Each) for item in state.items):
        return 3 * len(state.transitions) + 2
    return 1 + 2 * sum(transition.kind in ("end", "ending") for transition in state.transitions)
