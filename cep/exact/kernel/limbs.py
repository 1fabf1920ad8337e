"""What an accumulator does whatever its unit: numbers go in, carries go up, another is added to it."""

from __future__ import annotations

from cep.exact.kernel.layout import ADDED, BITS, CEILING, DOWN, HEAD, LIMB, MOST_ADDED, UP, Ints, at_place
from kernels.family import inlined


@inlined
def lowest(sums: Ints, at: int) -> int:
    """The lowest limb that may be other than 0; CEILING of nothing."""
    return int(CEILING - sums[at_place(at + DOWN)])


def propagate(sums: Ints, at: int) -> None:
    """Propagate carries: bring an accumulator into the one form that its sum has.

    All limbs are then bits, up to the highest: this is positive, or it is -1 and stands for all bits above,
    and one below that is not all ones. The lowest is not 0. Limbs that are not between them are 0.
    """
    low, base = lowest(sums, at), at + HEAD
    end = int(sums[at_place(at + UP)])
    carry = 0
    for limb in range(base + low, base + end):
        value = sums[at_place(limb)] + carry
        sums[at_place(limb)] = value & LIMB
        carry = value >> BITS
    while carry != 0 and carry != -1:
        sums[at_place(base + end)] = carry & LIMB
        carry >>= BITS
        end += 1
    if carry == -1:
        while end > low and sums[at_place(base + end - 1)] == LIMB:
            end -= 1
            sums[at_place(base + end)] = 0
        sums[at_place(base + end)] = -1
        end += 1
    while end > low and sums[at_place(base + end - 1)] == 0:
        end -= 1
    while low < end and sums[at_place(base + low)] == 0:
        low += 1
    sums[at_place(at + DOWN)] = CEILING - low if low < end else 0
    sums[at_place(at + UP)] = end if low < end else 0
    sums[at_place(at + ADDED)] = 0


@inlined
def deposit(sums: Ints, at: int, word: int, position: int) -> None:
    """Add word * 2 ** position units, of any 64-bit word, to three limbs. `reach` must be told."""
    limb, shift = at + HEAD + (position >> 5), position & 31
    low = (word & LIMB) << shift
    middle = (low >> BITS) + ((word >> BITS) << shift)
    sums[at_place(limb)] += low & LIMB
    sums[at_place(limb + 1)] += middle & LIMB
    sums[at_place(limb + 2)] += middle >> BITS


@inlined
def reach(sums: Ints, at: int, low: int, up: int, deposits: int) -> None:
    """Note that so many deposits may have changed the limbs from `low` up to, not including, `up`."""
    if sums[at_place(at + DOWN)] < CEILING - low:
        sums[at_place(at + DOWN)] = CEILING - low
    if sums[at_place(at + UP)] < up:
        sums[at_place(at + UP)] = up
    sums[at_place(at + ADDED)] += deposits
    if sums[at_place(at + ADDED)] > MOST_ADDED:
        propagate(sums, at)


def clear(sums: Ints, at: int) -> None:
    """Take everything out."""
    for place in range(at + HEAD + lowest(sums, at), at + HEAD + sums[at_place(at + UP)]):
        sums[at_place(place)] = 0
    for place in range(at, at + HEAD):
        sums[at_place(place)] = 0


def merge(sums: Ints, at: int, others: Ints, other: int, sign: int) -> None:
    """Add another accumulator of the same unit, or with sign -1 take it away."""
    low, up = lowest(others, other), others[at_place(other + UP)]
    for limb in range(HEAD + low, HEAD + up):
        sums[at_place(at + limb)] += sign * others[at_place(other + limb)]
    if up > 0:
        reach(sums, at, low, up, others[at_place(other + ADDED)] + 1)
