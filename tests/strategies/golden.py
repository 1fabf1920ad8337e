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


def no_other_golden(folder: Path, names: set[str]) -> None:
    """Fail where the folder holds golden files of other names; under UPDATE_GOLDEN remove them."""
    others = [file for file in folder.glob("*.txt") if file.stem not in names]
    if os.environ.get("UPDATE_GOLDEN"):
        for file in others:
            file.unlink()
        return
    assert others == [], "nothing is drawn for these: UPDATE_GOLDEN=1 removes them"
