"""The delta of runs: of a key whose runs all stay, only those that have begun are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cep.operators.patterns.compile.space_tables import SpaceTables
from cep.operators.patterns.kernel import layout
from cep.operators.patterns.runtime import chains
from cep.operators.patterns.runtime.kinds import RUNS
from cep.operators.patterns.runtime.runs import RunRows, Runs, ranges
from cep.state.keyed_rows import Kept, of_kind
from cep.state.segments import Bools

Ints = npt.NDArray[np.int64]
_COUNTS = slice(layout.KEPT_RUNS, layout.KEPT_NODES + 1)
"""Columns: the numbers of runs, alternatives and nodes of a list."""


@dataclass(frozen=True, slots=True)
class GoingOn:
    """The state before and after a batch; `places` say by width for each list of runs of before where the
    one is that begins with all of it as it was (-1: none does)."""

    before: Kept
    after: Kept
    places: Mapping[int, Ints]

    @classmethod
    def of(cls, tables: SpaceTables, before: Kept, after: Kept) -> GoingOn:
        """The delta of the rows of a space's patterns."""
        old, new = _runs(before), _runs(after)
        places = {
            width: _places(tables, runs, new.get(width, Runs.none(width))) for width, runs in old.items()
        }
        return cls(before, after, places)

    @property
    def changed(self) -> Ints:
        """The keys of runs that do not go on as they were, and those with a past, with repetitions."""
        keys = [
            runs.lists[self.places[width] < 0, layout.KEPT_KEY] for width, runs in _runs(self.before).items()
        ]
        kept = (rows for of in (self.before, self.after) for kind, rows in of.items() if kind != RUNS)
        return np.concatenate([np.zeros(0, np.int64), *keys, *(rows.keys for rows in kept)])

    def rest(self, changed: Bools) -> Kept:
        """The rows after the batch, of keys that have not changed without the runs of before."""
        found, before = {}, _runs(self.before)
        for width, new in _runs(self.after).items():
            old = before.get(width, Runs.none(width))
            stays = np.flatnonzero(~changed[old.lists[:, layout.KEPT_KEY]])
            place = self.places.get(width, np.zeros(0, np.int64))[stays]
            rest = _rest(new, place, old.lists[stays, _COUNTS])
            if len(rest.lists):
                found[width] = rest
        return {**self.after, RUNS: RunRows(found)}


def _runs(kept: Kept) -> Mapping[int, Runs]:
    return of_kind(kept, RUNS, RunRows).by_width


def _places(tables: SpaceTables, old: Runs, new: Runs) -> Ints:
    """For each list where the one is that begins with all of it as it was; -1: none does."""
    lists = old.lists
    rules = len(tables.rules)
    names, later = (of.lists[:, layout.KEPT_KEY] * rules + of.lists[:, layout.KEPT_RULE] for of in (old, new))
    if not len(later):
        return np.full(len(lists), -1, np.int64)
    place = np.minimum(np.searchsorted(later, names), len(later) - 1)
    # Where the very next event decides, it matters which one was seen last.
    strict = [n for n in np.unique(lists[:, layout.KEPT_RULE]).tolist() if tables.tables(n).everything]
    same = (later[place] == names) & np.all(new.lists[place, _COUNTS] >= lists[:, _COUNTS], axis=1)
    same &= ~np.isin(lists[:, layout.KEPT_RULE], strict)
    if not same.any():
        return np.full(len(lists), -1, np.int64)
    firsts, new_firsts = old.firsts(), new.firsts()
    for column, (mine, its) in enumerate(
        ((old.runs, new.runs), (old.alternatives, new.alternatives), (old.nodes, new.nodes))
    ):
        which = np.flatnonzero(same)
        counts = lists[which, layout.KEPT_RUNS + column]
        rows = mine.take(ranges(firsts[which, column], counts), axis=0)
        theirs = its.take(ranges(new_firsts[place[which], column], counts), axis=0)
        differs = np.any(rows != theirs, axis=1)
        same[np.repeat(which, counts)[differs]] = False
    which = np.flatnonzero(same)
    same[which[_refers_back(new, new_firsts, place[which], lists[which, _COUNTS])]] = False
    return np.where(same, place, -1)


def _refers_back(runs: Runs, firsts: Ints, which: Ints, before: Ints) -> Bools:
    """True for the lists where an alternative or node after so many names one of the nodes before."""
    found = np.zeros(len(which), bool)
    for column, rows in ((1, runs.alternatives), (2, runs.nodes)):
        counts = runs.lists[which, layout.KEPT_RUNS + column] - before[:, column]
        mine = rows.take(ranges(firsts[which, column] + before[:, column], counts), axis=0)
        named = _named_by_alternatives(mine) if column == 1 else _named_by_nodes(mine)
        back = (named >= 0) & (named < np.repeat(before[:, 2], counts))
        found[np.repeat(np.arange(len(which)), counts)[back]] = True
    return found


def _named_by_alternatives(alternatives: Ints) -> Ints:
    """The least number of a node that each alternative names; -1: none."""
    return np.where(
        alternatives[:, layout.T_STATE] > layout.EACH, chains.least(alternatives[:, layout.T_NODE]), -1
    )


def _named_by_nodes(nodes: Ints) -> Ints:
    """The least number of a node that each node or splice names; -1: none."""
    found = nodes[:, layout.N_PREVIOUS].copy()
    splices = chains.spliced(nodes)
    found[splices] = chains.least(nodes[splices, layout.N_EVENT])
    return found


def _rest(runs: Runs, which: Ints, before: Ints) -> Runs:
    """The lists, some of them without the first so many of their runs, alternatives and nodes."""
    if not len(which):
        return runs
    lists, gone = runs.lists.copy(), np.zeros((len(runs.lists), 3), np.int64)
    gone[which] = before
    lists[:, _COUNTS] -= gone
    left = np.flatnonzero(lists[:, layout.KEPT_RUNS])
    lists, gone, firsts = lists[left], gone[left], runs.firsts()[left] + gone[left]
    rows, alternatives, nodes = (
        part.take(ranges(firsts[:, column], lists[:, layout.KEPT_RUNS + column]), axis=0)
        for column, part in enumerate((runs.runs, runs.alternatives, runs.nodes))
    )
    chains.move_alternatives(alternatives, -np.repeat(gone[:, 2], lists[:, layout.KEPT_ALTS]))
    chains.move_nodes(nodes, -np.repeat(gone[:, 2], lists[:, layout.KEPT_NODES]))
    return Runs(lists, rows, alternatives, nodes)
