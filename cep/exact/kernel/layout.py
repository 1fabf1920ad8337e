"""An accumulator: numbers of a flat array, of which all are 0 while nothing is in it.

    DOWN UP    limbs from CEILING - DOWN up to, not including, UP may be other than 0
    ADDED      upper bound of the deposits since carries were last propagated
    from HEAD  limbs: limb n counts for 2 ** (BITS * n) units

A unit is 2 ** -1074 in sums of doubles, the least of them; 2 ** -2148 in sums of their squares; 1 in sums of
longs and of their squares; 1e-18 and 1e-36 in those of decimals. So an accumulator holds any sum of its
values exactly, of 2 ** 63 of them too, and one that nothing fits into there is not.

A deposit changes a limb by less than 2 ** BITS, and a limb whose carry is propagated is below that: so
MOST_ADDED deposits later it is below 2 ** 63, by a factor of two.

This is a layout for work, not for state: `packed` is.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

from kernels.family import READ_ONLY, inlined

Ints = npt.NDArray[np.int64]
ReadOnlyInts = Annotated[Ints, READ_ONLY]

BITS = 32
LIMB = 0xFFFFFFFF
"""The bits of a limb."""
DOWN, UP, ADDED, HEAD = range(4)
CEILING = 256
"""More limbs than any accumulator has."""
SUM = HEAD + 71
"""Numbers of a sum: 2,098 bits of a double and 63 of their number are 68 limbs; the sign is one, and a carry
may go two further before it is known to be one."""
SQUARES = HEAD + 138
"""Numbers of a sum of squares: 4,196 bits and 63 are 134 limbs."""
MOST_ADDED = 2**29

LEAST_EXPONENT = -1074
"""Of the unit of a sum of doubles."""


@inlined
def at_place(place: int) -> np.uint64:
    """A place of an array that is not counted from its end: for others code is made that asks."""
    return np.uint64(place)
