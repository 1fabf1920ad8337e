"""The kernel of JSON lines and CSV, compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from cep.decode.kernel import (
    digits,
    doubles,
    intrinsics,
    json_values,
    keys,
    layout,
    lines,
    records,
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
    read_records: Callable[..., int]
    count_lines: Callable[..., int]
    find_lines: Callable[..., int]
    find_records: Callable[..., int]
    join_lines: Callable[..., None]
    slot_of: Callable[..., int]


DECODING = Family(
    "decoding",
    (
        layout, intrinsics, words, digits, doubles, times, strings, keys, skipping,
        values, json_values, rows, records, lines,
    ),
    Kernel._fields,
)  # fmt: skip


@lru_cache(maxsize=1)
def load() -> Kernel:
    """The compiled functions: four seconds of processor the first time on a machine, then some hundredths."""
    return Kernel(**loader.load(DECODING))
