"""What calls between the functions of a kernel hand over: an array is seven numbers, one after the other."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from typing import Any

import numba
import pytest
from numba.core.datamodel import default_manager
from numba.core.datamodel.packer import ArgPacker

from alerts.compiled import ALERTS
from cep.decode.by_schema.compiled import BY_SCHEMA
from cep.decode.compiled import DECODING
from cep.hashing.compiled import FAMILY as STRINGS
from cep.operators.patterns.runtime.compiled import PATTERNS
from cep.operators.windows.runtime.compiled import WINDOWS
from kernels.family import Family
from kernels.signatures import signature
from percolator.matching.compiled import PERCOLATOR

FAMILIES = (PATTERNS, WINDOWS, PERCOLATOR, STRINGS, DECODING, BY_SCHEMA, ALERTS)
MOST = 100
"""Numbers that a function may take which is called in one place alone."""


def numbers(*types: Any) -> int:
    """The numbers that numba's calls hand over for arguments of these types."""
    return len(ArgPacker(default_manager, types).argument_types)


def calls(function: Any) -> Counter[str]:
    """How often a function calls each of the others."""
    nodes = ast.walk(ast.parse(inspect.getsource(function)))
    return Counter(n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name))


def test_an_array_is_seven_numbers() -> None:
    array = numba.types.Array(numba.int64, 1, "C")
    assert numbers(array) == 7
    assert numbers(numba.types.UniTuple(array, 3), numba.int64) == 22


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_what_takes_many_numbers_and_is_called_once_is_inlined(family: Family) -> None:
    every = {n: f for module in family.modules for n, f in family.functions(module).items()}
    sites: Counter[str] = sum((calls(one) for one in every.values()), Counter())
    large = {
        name
        for name, function in every.items()
        if sites[name] == 1 and not hasattr(function, "inlined") and name not in calls(function)
        if numbers(*signature(function).args) > MOST
    }
    assert large == set()
