"""The kernel of alerts' texts and digests, compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from alerts.kernel import (
    digests_by_instruction,
    digests_in_lanes,
    intrinsics,
    joining,
    layout,
    notation,
)
from kernels import loader
from kernels.family import Family
from kernels.processor import has


class Kernel(NamedTuple):
    """The entries, under the kernel's names."""

    find_ends: Callable[..., None]
    join_parts: Callable[..., None]
    find_chosen_ends: Callable[..., None]
    join_chosen: Callable[..., None]
    digest_texts: Callable[..., None]
    write_moments: Callable[..., None]
    write_doubles: Callable[..., None]
    write_digits: Callable[..., None]
    write_orders: Callable[..., None]


DIGESTS = digests_by_instruction if has(digests_by_instruction.FEATURE) else digests_in_lanes
ALERTS = Family("alerts", (layout, intrinsics, joining, DIGESTS, notation), Kernel._fields)


@lru_cache(maxsize=1)
def load() -> Kernel:
    """The compiled functions: three seconds of processor the first time on a machine, then 0.02."""
    return Kernel(**loader.load(ALERTS))
