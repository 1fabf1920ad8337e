"""The effort of generated tests. CEP_EFFORT scales their number of examples: `make quick` takes a twentieth,
`make test` a tenth, `make soak` ten times as many.
"""

from __future__ import annotations

import os


def examples(usual: int) -> int:
    """The number of examples of a test that usually runs so many, at least one."""
    return max(1, round(usual * _EFFORT))


def each(usual: int) -> int:
    """Every so manieth of things that can be counted is tried where usually every `usual`th is; 1: all."""
    return max(1, round(usual / _EFFORT))


_EFFORT = float(os.environ.get("CEP_EFFORT", "1"))
