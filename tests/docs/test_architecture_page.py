"""docs/architecture.md and the decisions name modules and folders that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = "alerts|cep|kernels|percolator|rules"
PATH = re.compile(rf"`((?:{PACKAGES}|docs|tests|benchmarks)/[\w/.]*)`")
DOTTED = re.compile(rf"\b((?:{PACKAGES})(?:\.[a-z_]\w*)+)\b(?!/)")
PROPERTIES = {"cep.careful", "cep.manifest"}
"""Local properties of Spark, which look like modules."""
PAGES = sorted((ROOT / "docs").glob("architecture.md")) + sorted((ROOT / "docs" / "decisions").glob("*.md"))


def is_there(path: str) -> bool:
    """True if a path of the repository, with or without the ending of a module, is a file or folder."""
    return any((ROOT / name).exists() for name in (path, f"{path}.py"))


def defines(dotted: str) -> bool:
    """True if a dotted name is a package or module, or a name that one defines."""
    head, _, name = dotted.rpartition(".")
    if is_there(dotted.replace(".", "/")):
        return True
    module = ROOT / f"{head.replace('.', '/')}.py"
    return module.is_file() and bool(
        re.search(rf"^\s*(def|class) {name}\b|^{name}\b", module.read_text("utf-8"), re.MULTILINE)
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_names_what_is_there(page: Path) -> None:
    text = page.read_text("utf-8")
    assert [path for path in PATH.findall(text) if not is_there(path)] == []
    named = {name for name in DOTTED.findall(text) if not name.endswith((".py", ".md", ".toml"))}
    assert sorted(name for name in named - PROPERTIES if not defines(name)) == []


def test_every_folder_of_cep_has_its_line() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    rooms = text[text.index("`cep`, from the ground up;") :]
    folders = {path.parent.name for path in (ROOT / "cep").glob("*/__init__.py")}
    folders |= {path.parent.name for path in (ROOT / "cep" / "job").glob("*/__init__.py")}
    assert sorted(name for name in folders if f"{name}/" not in rooms) == []
