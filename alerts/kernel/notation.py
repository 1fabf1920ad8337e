"""Numbers and times as alerts write them (alerts.notation), a text behind the other; digests in digits;
orders of decision (alerts.ranks).

A text is written where it will lie: `texts` has room for the longest of each row, `ends` says where each
begins and the last ends.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

from alerts.kernel.intrinsics import Bytes, put_big_word
from alerts.kernel.layout import DOUBLE, MOMENT, ORDER
from kernels.family import inlined
from kernels.instructions import long_at, put_long

Doubles = Annotated[npt.NDArray[np.float64], "read only"]
Times = Annotated[npt.NDArray[np.int64], "read only"]
Numbers = Annotated[npt.NDArray[np.int64], "read only"]
Rows = Annotated[npt.NDArray[np.uint8], "read only"]
Offsets = npt.NDArray[np.int32]

DAY, NANOS = 86_400, 1_000_000_000
WORD, HALF = 8, 32
"""Bytes that are copied at once; bits of half a number."""
FURTHER, SIGN = 1, 1 << 31
"""Stands before each number of an order of decision; turns its sign, in its upper half."""
TICK = 11
"""Bytes of a date and the `T` behind it."""
ZERO, POINT, MINUS, DASH, COLON, TEE, ZED = 0x30, 0x2E, 0x2D, 0x2D, 0x3A, 0x54, 0x5A
LETTERS = 0x61 - 0x30 - 10
"""How far the digits from `a` on lie behind those up to `9`."""
LEAST, FEW, MOST = 1e-4, 1e6, 1e9
"""Doubles from `LEAST` on have no exponent. Up to `FEW` nine places, up to `MOST` six make 15 digits."""
NINE, SIX = 9, 6
PARTS = np.array([10**n for n in range(10)])


@inlined
def copy_text(texts: Bytes, before: int, at: int, room: int) -> None:
    """Write the text from `before` on, which ends at a place, behind it once more, where there is room."""
    for word in range(0, room - WORD, WORD):
        put_long(texts, at + word, long_at(texts, before + word))
    put_long(texts, at + room - WORD, long_at(texts, before + room - WORD))


@inlined
def put_digits(texts: Bytes, at: int, number: int, count: int) -> None:
    """Write so many digits of a number."""
    for place in range(at + count - 1, at - 1, -1):
        rest = number // 10
        texts[place] = ZERO + number - 10 * rest
        number = rest


@inlined
def put_date(texts: Bytes, at: int, day: int) -> None:
    """Write the date so many days after 1970-01-01, and a `T`.

    Source: H. Hinnant, "chrono-compatible low-level date algorithms", civil_from_days.
    """
    shifted = day + 719_468
    era = shifted // 146_097
    of_era = shifted - era * 146_097
    year = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    date = of_year - (153 * month + 2) // 5 + 1
    month += 3 if month < 10 else -9
    put_digits(texts, at, year + era * 400 + (1 if month <= 2 else 0), 4)
    texts[at + 4] = DASH
    put_digits(texts, at + 5, month, 2)
    texts[at + 7] = DASH
    put_digits(texts, at + 8, date, 2)
    texts[at + 10] = TEE


def write_moments(times: Times, ends: Offsets, texts: Bytes) -> None:
    """Times in ns since 1970 UTC, each with as many of 0, 3, 6 or 9 digits behind the second as it needs."""
    at = known = before = 0
    ends[0] = 0
    for row in range(len(times)):
        if row > 0 and times[row] == times[row - 1]:
            # Alerts come in order of time.
            copy_text(texts, before, at, MOMENT)
            at, before = at + at - before, at
            ends[row + 1] = at
            continue
        second = times[row] // NANOS
        rest = times[row] - second * NANOS
        day = second // DAY
        clock = second - day * DAY
        if row > 0 and day == known:
            for place in range(TICK):
                texts[at + place] = texts[before + place]
        else:
            put_date(texts, at, day)
        known, before = day, at
        at += TICK
        minutes = clock // 60
        hour = minutes // 60
        put_digits(texts, at, hour, 2)
        texts[at + 2] = COLON
        put_digits(texts, at + 3, minutes - 60 * hour, 2)
        texts[at + 5] = COLON
        put_digits(texts, at + 6, clock - 60 * minutes, 2)
        at += 8
        if rest != 0:
            digits = NINE
            for _ in range(2):
                if rest % 1_000 == 0:
                    rest //= 1_000
                    digits -= 3
            texts[at] = POINT
            put_digits(texts, at + 1, rest, digits)
            at += 1 + digits
        texts[at] = ZED
        at += 1
        ends[row + 1] = at


def write_doubles(values: Doubles, pointed: bool, ends: Offsets, texts: Bytes, left: Bytes) -> None:
    """Doubles in their shortest form, whole ones with `.0` where they are `pointed`; `left` marks those that
    are not written.

    Written is what is n / 10**k, rounded once, for an n of 15 digits at most: no other text as short is
    nearest to the double, since two different decimals of 15 digits never are (IEEE 754-2019, 5.12.2).
    """
    at = before = 0
    ends[0] = 0
    for row in range(len(values)):
        value = values[row]
        if row > 0 and value == values[row - 1] and value != 0 and at > before:
            # Rules that tell alike say the same of one event.
            copy_text(texts, before, at, DOUBLE)
            at, before = at + at - before, at
            left[row] = 0
            ends[row + 1] = at
            continue
        before = at
        size = np.abs(value)
        places = NINE if size < FEW else SIX
        number = 0
        fits = size >= LEAST and size < MOST
        if fits:
            number = int(np.rint(size * PARTS[places]))
            fits = number / PARTS[places] == size
        elif size == 0:
            fits = np.copysign(1.0, value) > 0
        left[row] = 0 if fits else 1
        if fits:
            if value < 0:
                texts[at] = MINUS
                at += 1
            whole = number // PARTS[places]
            part = number - whole * PARTS[places]
            digits = 1
            while digits < NINE and whole >= PARTS[digits]:
                digits += 1
            put_digits(texts, at, whole, digits)
            at += digits
            if part != 0:
                while part % 10 == 0:
                    part //= 10
                    places -= 1
                texts[at] = POINT
                put_digits(texts, at + 1, part, places)
                at += 1 + places
            elif pointed:
                texts[at] = POINT
                texts[at + 1] = ZERO
                at += 2
        ends[row + 1] = at


def write_digits(rows: Rows, texts: Bytes) -> None:
    """Bytes as two hexadecimal digits each."""
    for place in range(len(rows)):
        byte = np.int64(rows[place])
        high, low = byte >> 4, byte & 15
        texts[2 * place] = ZERO + high + (LETTERS if high > 9 else 0)
        texts[2 * place + 1] = ZERO + low + (LETTERS if low > 9 else 0)


@inlined
def put_order(texts: Bytes, at: int, number: int) -> int:
    """Write a number of an order of decision; where it ends."""
    texts[at] = FURTHER
    put_big_word(texts, at + 1, np.uint32((number >> HALF) ^ SIGN))
    put_big_word(texts, at + 1 + WORD // 2, np.uint32(number))
    return at + ORDER


def write_orders(first: Numbers, further: Numbers, ends: Numbers, texts: Bytes) -> None:
    """Orders of decision, each of which begins with a number of `first`; then come those of `further` up to
    its end."""
    at = begin = 0
    for row in range(len(first)):
        at = put_order(texts, at, first[row])
        for number in range(begin, ends[row]):
            at = put_order(texts, at, further[number])
        begin = ends[row]
