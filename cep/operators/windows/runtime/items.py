"""Items: events of a key, or panes and sessions folded of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cep.operators.windows.runtime.columns import Column
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
