"""Values to be summed: of all sizes, alike, or such as cancel each other."""

from __future__ import annotations

import math
import sys
from decimal import Decimal

from hypothesis import strategies as st

from rules.decimals import DIGITS, EXACT, SCALE

LARGEST, LEAST = sys.float_info.max, math.ulp(0.0)

finite = st.floats(allow_nan=False, allow_infinity=False)
edges = st.sampled_from(
    [LARGEST, -LARGEST, LEAST, -LEAST, 0.0, -0.0, sys.float_info.min, 1e16, -1e16, 1.0, -1.0]
)
prices = st.integers(-10_000, 10_000_000).map(lambda cents: cents / 100)
powers = st.builds(math.ldexp, st.sampled_from([-1.0, 1.0, 1.5, -3.0]), st.integers(-1074, 1021))
doubles = st.one_of(finite, edges, prices, powers)

longs = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.integers(-1000, 1000), st.sampled_from([-(2**63), 2**63 - 1])
)
MOST_UNITS = 10**DIGITS - 1
MOST, UNIT = Decimal(MOST_UNITS).scaleb(-SCALE, EXACT), Decimal(1).scaleb(-SCALE, EXACT)
units = st.one_of(
    st.integers(-MOST_UNITS, MOST_UNITS),
    st.integers(-(10**20), 10**20),
    st.sampled_from([MOST_UNITS, -MOST_UNITS]),
)
decimals = units.map(lambda number: Decimal(number).scaleb(-SCALE, EXACT))

samples = st.one_of(
    *(st.lists(one, min_size=1, max_size=30) for one in (doubles, prices, powers, longs, decimals))
)
"""One value or more, of one type."""
