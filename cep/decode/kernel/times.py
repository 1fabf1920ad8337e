"""Times to nanoseconds since 1970 UTC: ISO 8601 in its usual layouts, and numbers of an epoch.

Of ISO those with a time to the second are read, with or without a fraction of one, with `Z`, `±hh:mm` or
without a zone, which is UTC where a column is of this kind.
"""

from __future__ import annotations

import numpy as np

from cep.decode.kernel.digits import EIGHT, HIGH, NOTHING, TEN, digits_at
from cep.decode.kernel.doubles import MINUS, PLUS, POINT, ZERO
from cep.decode.kernel.intrinsics import byte_at
from cep.decode.kernel.layout import DAY, DAYS, MONTH, Data, Ints, at_place, of
from kernels.family import inlined
from kernels.instructions import word_at

ZED, TEE, SPACE = 0x5A, 0x54, 0x20
CLOCK = np.uint64(0x30303A30303A3030)
"""`00:00:00`: what is left of a time without it are digits, and nothing between them."""
YEAR_MONTH = np.uint64(0x2D30302D30303030)
"""`0000-00-` likewise."""
SHORT_CLOCK = np.uint64(0x30303A3030)
COLONS, DASHES, SHORT_COLON = np.uint64(0xFF0000FF0000), np.uint64(0xFF0000FF00000000), np.uint64(0xFF0000)
DIGITS, SHORT = np.uint64(0x7676767676767676), np.uint64(0xFFFFFFFFFF)
BYTE, TWO_BYTES = np.uint64(0xFF), np.uint64(0xFFFF)
FIRST_YEAR, LAST_YEAR = 1700, 2200
"""Years all of whose times have nanoseconds in 64 bits, whatever their zone."""
SECONDS_OF_DAY, NANOS = 86_400, 1_000_000_000
PARTS = np.array([10 ** (9 - n) for n in range(10)])
"""Nanoseconds in the last of so many digits behind the point."""
LENGTHS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])


def days_of(month: np.uint64, day: np.uint64) -> int:
    """Days from 1970 to the date whose bytes are given, `yyyy-mm-` and two digits; -1 if it is none that is
    read. (-1 is also the last day of 1969: that is left to others.)

    Source: H. Hinnant, "chrono-compatible low-level date algorithms", days_from_civil.
    """
    parts = month ^ YEAR_MONTH
    if parts & DASHES != NOTHING or ((parts + DIGITS) | parts) & HIGH != NOTHING:
        return -1
    ones, tens = np.int64(day >> EIGHT) - ZERO, np.int64(day & BYTE) - ZERO
    if ones < 0 or ones > 9 or tens < 0 or tens > 9:
        return -1
    pairs = parts * TEN + (parts >> EIGHT)
    year = np.int64(pairs & BYTE) * 100 + np.int64(pairs >> np.uint64(16) & BYTE)
    number, date = np.int64(pairs >> np.uint64(40) & BYTE), tens * 10 + ones
    if year < FIRST_YEAR or year > LAST_YEAR or number < 1 or number > 12 or date < 1:
        return -1
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if date > LENGTHS[number - 1] + (1 if leap and number == 2 else 0):
        return -1
    year -= 1 if number <= 2 else 0
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (number + (-3 if number > 2 else 9)) + 2) // 5 + date - 1
    return int(era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468)


@inlined
def minutes_of(clock: np.uint64) -> int:
    """The minutes of `hh:mm`; -1 if it is none."""
    parts = (clock & SHORT) ^ SHORT_CLOCK
    if parts & SHORT_COLON != NOTHING or ((parts + DIGITS) | parts) & HIGH != NOTHING:
        return -1
    pairs = parts * TEN + (parts >> EIGHT)
    hours, minutes = np.int64(pairs & BYTE), np.int64(pairs >> np.uint64(24) & BYTE)
    return int(hours * 60 + minutes) if hours < 24 and minutes < 60 else -1


@inlined
def iso_time(data: Data, at: int, slots: Ints, column: int) -> tuple[int, int]:
    """The time of a column that begins at a place, and its end, or -1."""
    month, day = word_at(data, at), word_at(data, at + 8) & TWO_BYTES
    days: int = slots[of(column, DAYS)]
    if np.int64(month) != slots[of(column, MONTH)] or np.int64(day) != slots[of(column, DAY)]:
        days = days_of(month, day)
        if days == -1:
            return 0, -1
        slots[of(column, MONTH)], slots[of(column, DAY)] = np.int64(month), np.int64(day)
        slots[of(column, DAYS)] = days
    between = byte_at(data, at + 10)
    parts = word_at(data, at + 11) ^ CLOCK
    pairs = parts * TEN + (parts >> EIGHT)
    hours, minutes = np.int64(pairs & BYTE), np.int64(pairs >> np.uint64(24) & BYTE)
    seconds = np.int64(pairs >> np.uint64(48) & BYTE)
    if (
        (between != TEE and between != SPACE)
        or parts & COLONS != NOTHING
        or ((parts + DIGITS) | parts) & HIGH != NOTHING
        or hours > 23
        or minutes > 59
        or seconds > 59
    ):
        return 0, -1
    instant = days * SECONDS_OF_DAY + hours * 3600 + minutes * 60 + seconds
    at += 19
    nanos = 0
    if byte_at(data, at) == POINT:
        fraction, end = digits_at(data, at + 1, NOTHING)
        count = end - at - 1
        if count == 0 or count > 9:
            return 0, -1
        nanos = np.int64(fraction) * PARTS[at_place(count)]
        at = end
    mark = byte_at(data, at)
    if mark == ZED:
        at += 1
    elif mark in (PLUS, MINUS):
        ahead = minutes_of(word_at(data, at + 1))
        if ahead < 0:
            return 0, -1
        instant -= (ahead if mark == PLUS else -ahead) * 60
        at += 6
    return int(instant * NANOS + nanos), at
