"""A process without pandas, which Arrow imports, if it can, with its first array (decision 30)."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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


@contextmanager
def pandas_by_name() -> Iterator[None]:
    """Within the block an import of pandas, where it is hidden, gives a module that has its version and
    nothing else.

    Spark asks for the version before it takes a function of Arrow, and needs nothing more of it (decision
    90). Raises PackageNotFoundError where pandas is not installed.
    """
    if _FINDER not in sys.meta_path:
        yield
        return
    from importlib import metadata

    import pyarrow as pa

    pa.array([0])  # Arrow looks for pandas once, with its first array: not while this is in its place
    named = ModuleType("pandas")
    named.__dict__["__version__"] = metadata.version("pandas")
    sys.modules["pandas"] = named
    try:
        yield
    finally:
        del sys.modules["pandas"]
