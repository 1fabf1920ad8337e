"""Items: events of a key, or panes and sessions folded of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cep.operators.windows.runtime.columns import Column
from cep.operators.windows.runtime.lists import Lists
from cep.state.keyed_rows import Bools, Ints


@dataclass(frozen=True)
class KeyRuns:
    """The keys of items: of the n-th the number, and its items `places[n]` up to `places[n + 1]`."""

    keys: Ints
    places: Ints

    @classmethod
    def of(cls, of_item: Ints) -> KeyRuns:
        """Those of items one after the other."""
        begins = np.flatnonzero(of_item[1:] != of_item[:-1]) + 1
        firsts = np.concatenate((np.zeros(min(len(of_item), 1), np.int64), begins))
        return cls(of_item[firsts], np.append(firsts, len(of_item)))

    @cached_property
    def sizes(self) -> Ints:
        """The number of items of each key."""
        found: Ints = np.diff(self.places)
        return found

    @cached_property
    def of_item(self) -> Ints:
        """The key's number of each item."""
        return np.repeat(self.keys, self.sizes)

    @cached_property
    def begins(self) -> Bools:
        """True of the first item of each key."""
        found = np.zeros(int(self.places[-1]), bool)
        found[self.places[:-1]] = True
        return found

    @cached_property
    def number(self) -> Ints:
        """Of each item the place of its key among the keys."""
        return np.repeat(np.arange(len(self.keys)), self.sizes)

    @cached_property
    def firsts(self) -> Ints:
        """Of each item the first one of its key."""
        return np.repeat(self.places[:-1], self.sizes)

    @cached_property
    def ends(self) -> Ints:
        """Of each item where those of its key end."""
        return np.repeat(self.places[1:], self.sizes)


@dataclass(frozen=True, slots=True)
class Items:
    """Items of a rule, key by key, in order of time.

    `runs` has their keys. `firsts` and `lasts` are the times of their first and last event, `counts` how
    many there are. `new`: they are events of this batch. The numbers of the newest events of item n are
    `tails` from `tail_places[n]` up to those of the next one. `columns` are one for each argument, or for
    each accumulator of folded items.
    """

    runs: KeyRuns
    firsts: Ints
    lasts: Ints
    counts: Ints
    new: Bools
    tail_places: Ints
    tails: Ints
    columns: tuple[Column | Lists, ...]

    def __len__(self) -> int:
        return len(self.firsts)

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
