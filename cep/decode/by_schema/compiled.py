"""The kernel of Avro and Protobuf, compiled, for those who have much to read."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from cep.decode.by_schema.kernel import avro, layout, numbers, protobuf, puts
from cep.decode.kernel import intrinsics
from cep.decode.kernel import layout as lines
from kernels import loader
from kernels.family import Family


class Kernel(NamedTuple):
    """The functions that are called, under the kernel's names."""

    read_avro: Callable[..., int]
    read_protobuf: Callable[..., int]


BY_SCHEMA = Family("by schema", (lines, layout, intrinsics, numbers, puts, avro, protobuf), Kernel._fields)


@lru_cache(maxsize=1)
def load() -> Kernel:
    """The compiled functions: some seconds of processor the first time on a machine, then some hundredths."""
    return Kernel(**loader.load(BY_SCHEMA))
