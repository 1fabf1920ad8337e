"""Sums that are exact: neither the order of values nor cuts of batches nor panes can matter.

    sums      over plain values: the meaning, and what interpreted engines call
    kernel    the same for compiled loops, over limbs in flat arrays; what of them becomes state

`sum` is the exact sum, rounded once where its type rounds; `avg` that sum divided by the count; `stddev` the
exact deviation of the sample, rounded once. Nulls, NaN and infinities are left out by whoever calls.
docs/decisions/0038 says why.
"""
