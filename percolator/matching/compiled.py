"""The kernel in its two forms: as it is, and compiled (`kernels.loader`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from kernels.family import Family
from percolator.matching.kernel import (
    arrays,
    blocks,
    borders,
    boundaries,
    candidates,
    counters,
    dictionary,
    edits,
    hashing,
    highlights,
    layout,
    learn,
    near,
    positions,
    ranges,
    scan,
    sieve,
    sloppy,
    sorting,
    spans,
    truth,
    utf8,
    walk,
    window,
    word_table,
)

Array = TypeVar("Array", bound=npt.NDArray[Any])


@dataclass(frozen=True, slots=True)
class Engine:
    """The functions of the kernel that are called from outside, under the kernel's names."""

    scan: Callable[..., None]
    rehash: Callable[..., None]
    enter_sieve: Callable[..., None]
    enter_edges: Callable[..., None]
    enter: Callable[..., None]
    learn_all: Callable[..., int]
    match: Callable[..., None]
    highlight: Callable[..., None]


PERCOLATOR = Family(
    "percolator",
    (
        arrays, counters, layout, hashing, blocks, utf8, boundaries, sieve, word_table, window, scan,
        dictionary, edits, learn, truth, walk, ranges,
        sorting, spans, near, sloppy, borders, positions, candidates, highlights,
    ),
    tuple(field.name for field in fields(Engine)),
)  # fmt: skip


@lru_cache(maxsize=1)
def interpreted() -> Engine:
    """The kernel as Python: the same answers, some hundred times slower, nothing to wait for."""
    return Engine(*map(_wrapping, PERCOLATOR.interpreted().values()))


def _wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        # Hashes wrap around, of which numpy warns and compiled code does not.
        with np.errstate(over="ignore"):
            return function(*arguments)

    return call


def at_hand() -> Engine:
    """The compiled engine if the process has loaded it, else the interpreted one."""
    return load() if load.cache_info().currsize else interpreted()


@lru_cache(maxsize=1)
def load() -> Engine:
    """The compiled engine: some seconds the first time on a machine, then a tenth of one."""
    from kernels.loader import load as loaded

    return Engine(*loaded(PERCOLATOR).values())


def read_only(array: Array) -> Array:
    """The array for those who only read it: the compiled form takes no other where READ_ONLY is said."""
    found = array.view()
    found.flags.writeable = False
    return found
