"""A process without pandas, which Arrow imports, if it can, with its first array (decision 30)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


class _NoPandas:
    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Says that there is no pandas; leaves all else to other finders."""
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is not used here", name=fullname)
        return None


_FINDER = _NoPandas()


def hide_pandas() -> None:
    """Let nothing import pandas from now on."""
    sys.meta_path.insert(0, _FINDER)


def show_pandas() -> None:
    """Let pandas be imported again, where it was hidden. Arrow goes on without it."""
    if _FINDER in sys.meta_path:
        sys.meta_path.remove(_FINDER)
