"""docs/python.md is true: its examples run, and it names every name of the interface."""

from __future__ import annotations

import doctest
import re
import shutil
from pathlib import Path

import pytest
from rule_pages import page

import cep

ROOT = Path(__file__).parents[2]
TEXT = page("python.md")


def test_the_examples_print_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in ("cards.rules", "payments.jsonl"):
        shutil.copy(ROOT / "examples" / "cards" / file, tmp_path)
    monkeypatch.chdir(tmp_path)
    unfenced = re.sub(r"^```.*$", "", TEXT, flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(unfenced, {}, "python.md", "docs/python.md", 0)
    reported: list[str] = []
    results = doctest.DocTestRunner(verbose=False).run(examples, out=reported.append)
    assert results.attempted > 15
    assert results.failed == 0, "".join(reported)


def test_the_page_names_every_name_of_the_interface() -> None:
    named = set(re.findall(r"`(?:cep\.)?(\w+)(?:\([^`]*\))?`", TEXT))
    assert set(cep.__all__) <= named
