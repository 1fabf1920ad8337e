"""Families of modules that are compiled together, and the marks of functions for the compiler."""

from __future__ import annotations

import time
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

READ_ONLY = "read only"
"""`Annotated[array, READ_ONLY]`: the function only reads the array, and takes one that nobody may write."""

BEGAN = time.time_ns()
"""Nanoseconds since 1970 when this process imported its first kernel."""

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Family:
    """A kernel: its modules, each after those that it calls, and the functions that are called from outside.

    Every function of a module is compiled, in the order in which the modules define them, for the one
    signature that its annotations say. It calls others by names of its module (`from x import f`), and makes
    no arrays: room is handed over. Constants and named tuples come from these modules, too: what machine code
    is made of is all part of the digest.
    """

    name: str
    modules: tuple[types.ModuleType, ...]
    entries: tuple[str, ...]

    def functions(self, module: types.ModuleType) -> dict[str, types.FunctionType]:
        """The functions that a module defines, in their order."""
        return {
            name: value
            for name, value in vars(module).items()
            if isinstance(value, types.FunctionType) and value.__module__ == module.__name__
        }

    def interpreted(self) -> dict[str, Callable[..., Any]]:
        """The entries as they stand."""
        found = {n: f for m in self.modules for n, f in self.functions(m).items() if n in self.entries}
        return {name: found[name] for name in self.entries}


def inlined(function: Function) -> Function:
    """Mark a function to be compiled into those that call it: a call costs more than what it does."""
    function.__dict__["inlined"] = True
    return function


def instruction(function: Function) -> Function:
    """Mark a function whose compiled form is the instruction of its name (`kernels.instructions`)."""
    function.__dict__["instruction"] = True
    return function


def compiled_as(other: Callable[..., Any]) -> Callable[[Function], Function]:
    """Mark a function whose compiled form is another one, defined before it, of the same signature."""

    def mark(function: Function) -> Function:
        function.__dict__["compiled_as"] = other
        return function

    return mark
