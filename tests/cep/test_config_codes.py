"""Every code of this part has a title and a page of its own, and no code is used that has none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cep.codes import TITLES

ROOT = Path(__file__).parents[2]
SOURCES = [
    *(ROOT / "cep/config").glob("*.py"),
    *(ROOT / "cep/decode").glob("*.py"),
    *(ROOT / "cep/sources").rglob("*.py"),
    ROOT / "cep/cli/cases.py",
    ROOT / "cep/cli/feeding.py",
    ROOT / "cep/cli/percolate_cases.py",
    ROOT / "cep/job/attempts.py",
    ROOT / "cep/job/beforehand.py",
    ROOT / "cep/job/errors.py",
    ROOT / "cep/job/takeover.py",
    ROOT / "cep/job/wrong_clock.py",
    *(ROOT / "cep/standing").glob("*.py"),
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
        for code in re.findall(r"CEP0(?:[78]\d\d|9[259]\d)", source.read_text(encoding="utf-8"))
    }
    assert used == TITLES.keys()
