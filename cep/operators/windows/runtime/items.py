"""Items: events of a key, or panes and sessions folded of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cep.operators.windows.runtime.columns import Both, Column, ends_of
from cep.operators.windows.runtime.entry_points import Engine
from cep.operators.windows.runtime.lists import Lists
from cep.state.keyed_rows import Bools, Ints


@dataclass(frozen=True, slots=True)
class Items:
    """Items of a rule, key by key, in order of time.

    `firsts` and `lasts` are the times of their first and last event, `counts` how many there are. `new`: they
    are events of this batch. The numbers of the newest events of item n are `tails` from `tail_places[n]` up
    to those of the next one. `columns` are one for each argument, or for each accumulator of folded items.
    """

    keys: Ints
    firsts: Ints
    lasts: Ints
    counts: Ints
    new: Bools
    tail_places: Ints
    tails: Ints
    columns: tuple[Column | Lists, ...]

    def __len__(self) -> int:
        return len(self.keys)

    def column(self, number: int) -> Column:
        """The items' numbers of a slot that is no list."""
        found = self.columns[number]
        assert isinstance(found, Column)
        return found

    def lists(self, number: int) -> Lists:
        """Their numbers of one that is a list."""
        found = self.columns[number]
        assert isinstance(found, Lists)
        return found

    def then(self, others: Items, engine: Engine) -> Items:
        """These items and then others, key by key."""
        if not len(self):
            return others
        if not len(others):
            return self
        order = np.empty(len(self) + len(others), np.int64)
        engine.merge_keys(self.keys, others.keys, order)

        def both(one: Ints, two: Ints) -> Ints:
            found = np.empty(len(order), np.int64)
            engine.take_both(one, two, order, found)
            return found

        places, ends = self.tail_places, others.tail_places + self.tail_places[-1]
        firsts, sizes = both(places[:-1], ends[:-1]), both(np.diff(places), np.diff(ends))
        tail_places = ends_of(sizes)
        tails = np.zeros(tail_places[-1], np.int64)
        engine.copy_parts(np.concatenate((self.tails, others.tails)), firsts, sizes, tails, tail_places[:-1])
        times = both(self.firsts, others.firsts)
        single = self.lasts is self.firsts and others.lasts is others.firsts
        return Items(
            both(self.keys, others.keys),
            times,
            times if single else both(self.lasts, others.lasts),
            both(self.counts, others.counts),
            order >= len(self),
            tail_places,
            tails,
            tuple(self._columns(others, order, both, engine)),
        )

    def _columns(self, others: Items, order: Ints, both: Both, engine: Engine) -> Iterator[Column | Lists]:
        """The columns of these items and others; those of equal ones are made once."""
        known: dict[tuple[int, int], Column] = {}
        for mine, other in zip(self.columns, others.columns, strict=True):
            if isinstance(mine, Lists):
                assert isinstance(other, Lists)
                yield mine.then(other).taken(order, engine)
                continue
            assert isinstance(other, Column)
            name = (id(mine), id(other))
            if name not in known:
                known[name] = mine.joined(other, both)
            yield known[name]


@dataclass(frozen=True)
class KeyRuns:
    """The keys of items: of the n-th the number, and its items `places[n]` up to `places[n + 1]`."""

    of_item: Ints

    @cached_property
    def begins(self) -> Bools:
        """True of the first item of each key."""
        found = np.ones(len(self.of_item), bool)
        found[1:] = self.of_item[1:] != self.of_item[:-1]
        return found

    @cached_property
    def places(self) -> Ints:
        """Where the items of each key begin, and last where they end."""
        return np.append(np.flatnonzero(self.begins), len(self.of_item))

    @cached_property
    def number(self) -> Ints:
        """Of each item the place of its key among the keys."""
        found: Ints = np.cumsum(self.begins) - 1
        return found

    @cached_property
    def keys(self) -> Ints:
        """The keys' numbers."""
        return self.of_item[self.places[:-1]]

    @cached_property
    def firsts(self) -> Ints:
        """Of each item the first one of its key."""
        return self.places[:-1][self.number]

    @cached_property
    def ends(self) -> Ints:
        """Of each item where those of its key end."""
        return self.places[1:][self.number]
