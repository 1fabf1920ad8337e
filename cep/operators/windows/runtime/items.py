"""Items: events of a key, or panes and sessions folded of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cep.operators.windows.runtime.columns import Column, ends_of
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
        """What the items have of a slot that is no list."""
        found = self.columns[number]
        assert isinstance(found, Column)
        return found

    def lists(self, number: int) -> Lists:
        """What they have of one that is a list."""
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
        tails, places = np.concatenate((self.tails, others.tails)), self.tail_places
        firsts = np.concatenate((places[:-1], others.tail_places[:-1] + places[-1]))[order]
        sizes = np.concatenate((np.diff(places), np.diff(others.tail_places)))[order]
        tail_places = ends_of(sizes)
        of_tails = np.zeros(tail_places[-1], np.int64)
        engine.copy_parts(tails, firsts, sizes, of_tails, tail_places[:-1])
        times = np.concatenate((self.firsts, others.firsts))[order]
        single = self.lasts is self.firsts and others.lasts is others.firsts
        known: dict[tuple[int, int], Column | Lists] = {}
        columns = []
        for mine, other in zip(self.columns, others.columns, strict=True):
            both = (id(mine), id(other))
            if isinstance(mine, Lists):
                assert isinstance(other, Lists)
                known[both] = mine.then(other).taken(order, engine)
            elif both not in known:
                assert isinstance(other, Column)
                known[both] = mine.then(other).taken(order)
            columns.append(known[both])
        return Items(
            np.concatenate((self.keys, others.keys))[order],
            times,
            times if single else np.concatenate((self.lasts, others.lasts))[order],
            np.concatenate((self.counts, others.counts))[order],
            np.concatenate((self.new, others.new))[order],
            tail_places,
            of_tails,
            tuple(columns),
        )


@dataclass(frozen=True)
class KeyRuns:
    """The keys of items: of the n-th the number, and its items `places[n]` up to `places[n + 1]`."""

    of_item: Ints

    @cached_property
    def begins(self) -> Bools:
        """Which items are the first of their key."""
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
