"""How hard generated tests try. CEP_EFFORT scales their number of examples: `make quick` takes a sixth,
`make test` all (1), a long run many times as many: CEP_EFFORT=5 pytest -s -m soak tests/cep
"""

from __future__ import annotations

import os


def examples(usual: int) -> int:
    """The number of examples of a test that usually runs so many, at least one."""
    return max(1, round(usual * float(os.environ.get("CEP_EFFORT", "1"))))
