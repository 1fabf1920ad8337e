"""UTF-8 to code points, and their classes."""

from __future__ import annotations

from percolator.matching.kernel.arrays import Ints, KeptBytes

# Character classes, as in percolator.words. Letters are 1 to LAST_LETTER; digits and the half-width voice
# marks of Kana are letters of their own. From UNIT on a character is CJK, and searched by pairs.
(
    SEPARATOR, LETTER, DIGIT, VOICE, MARK, JOINER, SPACE, LINE_END, STOP, CLOSER, WIDE_STOP, PARAGRAPH_SIGN,
    UNIT, LEADING, VOWEL, TRAILING,
) = range(16)  # fmt: skip
LAST_LETTER = VOICE

PAGES = 0x1100
"""In `Splitting.classes`, the number of pages: the classes of the first page, ASCII's, follow."""


def decoded(data: KeptBytes, at: int, end: int) -> int:
    """The code point at a byte that is no ASCII, times 8, plus the number of its bytes.

    Bytes that are no UTF-8 are separators, one by one.
    """
    first = int(data[at])
    if 0xC2 <= first < 0xE0 and at + 1 < end:
        return (((first & 0x1F) << 6 | (int(data[at + 1]) & 0x3F)) << 3) | 2
    if 0xE0 <= first < 0xF0 and at + 2 < end:
        return (((first & 0xF) << 12 | (int(data[at + 1]) & 0x3F) << 6 | (int(data[at + 2]) & 0x3F)) << 3) | 3
    if 0xF0 <= first < 0xF5 and at + 3 < end:
        point = (first & 7) << 18 | (int(data[at + 1]) & 0x3F) << 12
        point |= (int(data[at + 2]) & 0x3F) << 6 | (int(data[at + 3]) & 0x3F)
        if point < 0x110000:
            return (point << 3) | 4
    return (0xFFFD << 3) | 1


def class_of(classes: KeptBytes, point: int) -> int:
    """The class of a code point."""
    return int(classes[PAGES + (int(classes[point >> 8]) << 8) + (point & 0xFF)])


def kind_at(data: KeptBytes, at: int, end: int, classes: KeptBytes) -> int:
    """The class of the character at a byte, times 8, plus its number of bytes; 0 at the end."""
    if at >= end:
        return 0
    if data[at] < 128:
        return int(classes[PAGES + int(data[at])]) << 3 | 1
    point = decoded(data, at, end)
    return class_of(classes, point >> 3) << 3 | (point & 7)


def code_points(data: KeptBytes, start: int, length: int, points: Ints) -> int:
    """Decodes into `points`; the number of them, or one more than there is room for."""
    at, end, count = start, start + length, 0
    while at < end:
        if count == points.size:
            return count + 1
        if data[at] < 128:
            points[count] = data[at]
            at += 1
        else:
            point = decoded(data, at, end)
            points[count] = point >> 3
            at += point & 7
        count += 1
    return count
