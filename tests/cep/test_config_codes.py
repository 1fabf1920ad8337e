"""Every code of this part has a title and a page of its own, and no code is used that has none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cep.codes import TITLES

ROOT = Path(__file__).parents[2]
SOURCES = [
    file
    for package in ("cep", "kernels")
    for file in (ROOT / package).rglob("*.py")
    if file != ROOT / "cep/codes.py"
]


@pytest.mark.parametrize(("code", "title"), TITLES.items())
def test_every_code_has_a_page(code: str, title: str) -> None:
    page = (ROOT / "docs/errors" / f"{code}.md").read_text(encoding="utf-8")
    heading, _, rest = page.partition("\n")
    assert heading == f"# {code}: {title}"
    assert "\n    " in rest, "a page shows an example"


def test_codes_and_their_uses_agree() -> None:
    used = {
        code
        for source in SOURCES
        for code in re.findall(r"CEP0(?:[78]\d\d|9[25679]\d)", source.read_text(encoding="utf-8"))
    }
    assert used == TITLES.keys()
