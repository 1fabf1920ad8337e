"""Alerts with the compiled kernel, however few they are, or without it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from alerts import joining, patience


@contextmanager
def kernel_in_use(wanted: bool) -> Iterator[None]:
    """Within the block columns of any length are joined and digested by the kernel, or none are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patience, "_LEFT", patience._Patience())
        patch.setattr(joining, "FEWEST", 1)
        if wanted:
            patience.load()
        yield
