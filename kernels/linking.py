"""Code of functions that only compiled functions call: it is linked into theirs, and never runs by itself.

Numba makes machine code of every function that it compiles, and of all that it calls with it, again for each
caller. Only that of entries is ever used.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import registry
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock

_WRAPPER = "_ZN7cpython"
"""With this begin the names of functions that Python calls."""


class LinkedCode(JITCodeLibrary):
    """The optimised code of a function, without machine code if Python cannot call it."""

    def _finalize_final_module(self) -> None:
        if self._is_called_by_python():
            super()._finalize_final_module()
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return super().get_pointer_to_function(name) if self._is_called_by_python() else 0

    @property
    def codegen(self) -> Any:
        return super().codegen if self._is_called_by_python() else self

    def set_env(self, name: str, environment: Any) -> None:
        """Set nothing: there is no machine code that would look for Python's objects."""

    def _is_called_by_python(self) -> bool:
        functions = self._final_module.functions
        return any(one.name.startswith(_WRAPPER) and not one.is_declaration for one in functions)


class EntryCode(LinkedCode):
    """The code of an entry, optimised where it is linked: in its door (kernels.arguments)."""

    def _optimize_final_module(self) -> None:
        if self._is_called_by_python():
            super()._optimize_final_module()


@contextmanager
def only_linked(code: type[LinkedCode]) -> Iterator[None]:
    """Within the block functions get such code; other threads wait before they compile."""
    codegen: Any = registry.cpu_target.target_context.codegen()
    with global_compiler_lock:
        codegen._library_class = code
        try:
            yield
        finally:
            del codegen._library_class
