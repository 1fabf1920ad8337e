"""Texts of very many alerts, joined, and their digests, in the subset of Python that numba compiles.

It runs compiled only (`alerts.compiled`): its other forms are Arrow's functions, hashlib and
`alerts.notation`, which say what comes out.

    layout                  numbers that describe parts and rows, and sizes
    intrinsics              bytes at an address, eight texts' words side by side
    joining                 parts end to end, row by row; of rows in their order or chosen
    digests_by_instruction  SHA-256 on processors that have instructions for it, two texts at a time
    digests_in_lanes        SHA-256 on others, eight texts at a time
    notation                numbers, times, digests and orders of decision as texts
"""
