"""The kernel of JSON lines, compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from cep.decode.kernel import (
    digits,
    doubles,
    intrinsics,
    keys,
    layout,
    lines,
    rows,
    skipping,
    strings,
    times,
    values,
    words,
)
from kernels import loader
from kernels.family import Family


class Kernel(NamedTuple):
    """What is called, under the kernel's names."""

    read_lines: Callable[..., int]
    count_lines: Callable[..., int]
    find_lines: Callable[..., int]
    join_lines: Callable[..., None]
    slot_of: Callable[..., int]


JSON_LINES = Family(
    "json-lines",
    (layout, intrinsics, words, digits, doubles, times, strings, keys, skipping, values, rows, lines),
    Kernel._fields,
)


@lru_cache(maxsize=1)
def load() -> Kernel:
    """The compiled functions: four seconds of processor the first time on a machine, then some hundredths."""
    return Kernel(**loader.load(JSON_LINES))
