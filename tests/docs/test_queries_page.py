"""docs/queries.md is true: its files are written, its tests pass, its commands print what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rule_pages import blocks, page

from cep.cli.main import main

TEXT = page("queries.md")
BROKEN = """pack news version "1"
stream article { url: string  title: text  at: timestamp  id url  time at }
queries watchlist { from "broken.jsonl" }

rule watched { severity low  on article matching watchlist  emit query }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for block in blocks(TEXT):
        if block.language in ("rules", "jsonl"):
            (tmp_path / block.words).write_text(block.text, "utf-8")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_pack_of_the_page_has_no_finding_and_its_tests_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--strict", "."]) == 0, capsys.readouterr().out
    assert main(["test", "."]) == 0, capsys.readouterr().out
    assert "4 passed, 0 failed" in capsys.readouterr().out


def test_check_prints_what_the_page_shows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "broken.rules").write_text(BROKEN, "utf-8")
    lines = ('{"id": "q1", "query": "acme"}', '{"id": "q2", "query": "titel:acme"}')
    (folder / "broken.jsonl").write_text("\n".join(lines), "utf-8")
    (shown,) = (block.text for block in blocks(TEXT) if block.language == "console")
    (command,) = re.findall(r"^\$ cep (.+)$", shown, re.MULTILINE)
    assert main(command.split()) == 0
    assert capsys.readouterr().out == shown.partition("\n")[2]
