"""The live runs of a key space between batches: compact rows in which all of one key lies side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cep.operators.patterns.compile.space_tables import width_class
from cep.operators.patterns.kernel import layout
from cep.operators.patterns.runtime import chains
from cep.state.keyed_rows import begins, ranges, rows_of

Ints = npt.NDArray[np.int64]

__all__ = ["RunRows", "Runs", "joined", "ranges", "width_class"]


@dataclass(frozen=True, slots=True)
class Runs:
    """Live runs of rules whose alternatives take at most `width` numbers, sorted by key and rule.

    `lists` has a row per key and rule (kernel.KEPT_KEY and what follows): the numbers of both, the sequence
    number of the last event seen, how many runs, alternatives and nodes belong to it, and when time next does
    something about any of them. `runs`, `alternatives` and `nodes` follow in the order of the lists: a row
    per run, in order of their first event; a row per alternative, in order of preference; a row per event
    taken, numbered within its list. Columns that a rule's alternatives do not have are 0.
    """

    lists: Ints
    runs: Ints
    alternatives: Ints
    nodes: Ints

    @classmethod
    def none(cls, width: int) -> Runs:
        """No run."""
        columns = (layout.KEPT_LIST, layout.KEPT_RUN, width, layout.NODE)
        return cls(*(np.zeros((0, n), np.int64) for n in columns))

    def firsts(self) -> Ints:
        """For each list where its runs, alternatives and nodes begin; a last row says where they end."""
        found = np.zeros((len(self.lists) + 1, 3), np.int64)
        np.cumsum(self.lists[:, layout.KEPT_RUNS : layout.KEPT_NODES + 1], axis=0, out=found[1:])
        return found

    def chosen(self, which: Ints) -> Runs:
        """The lists at some places, in that order, with all that belongs to them."""
        return lists_of(self, self.firsts(), which)


def joined(parts: Sequence[Runs]) -> Runs:
    """Runs of one width together, in order of key and rule."""
    if len(parts) == 1:
        return parts[0]
    names = ("lists", "runs", "alternatives", "nodes")
    together = Runs(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
    lists = together.lists
    return together.chosen(np.lexsort((lists[:, layout.KEPT_RULE], lists[:, layout.KEPT_KEY])))


def lists_of(runs: Runs, firsts: Ints, which: Ints) -> Runs:
    """The lists at some places with all that belongs to them, copied; `firsts` are those of the runs."""
    lists, begin = runs.lists.take(which, axis=0), firsts.take(which, axis=0)
    parts = (
        rows.take(ranges(begin[:, n], lists[:, layout.KEPT_RUNS + n]), axis=0)
        for n, rows in enumerate((runs.runs, runs.alternatives, runs.nodes))
    )
    return Runs(lists, *parts)


@dataclass(frozen=True, slots=True)
class RunRows:
    """Live runs as keyed state, by the width of their alternatives (cep.state.keyed_rows.KeyedRows)."""

    by_width: Mapping[int, Runs] = field(default_factory=dict)

    @classmethod
    def none(cls) -> Self:
        """No run."""
        return cls()

    @property
    def size(self) -> int:
        """The numbers of runs, alternatives and nodes; a list belongs to its key."""
        parts = [part for r in self.by_width.values() for part in (r.runs, r.alternatives, r.nodes)]
        return sum(part.size for part in parts)

    @property
    def keys(self) -> Ints:
        """The key of each list."""
        return self._of_lists([runs.lists[:, layout.KEPT_KEY] for runs in self.by_width.values()])

    def crowded(self, runs: int, /) -> Ints:
        """The keys of which a rule has more than so many runs."""
        lists = [of_width.lists for of_width in self.by_width.values()]
        return self._of_lists([of[of[:, layout.KEPT_RUNS] > runs, layout.KEPT_KEY] for of in lists])

    def _of_lists(self, parts: Sequence[Ints]) -> Ints:
        return np.concatenate([np.zeros(0, np.int64), *parts])

    def counted(self, rules: int) -> Ints:
        """The number of runs of each of so many rules."""
        found = np.zeros(rules, np.int64)
        for of_width in self.by_width.values():
            numbers, runs = (of_width.lists[:, n] for n in (layout.KEPT_RULE, layout.KEPT_RUNS))
            found += np.bincount(numbers, runs.astype(np.float64), rules).astype(np.int64)
        return found

    def events(self) -> Sequence[Ints]:
        """The numbers of the events that were taken."""
        return [runs.nodes[:, layout.N_SEQUENCE] for runs in self.by_width.values() if len(runs.nodes)]

    def compacted(self, keys: int) -> Self:  # noqa: ARG002
        """These very runs."""
        return self

    def indexed(self, keys: int) -> RunIndex:
        """An index by key."""
        return RunIndex(
            self.by_width,
            {w: begins(runs.lists[:, layout.KEPT_KEY], keys) for w, runs in self.by_width.items()},
            {width: runs.firsts() for width, runs in self.by_width.items()},
        )

    def renumbered(self, numbers: Ints) -> Self:
        """The same runs with new lists."""
        return self._with_lists(layout.KEPT_KEY, numbers)

    def of_rules(self, numbers: Ints) -> Self:
        """A copy of the runs of the rules that have another number, by it."""
        found = {}
        for width, runs in self.by_width.items():
            left = np.flatnonzero(numbers[runs.lists[:, layout.KEPT_RULE]] >= 0)
            if len(left):
                found[width] = runs.chosen(left)
        return type(self)(found)._with_lists(layout.KEPT_RULE, numbers)

    def _with_lists(self, column: int, numbers: Ints) -> Self:
        """The runs with copies of the lists, in which a column has other numbers."""
        found = {}
        for width, runs in self.by_width.items():
            lists = runs.lists.copy()
            lists[:, column] = numbers[lists[:, column]]
            found[width] = replace(runs, lists=lists)
        return type(self)(found)

    def unshared(self) -> Self:
        """The runs with copies of their alternatives: nothing else of them is changed in place."""
        own = {width: replace(of, alternatives=of.alternatives.copy()) for width, of in self.by_width.items()}
        return type(self)(own)

    def joined(self, others: Sequence[Self]) -> Self:
        """These runs and others of the same keys, those of a key and rule as one list."""
        rows, found = (self, *others), {}
        for width in sorted({width for one in rows for width in one.by_width}):
            parts = [one.by_width[width] for one in rows if width in one.by_width]
            found[width] = parts[0] if len(parts) == 1 else _as_one(joined(parts))
        return type(self)(found)

    def written(self, ints: Callable[[Ints], object]) -> object:
        """For each width the names of four arrays."""
        return [
            [width, [ints(rows) for rows in (runs.lists, runs.runs, runs.alternatives, runs.nodes)]]
            for width, runs in sorted(self.by_width.items())
        ]

    @classmethod
    def read(cls, entry: Any, ints: Callable[[Any], Ints]) -> Self:
        """The runs again."""
        return cls({width: Runs(*map(ints, rows)) for width, rows in entry})


@dataclass(frozen=True, slots=True)
class RunIndex:
    """Runs by width, where the lists of each key begin, and where what belongs to each list begins.

    A last place says where the last ones end.
    """

    by_width: Mapping[int, Runs]
    lists_of_key: Mapping[int, Ints]
    firsts: Mapping[int, Ints]

    def weight_of(self, keys: Ints) -> int:
        """The size of the runs of some keys."""
        weight = 0
        for width, runs in self.by_width.items():
            of_key, firsts = self.lists_of_key[width], self.firsts[width]
            counts = (firsts[of_key[keys + 1]] - firsts[of_key[keys]]).sum(axis=0)
            rows = zip(counts.tolist(), (runs.runs, runs.alternatives, runs.nodes), strict=True)
            weight += sum(count * part.shape[1] for count, part in rows)
        return weight

    def cut(self, keys: Ints, numbers: Ints) -> RunRows:
        """A copy of the runs of some keys, under other numbers."""
        found = {}
        for width, runs in self.by_width.items():
            chosen, of = rows_of(self.lists_of_key[width], keys)
            if len(chosen):
                parts = lists_of(runs, self.firsts[width], chosen)
                parts.lists[:, layout.KEPT_KEY] = numbers[of]
                found[width] = parts
        return RunRows(found)


def _as_one(runs: Runs) -> Runs:
    """Lists of one key and rule that follow one another as one list; the arrays are changed."""
    lists = runs.lists
    names = lists[:, [layout.KEPT_KEY, layout.KEPT_RULE]]
    new = np.ones(len(lists), bool)
    new[1:] = np.any(names[1:] != names[:-1], axis=1)
    if new.all():
        return runs
    firsts = np.flatnonzero(new)
    counts = lists[:, layout.KEPT_NODES]
    # How many nodes of the one list come before those of each.
    before = np.cumsum(counts) - counts
    before -= np.repeat(before[firsts], np.diff(firsts, append=len(lists)))
    chains.move_nodes(runs.nodes, np.repeat(before, counts))
    chains.move_alternatives(runs.alternatives, np.repeat(before, lists[:, layout.KEPT_ALTS]))
    one = lists[firsts]
    for column, of in _OF_ONE:
        one[:, column] = of.reduceat(lists[:, column], firsts)
    return Runs(one, runs.runs, runs.alternatives, runs.nodes)


_OF_ONE = (
    (layout.KEPT_SEEN, np.maximum),
    (layout.KEPT_RUNS, np.add),
    (layout.KEPT_ALTS, np.add),
    (layout.KEPT_NODES, np.add),
    (layout.KEPT_DUE, np.minimum),
)
"""What a list says that several are, from what each of them says."""
