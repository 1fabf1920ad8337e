"""Chains of events taken, as live runs keep them: numbers of nodes within a list, two in one number.

The lower half names the last node; the higher half is 0, or the place after that of a splice: where chains of
several runs go on in common, it says with which chain one of them began
(cep.operators.patterns.kernel.chains, SPLICE).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cep.operators.patterns.kernel import layout, restore

Ints = npt.NDArray[np.int64]
_BOTH = (1 << layout.HALF) + 1


def least(chains: Ints) -> Ints:
    """The least number of a node or splice that each chain names itself; -1: none."""
    nodes, splices = chains & layout.LOWER, (chains >> layout.HALF) - 1
    named = np.where(splices >= 0, np.minimum(nodes, splices), nodes)
    return np.where(chains < 0, -1, named)


def move_alternatives(alternatives: Ints, by: Ints) -> None:
    """Let alternatives name nodes whose numbers are greater by so much; forks name none."""
    own = alternatives[:, layout.T_STATE] > layout.EACH
    alternatives[:, layout.T_NODE] = np.where(
        own, _moved(alternatives[:, layout.T_NODE], by), alternatives[:, layout.T_NODE]
    )


def move_nodes(nodes: Ints, by: Ints) -> None:
    """Let nodes name others whose numbers are greater by so much."""
    previous = nodes[:, layout.N_PREVIOUS]
    nodes[:, layout.N_PREVIOUS] = np.where(previous >= 0, previous + by, previous)
    splices = spliced(nodes)
    nodes[splices, layout.N_EVENT] = _moved(nodes[splices, layout.N_EVENT], by[splices])


def in_pool(nodes: Ints, begins: Ints) -> Ints:
    """Kept nodes as the kernel has them, in one array: they name others by where these are. `begins` gives
    for each where those of its list begin."""
    found = nodes.copy()
    previous = found[:, layout.N_PREVIOUS]
    found[:, layout.N_PREVIOUS] = np.where(previous >= 0, (previous + begins) * layout.NODE, previous)
    for row in spliced(nodes).tolist():
        event = int(nodes[row, layout.N_EVENT])
        found[row, layout.N_EVENT] = restore.placed(event, int(begins[row]) * layout.NODE)
    return found.ravel()


def spliced(nodes: Ints) -> Ints:
    """The places of the splices."""
    return np.flatnonzero(nodes[:, layout.N_EDGE] == layout.SPLICE)


def _moved(chains: Ints, by: Ints) -> Ints:
    """The chains by numbers that are greater by so much; a chain of nothing stays so."""
    return np.where(chains < 0, chains, chains + by * np.where(chains >> layout.HALF > 0, _BOTH, 1))
