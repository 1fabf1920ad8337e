"""Golden files: what is printed today, to be read and approved when it changes.

`UPDATE_GOLDEN=1 pytest tests/docs/test_error_pages.py` writes them anew; git shows what changed.
"""

from __future__ import annotations

import os
from pathlib import Path


def same_as_golden(text: str, file: Path) -> None:
    """Fail where the file holds another text; under UPDATE_GOLDEN write it instead."""
    if os.environ.get("UPDATE_GOLDEN"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    known = file.read_text(encoding="utf-8") if file.exists() else ""
    assert text == known, f"{file.name} is out of date: UPDATE_GOLDEN=1 writes it"
