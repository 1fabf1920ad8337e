"""A sum as state: the same numbers for the same sum, wherever its values came from and in whatever order.

    words[0]     (lowest << 8) | number of the words that follow; 0 of a sum of 0
    words[1:]    the sum without its lowest 64 * lowest bits, which are 0, as a whole number of two's
                 complement: as few words as hold it with its sign, the lowest first, which is not 0

VERSION changes with any of this, or with a unit of `layout`.
"""

from __future__ import annotations

from cep.exact.kernel.layout import BITS, HEAD, LIMB, UP, Ints, ReadOnlyInts, at_place
from cep.exact.kernel.limbs import lowest, propagate, reach
from cep.exact.kernel.longs import word_from
from kernels.family import inlined

VERSION = 1
MOST_OF_SUM = 1 + 35
MOST_OF_SQUARES = 1 + 68
"""The most numbers that a packed sum takes."""
COUNT_BITS = 8


def pack(sums: Ints, at: int, words: Ints, to: int) -> int:
    """Write an accumulator to words; where they end."""
    propagate(sums, at)
    up = int(sums[at_place(at + UP)])
    if up == 0:
        words[at_place(to)] = 0
        return to + 1
    lowest_word, end = lowest(sums, at) >> 1, (up + 1) >> 1
    sign = word_from(sums, at, 2 * end)
    top = word_from(sums, at, 2 * (end - 1))
    if top != sign and top < 0:
        # Its highest bit is no sign.
        end += 1
    elif top == sign and end - 1 > lowest_word and word_from(sums, at, 2 * (end - 2)) < 0:
        end -= 1
    count = end - lowest_word
    for number in range(count):
        words[at_place(to + 1 + number)] = word_from(sums, at, 2 * (lowest_word + number))
    words[at_place(to)] = (lowest_word << COUNT_BITS) | count
    return to + 1 + count


@inlined
def put_packed(sums: Ints, at: int, words: ReadOnlyInts, place: int, sign: int) -> int:
    """Add a packed sum to an accumulator, or with sign -1 take it away; where its words end.

    All words but the last are bits, without a sign.
    """
    head = int(words[at_place(place)])
    lowest_word, count = head >> COUNT_BITS, head & ((1 << COUNT_BITS) - 1)
    for number in range(count):
        word = int(words[at_place(place + 1 + number)])
        upper = word >> BITS if number == count - 1 else (word >> BITS) & LIMB
        limb = at + HEAD + 2 * (lowest_word + number)
        sums[at_place(limb)] += sign * (word & LIMB)
        sums[at_place(limb + 1)] += sign * upper
    if count > 0:
        reach(sums, at, 2 * lowest_word, 2 * (lowest_word + count), 1)
    return place + 1 + count
