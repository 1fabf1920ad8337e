"""The arrays that travel together, and the numbers that stand in them.

A column has values in the rows of its level: level 0 has a row for each record, and each list a level of its
own with a row for each of its items. Rows of a record that is handed back are taken back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cep.decode.kernel.layout import Bytes, Doubles, Halves, Ints, Places

Singles = npt.NDArray[np.float32]

SLACK = 64
"""Bytes that can be read behind the last record, and written behind the last text of a column."""

COLUMN = 8
"""Numbers of a column, as follows."""
KIND, LEVEL, BASE, ROOM, FLAGS, MOST, REQUIRED, INNER = range(8)
"""What is the same for all records:

    KIND        the kind of its values, below
    LEVEL       the level of its rows
    BASE        where its values begin: in `offsets` for texts and lists, else in `longs`
    ROOM        where its texts begin in `text`
    FLAGS       where it begins in `present`; -1 if it has no nulls
    MOST        of decimals: the largest number without its point
    REQUIRED    1 if a record without a value is handed back
    INNER       of lists: the level of their items
"""
TEXT, LONG, DOUBLE, BOOLEAN, DECIMAL, CHOICE, LIST, STRUCT = range(8)
"""Kinds of columns; a CHOICE is the number of a symbol."""

OPERATION = 6
"""Numbers of an operation of Avro, as follows."""
WHAT, WRITTEN, TO, ABSENT, SIZE, NEXT = range(6)
"""
    WHAT       what is done
    WRITTEN    READ: how the value is written
    TO         the column that it goes to; -1: none
    ABSENT     READ: 1 more than the branch of a union that is null; 0: there is no union
    SIZE       READ: bytes of a fixed value, symbols of an enum. UNION: number of branches. PUT_NULL: 1 where
               the column is within one that is null, and may be so even where it is REQUIRED
    NEXT       UNION: where the operations of its branches are listed. JUMP: an operation. BEGIN: that behind
"""
STOP, READ, UNION, JUMP, PUT_NULL, PRESENT, BEGIN, AGAIN = range(8)
"""What operations do: BEGIN a list, of which AGAIN stands behind the operations of an item."""
W_NULL, W_BOOLEAN, W_INT, W_LONG, W_FLOAT, W_DOUBLE, W_BYTES, W_FIXED, W_ENUM = range(9)

FRAME = 6
"""Numbers of a list or message that is being read, on the stack."""

MESSAGE = 4
"""Numbers of a message: its first entry and their number, its first column in `listed` and their number."""
ENTRY = 8
"""Numbers of a field of a message, as follows."""
TAG, PACKED, HOW, GOES, WITHIN, GROUP, SYMBOLS, WRAPPED = range(8)
"""
    TAG        its number and wire type
    PACKED     the same where several values stand together, or EACH_ALONE in a list in which they never do;
               SINGLE: it is no list
    HOW        how a value is written, below
    GOES       its column, that of its items in a list; -1: none
    WITHIN     the message that it is; of a list the level of its items stands in GROUP
    GROUP      the oneof that it is of, or -1; of a list, the level of its items
    SYMBOLS    of an enum: where its numbers are listed, after how many there are
    WRAPPED    the tag of the value in a wrapper; 0: it is none
"""
SINGLE, EACH_ALONE = -1, -2
(
    P_INT64, P_INT32, P_UINT64, P_UINT32, P_SINT64, P_SINT32, P_BOOL, P_FIXED64, P_SFIXED64, P_FIXED32,
    P_SFIXED32, P_DOUBLE, P_FLOAT, P_TEXT, P_ENUM, P_MESSAGE, P_TIMESTAMP, P_DURATION,
) = range(18)  # fmt: skip
MEMBER = 4
"""Numbers of a column of a message in `listed`, as follows."""
COL, MISSING, UNDER, UNDERS = range(4)
"""
    COL        the column
    MISSING    what stands where the field does not: a null, zero, or nothing: then the message is handed back
    UNDER      of messages: where the columns within are listed that are null with it, and how many
"""
NULL, ZERO, NEVER, ITEMS = range(4)


class Room(NamedTuple):
    """Where values go."""

    longs: Ints
    doubles: Doubles
    """The same memory."""
    offsets: Halves
    text: Bytes
    present: Bytes
    rows: Ints
    """Rows of each level."""
    kept: Ints
    """The same when the record began."""
    halves: Halves
    """One number of 32 bits."""
    singles: Singles
    """The same memory."""
    seen: Ints
    """Of each column, the message that had it last."""
    groups: Ints
    """The same of each oneof."""


class Program(NamedTuple):
    """The operations on each record."""

    columns: Places
    operations: Places
    """Of Protobuf, its entries."""
    messages: Places
    listed: Places
