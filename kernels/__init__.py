"""Kernels: plain Python over flat arrays, compiled by numba and kept on disk.

A kernel is a family of modules (`family`) that also runs as it stands. `loader` compiles copies of its
functions, `signatures` reads their types from annotations, `linking` makes machine code of entries alone,
`arguments` checks what Python calls them with, `digest` names the folder in which `kept` finds machine code
again. `family` alone is imported without numba, which takes as long as what it saves in small programs.
"""
