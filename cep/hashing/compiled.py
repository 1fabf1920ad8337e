"""The functions of `cep.hashing.kernel` and `cep.hashing.ordering`, compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from cep.hashing import kernel, ordering
from kernels.family import Family


class Kernel(NamedTuple):
    """The functions of the kernel, under their names there."""

    add_texts: Callable[..., None]
    all_differ: Callable[..., bool]
    place_names: Callable[..., None]
    number_texts: Callable[..., None]
    order_numbers: Callable[..., bool]


FAMILY = Family("strings", (kernel, ordering), Kernel._fields)


def at_hand() -> Kernel | None:
    """The compiled functions, if the process has loaded them."""
    return load() if load.cache_info().currsize else None


@lru_cache(maxsize=1)
def load() -> Kernel:
    """The compiled functions: two seconds of processor the first time on a machine, then a few hundredths."""
    from kernels import loader

    return Kernel(**loader.load(FAMILY))
