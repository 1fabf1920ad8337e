"""Every code has a page, and the page's example gives that code and nothing else that is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rules.codes import RESERVED, TITLES
from rules.packs import load_texts

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "errors"
WITHOUT_EXAMPLE = {"CEP0111", "CEP0505", "CEP0506", "CEP0507", "CEP0508"}
"""What no text in a page can show: sizes and files."""


def page(code: str) -> str:
    return (PAGES / f"{code}.md").read_text(encoding="utf-8")


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    ours = {p.stem for p in PAGES.glob("CEP*.md") if p.stem[:5] not in RESERVED}
    assert ours == set(TITLES)


def test_every_code_that_is_raised_has_a_title() -> None:
    sources = [p for p in (ROOT / "rules").rglob("*.py") if p.name != "codes.py"]
    raised = {c for p in sources for c in re.findall(r'"(CEP\d{4})"', p.read_text(encoding="utf-8"))}
    assert raised == set(TITLES)


@pytest.mark.parametrize("code", sorted(TITLES))
def test_a_page_begins_with_code_and_title(code: str) -> None:
    assert page(code).splitlines()[0] == f"# {code}: {TITLES[code]}"


@pytest.mark.parametrize("code", sorted(set(TITLES) - WITHOUT_EXAMPLE))
def test_the_example_of_a_page_gives_its_code(code: str) -> None:
    examples = re.findall(r"```rules\n(.*?)```", page(code), re.DOTALL)
    assert examples, f"{code} has no example"
    found = load_texts([(f"{n}.rules", text) for n, text in enumerate(examples)]).diagnostics
    levels = ("warning", "hint") if code.startswith("CEP03") else ("error",)
    assert [d.code for d in found if d.level in levels] == [code]
