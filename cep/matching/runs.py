"""The live runs of a key space between batches: compact rows in which all of one key lies side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cep.automata.space_tables import width_class
from cep.matching import kernel

Ints = npt.NDArray[np.int64]

__all__ = ["Runs", "counted", "joined", "ranges", "width_class"]


@dataclass(frozen=True, slots=True)
class Runs:
    """Live runs of rules whose ways take at most `width` numbers, sorted by key and rule.

    `lists` has a row per key and rule (kernel.KEPT_KEY and what follows): the numbers of both, the sequence
    number of the last event seen, how many runs, ways and nodes belong to it, and when time next does
    something about any of them. `runs`, `threads` and `nodes` follow in the order of the lists: a row per
    run, in order of their first event; a row per way, in order of preference; a row per event taken, numbered
    within its list. Columns that a rule's ways do not have are 0.
    """

    lists: Ints
    runs: Ints
    threads: Ints
    nodes: Ints

    @classmethod
    def none(cls, width: int) -> Runs:
        """No run."""
        columns = (kernel.KEPT_LIST, kernel.KEPT_RUN, width, kernel.NODE)
        return cls(*(np.zeros((0, n), np.int64) for n in columns))

    def firsts(self) -> Ints:
        """For each list where its runs, ways and nodes begin; a last row says where they end."""
        found = np.zeros((len(self.lists) + 1, 3), np.int64)
        np.cumsum(self.lists[:, kernel.KEPT_RUNS : kernel.KEPT_NODES + 1], axis=0, out=found[1:])
        return found

    def chosen(self, which: Ints) -> Runs:
        """The lists at some places, in that order, with all that belongs to them."""
        firsts, lists = self.firsts()[which], self.lists[which]
        parts = (
            rows[ranges(firsts[:, n], lists[:, kernel.KEPT_RUNS + n])]
            for n, rows in enumerate((self.runs, self.threads, self.nodes))
        )
        return Runs(lists, *parts)


def joined(parts: Sequence[Runs]) -> Runs:
    """Runs of one width together, in order of key and rule."""
    if len(parts) == 1:
        return parts[0]
    names = ("lists", "runs", "threads", "nodes")
    together = Runs(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
    lists = together.lists
    return together.chosen(np.lexsort((lists[:, kernel.KEPT_RULE], lists[:, kernel.KEPT_KEY])))


def counted(runs: Mapping[int, Runs], rules: int) -> Ints:
    """How many live runs each of so many rules has."""
    found = np.zeros(rules, np.int64)
    for of_width in runs.values():
        lists = of_width.lists
        found += np.bincount(
            lists[:, kernel.KEPT_RULE], lists[:, kernel.KEPT_RUNS].astype(np.float64), rules
        ).astype(np.int64)
    return found


def ranges(firsts: Ints, counts: Ints) -> Ints:
    """The numbers first, first + 1, ..., so many of each, one after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    numbers: Ints = np.arange(total) + np.repeat(firsts - (ends - counts), counts)
    return numbers
