"""The arrays that travel together, their shapes, and the kinds of values."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from kernels.family import READ_ONLY, inlined

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Halves = npt.NDArray[np.int32]
Doubles = npt.NDArray[np.float64]
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

FIELDS = 16
"""Numbers that are kept of each key, as follows."""
(
    KIND, REQUIRED, BASE, ROOM, FLAGS, UNIT, MOST_UNITS,
    SEEN, NAME, NAME_END, LENGTH, FOLLOWER, MONTH, DAY, DAYS,
) = range(15)  # fmt: skip
"""Of a column, what is the same for all lines:

    KIND          the kind of its values
    REQUIRED      1 if it has a value in every row
    BASE          where its values begin: in `offsets` for texts and nested values, else in `longs`
    ROOM          where its texts or nested values begin in `text`
    FLAGS         where it begins in `present`, if it is not required
    UNIT          of times: nanoseconds (EPOCH_WHOLE) or microseconds (EPOCH_PART) in one of their units
    MOST_UNITS    the number of those that fit into 64 bits

and what changes, of other keys too:

    SEEN              twice the line that had the key last, and 1 if it had a value there
    NAME NAME_END     where the key lies in `names`
    LENGTH            bytes of its gap
    FOLLOWER          the key that came behind it the last time
    MONTH DAY DAYS    the bytes of the date that the column had last, and days from 1970 to it
"""
NO_ROOM, MISPLACED = -2, -1
"""Instead of a number of lines: there are more than there is room for; a quote is not where one should be."""
COLUMNS, SLOTS, NAMED = range(3)
"""Numbers of `counts`: columns; keys with a slot; bytes of names."""


class Block(NamedTuple):
    """Lines: line n is `data[starts[n] : ends[n]]`, followed by a line end. The data is valid UTF-8."""

    data: Data
    starts: Places
    ends: Places


class Keys(NamedTuple):
    """Keys of objects by slot: those of columns in their order, then others as they come.

    The last slot but one is that of all keys for which there is no room, the last the beginning of a line.
    """

    slots: Ints
    """FIELDS numbers of each."""
    gaps: Bytes
    """GAP bytes of each: what stood last between the comma before a key and its value. NEVER: not known."""
    names: Bytes
    """The keys, one after another."""
    table: Ints
    """Slots by hash of their key, open addressing: -1 where none is. A power of two."""
    counts: Ints


class Room(NamedTuple):
    """Where values go."""

    longs: Ints
    """Values of eight bytes, or one bit; of decimals the lower and the upper word."""
    doubles: Doubles
    """The same memory."""
    offsets: Halves
    """As Arrow has them: where the text of a row begins; the first is 0."""
    text: Bytes
    present: Bytes
    """1 in a row with a value, as it is at the beginning, or 0."""


@inlined
def of(slot: int, field: int) -> np.uint64:
    """The place of one number of a slot."""
    return np.uint64(slot * FIELDS + field)


@inlined
def at_place(place: int) -> np.uint64:
    """A place of an array that is not counted from its end: for others code is made that asks."""
    return np.uint64(place)
