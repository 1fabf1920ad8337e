"""How many rows the kernel may need for one event, by the state that a way is in."""

from __future__ import annotations

from cep.operators.patterns.compile.automaton import Automaton, Each, State


def rows_of_states(machine: Automaton) -> list[int]:
    """For each state, how many rows a way in it may need for one event, what it gives back included."""
    arriving = [_arriving(state) for state in machine.states]
    return [
        2
        + arriving[number]
        + sum((5 if leaf.sign == "~>" else 2) + arriving[leaf.target or 0] for leaf in state.leaves)
        for number, state in enumerate(machine.states)
    ]


def _arriving(state: State) -> int:
    """How many rows a way may become that comes to a state."""
    if any(isinstance(item, Each) for item in state.items):
        return 3 * len(state.leaves) + 2
    return 1 + 2 * sum(leaf.kind in ("end", "ending") for leaf in state.leaves)
