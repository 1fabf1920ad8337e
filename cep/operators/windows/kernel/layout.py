"""Columns of items, ranges of them, and what is found of each range."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from cep.exact.kernel.layout import Ints, ReadOnlyInts
from kernels.family import READ_ONLY

Doubles = npt.NDArray[np.float64]
ReadOnlyDoubles = Annotated[Doubles, READ_ONLY]

LONG, DOUBLE, DECIMAL = range(3)
"""Kinds of values that are added."""


class Values(NamedTuple):
    """Values of an argument, item by item."""

    counts: ReadOnlyInts
    """So many values that are not null."""
    low: ReadOnlyInts
    """The value of an event: a long, a double's bits, the lower word of a decimal."""
    high: ReadOnlyInts
    """The upper words of decimals; empty of others."""
    sums: ReadOnlyInts
    """Where in `packed` the sum of a folded item begins; -1: it is an event. Empty: all are."""
    squares: ReadOnlyInts
    """The same of the sum of squares; empty where it is not read."""
    packed: ReadOnlyInts


class Ranges(NamedTuple):
    """Ranges of items: from the first up to, not including, the end."""

    firsts: ReadOnlyInts
    ends: ReadOnlyInts


class KeyParts(NamedTuple):
    """Keys that rise: how many items of each were kept, how many came, and where the words of the first one
    that was kept begin."""

    keys: Ints
    kept: Ints
    came: Ints
    words: Ints


class BitColumn(NamedTuple):
    """A word of rows, and a bit of it."""

    column: int
    bit: int


class PaneRuns(NamedTuple):
    """Panes of keys, key by key, in order."""

    keys: ReadOnlyInts
    """The number of the key of each."""
    numbers: ReadOnlyInts
    """Their place in time."""
    firsts: ReadOnlyInts
    """Their first item, and last where the items end."""


class WindowRanges(NamedTuple):
    """Windows by the number of the pane that they begin with; their key, their items up to an end."""

    keys: Ints
    numbers: Ints
    firsts: Ints
    ends: Ints


class Accumulators(NamedTuple):
    """Room for a sum and a sum of squares, empty at first."""

    sums: Ints
    squares: Ints
    room: Ints


class Read(NamedTuple):
    """Results of each range; an array that is empty is not wanted."""

    counts: Ints
    """So many values."""
    fits: Ints
    """1 where the sum is a long or a decimal."""
    low: Ints
    high: Ints
    """Sums of longs and decimals."""
    doubles: Doubles
    """Sums of doubles; infinite where there is none."""
    means: Doubles
    """Means; those of decimals are in the two after it, where the sum is a decimal."""
    mean_low: Ints
    mean_high: Ints
    deviations: Doubles
