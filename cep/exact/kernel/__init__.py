"""Accumulators in flat arrays, in the subset of Python that numba compiles, and that runs as it stands.

Other kernels take these modules into their families, before those of their own that call them, and hand over
the arrays. An accumulator is named by an array of int64 and a place in it.

    layout       an accumulator, its units and bounds
    limbs        numbers go in, carries go up, another accumulator is added
    reading      whole numbers to doubles, correctly rounded
    doubles      sums of doubles and of their squares, what `sum` and `avg` read
    longs        the same of longs
    decimals     the same of decimals
    deviations   what `stddev` reads
    packed       a sum as state
"""

from cep.exact.kernel import decimals, deviations, doubles, layout, limbs, longs, packed, reading

MODULES = (layout, limbs, reading, doubles, longs, decimals, deviations, packed)
"""In the order in which a family has them."""
