"""Aggregates over ranges of items, in the subset of Python that numba compiles, and that runs as it stands.

An item is an event, or a pane or session of several, folded. The items of all keys stand in one row, and what
a window holds is a range of them. From one window to the next both ends of the range go forward as a rule:
what comes in is put, and what goes out is taken away. A range that begins anew, or goes back, is put from its
beginning.

    layout       columns of items, ranges, what is found
    moving       two runs of keys as one, parts of arrays
    places       where times lie among the items of a key; which sessions they make
    sums         exact sums, means and deviations; sums of folded items, packed
    extremes     the items with the greatest value
    distincts    how many different values there are
    percentiles  values in order
    compact      what is kept, as few bytes
"""
