"""The one loader of compiled kernels."""

from __future__ import annotations

import threading
import time
import types
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import numba

from kernels import instructions
from kernels.arguments import Checked, door
from kernels.family import Family
from kernels.kept import KeptEntry, NotKeptError, alone, folder_for, folder_with, remove_old
from kernels.linking import EntryCode, LinkedCode, only_linked
from kernels.signatures import signature

_loaded: dict[Family, dict[str, Callable[..., Any]]] = {}
_loading = threading.Lock()


def load(family: Family) -> dict[str, Callable[..., Any]]:
    """The entries of a family, compiled, by name and in the family's order; once in a process.

    They are read from disk within a tenth of a second, or else compiled, by one process of the machine while
    others wait for what it writes.
    """
    with _loading:
        if family not in _loaded:
            _loaded[family] = _load(family)
        return _loaded[family]


def load_kept(family: Family) -> bool:
    """Load a family if it was compiled before; whether it is loaded then. Compiles nothing."""
    with _loading:
        if family not in _loaded and (folder := folder_with(family)) and (entries := _read(family, folder)):
            _loaded[family] = entries
        return family in _loaded


def _load(family: Family) -> dict[str, Callable[..., Any]]:
    folder = folder_with(family)
    entries = folder and _read(family, folder)
    if entries:
        return entries
    folder = folder_for(family)
    if folder is None:
        return compiled(family, None)
    with alone(folder):
        entries = _read(family, folder) or compiled(family, folder)
    remove_old(folder, time.time())
    return entries


def _read(family: Family, folder: Path) -> dict[str, Callable[..., Any]] | None:
    """The entries from disk, if all are there. What they call is part of their machine code."""
    entries = {}
    for name, function in family.interpreted().items():
        try:
            entries[name] = _entry(function, function, KeptEntry(name, folder, family, only_read=True))
        except NotKeptError:
            return None
    return entries


def compiled(
    family: Family, folder: Path | None, seen: Callable[[Callable[..., Any]], None] = lambda _: None
) -> dict[str, Callable[..., Any]]:
    """The entries compiled anew, and written into a folder if one is given.

    A kernel stays plain Python: its functions are compiled as copies that see compiled ones. `seen` is called
    with each function once it is compiled.
    """
    done: dict[int, Any] = {}
    entries = {}
    for module in family.modules:
        namespace = {name: done.get(id(value), value) for name, value in vars(module).items()}
        for name, function in family.functions(module).items():
            if hasattr(function, "instruction"):
                namespace[name] = done[id(function)] = getattr(instructions, name)
                continue
            dispatcher = _dispatcher(function, namespace)
            namespace[name] = done[id(function)] = dispatcher
            is_entry = name in family.entries
            with only_linked(EntryCode if is_entry else LinkedCode):
                _compile(dispatcher, signature(function))
            if is_entry:
                kept = KeptEntry(name, folder, family, only_read=False)
                entries[name] = _entry(function, dispatcher, kept)
            seen(function)
    return {name: entries[name] for name in family.entries}


def _dispatcher(function: Any, namespace: dict[str, Any]) -> Any:
    """A copy of a function, to be compiled, which only compiled functions call."""
    source = getattr(function, "compiled_as", function)
    copy = types.FunctionType(source.__code__, namespace, function.__name__, source.__defaults__)
    # The copies are known to nobody; their names and places are those of the source.
    copy.__module__ = function.__module__
    copy.__qualname__ = function.__qualname__
    inlined = hasattr(function, "inlined")
    return _njit(forceinline=inlined, no_cpython_wrapper=True, no_cfunc_wrapper=True)(copy)


def _entry(function: Any, compiled: Any, kept: KeptEntry) -> Callable[..., Any]:
    """A function as Python calls it, its arguments checked (`kernels.arguments`)."""
    dispatcher = _njit(no_cfunc_wrapper=True)(door(compiled))
    dispatcher._cache = kept
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    call = _compile(dispatcher, (Checked(signature(function), function.__name__, names),))

    @wraps(function)
    def entry(*arguments: Any) -> Any:
        return call(arguments)

    return entry


def _njit(**options: bool) -> Any:
    """The compiler. Kernels make no arrays, so that nobody counts who holds one."""
    compiler: Any = numba.njit
    return compiler(_nrt=False, **options)


def _compile(dispatcher: Any, types_: Any) -> Any:
    """Compile for the one signature: numba would make another for every constant that is handed over, and in
    silence one for an array of another kind. Returns what takes arguments of these types unseen."""
    entry_point = dispatcher.compile(types_)
    dispatcher.disable_compile()
    return entry_point
