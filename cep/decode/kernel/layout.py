"""The arrays that travel together, their shapes, and the kinds of values."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from kernels.family import READ_ONLY

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Halves = npt.NDArray[np.int32]
Doubles = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]
Data = Annotated[Bytes, READ_ONLY]
Places = Annotated[Ints, READ_ONLY]

SLACK = 64
"""Bytes that can be read behind the last line of a block, and written behind the last text of a column."""

SKIPPED, TEXT, NESTED, LONG, DOUBLE, BOOLEAN, DECIMAL, ISO_TIME, EPOCH_WHOLE, EPOCH_PART = range(10)
"""The kinds of values: of a field that nobody reads, and of columns. Lists and objects stay text, as lines of
JSON of their own. Times of an epoch come as whole numbers of its unit, or as doubles, which are exact to a
microsecond."""
AROUND = 8
"""Bytes that a line of a nested value has more than the value, at most."""

GAP = 64
"""Bytes between two values that are remembered, at most."""
NEVER = 0xFF
"""A byte that no text has."""
MORE_KEYS = 192
"""Keys that no field of the stream has, and that are remembered all the same."""
NAMES = 16_384
"""Bytes of those keys."""

K_SLOTS, K_NAMES = range(2)
"""What `counts` of Keys counts: slots that are taken, bytes of names."""


class Block(NamedTuple):
    """Lines: line n is `data[starts[n] : ends[n]]`, followed by a line end. The data is valid UTF-8."""

    data: Data
    starts: Places
    ends: Places


class Keys(NamedTuple):
    """Keys of objects by slot: first those of columns, in their order; then others as they come.

    The last slot is that of all keys for which there is no room. In `followers` one more, at the end, stands
    for the beginning of a line.
    """

    names: Bytes
    """The keys, one after another."""
    places: Ints
    """Where in `names` the key of a slot begins; the next begins where it ends."""
    table: Ints
    """Slots by hash of their key, open addressing: -1 where none is. A power of two."""
    gaps: Bytes
    """GAP bytes a slot: what stood last between the comma before its key and its value."""
    lengths: Ints
    """How many bytes those are. One, which is NEVER, where they are not known."""
    followers: Ints
    """The slot that came behind each slot the last time."""
    counts: Ints


class Columns(NamedTuple):
    """Where values go. A column is one of `kinds`, and the n-th is that of the n-th slot."""

    kinds: Places
    """The kind of each slot's values."""
    required: Places
    """1 for a column that has a value in every row."""
    bases: Places
    """Where a column's values begin: in `offsets` for texts and nested values, else in `longs`."""
    rooms: Places
    """Where a column of texts or nested values begins in `text`."""
    flags: Places
    """Where a column that is not required begins in `present`."""
    units: Places
    """Nanoseconds (EPOCH_WHOLE) or microseconds (EPOCH_PART) in one unit of a column of times."""
    longs: Ints
    """Values of eight bytes, or one bit; of decimals the lower and the upper word."""
    doubles: Doubles
    """The same memory."""
    offsets: Halves
    """As Arrow has them: where the text of a row begins; the first is 0."""
    text: Bytes
    present: Bytes
    """1 in a row with a value, as it is at the beginning, or 0."""
    seen: Ints
    """The line in which each column's key was seen last."""
    dates: Words
    """Two words for each column: the bytes of the date that it had last."""
    days: Ints
    """Days from 1970 to that date."""
