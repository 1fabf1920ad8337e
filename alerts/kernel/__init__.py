"""Texts of very many alerts joined, and their digests, in the subset of Python that numba compiles.

It runs compiled only (`alerts.compiled`): its other forms are Arrow's `binary_join_element_wise` and hashlib,
which say what comes out.

    intrinsics    bytes at an address, eight texts' words side by side
    joining       parts end to end, row by row
    digests       SHA-256, eight texts at a time
"""
