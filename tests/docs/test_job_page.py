"""docs/job.md is true of the job file: its example, its table of keys, its mistake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rule_pages import blocks, page, table

from cep.cli.main import main
from cep.config import load_job, sections
from cep.config.shape import JobFile

TEXT = page("job.md")
SECRET = "whsec_" + "MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3A="


def files(folder: Path) -> None:
    """The files that the pages take for granted: the pack of feeds.md, and an inbox."""
    (rules,) = [block for block in blocks(page("feeds.md")) if block.language == "rules"]
    (folder / rules.words).parent.mkdir(parents=True)
    (folder / rules.words).write_text(rules.text, "utf-8")
    (folder / "inbox").mkdir()


def example() -> str:
    """The first job.toml of the page."""
    found = re.search(r"^## job\.toml\n\n((?:(?: {4}.*)?\n)+)", TEXT, re.MULTILINE)
    assert found
    return re.sub(r"^ {4}", "", found[1], flags=re.MULTILINE)


def test_the_job_file_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(example(), "utf-8")
    loaded = load_job(tmp_path / "job.toml", {"DESK_SECRET": SECRET})
    assert loaded.diagnostics == ()
    assert loaded.need().feed("payment").source.path == f"{tmp_path}/inbox/*.jsonl"


def test_the_table_names_every_key() -> None:
    cells = [row[0] for row in table(TEXT, "| key | means | default |")]
    named = {word for cell in cells for word in re.findall(r"\w+", re.sub(r"\[[^\]]*\]", "", cell))}
    known = {key for name in JobFile.model_fields for key in keys_of(name)}
    assert named == known


def keys_of(name: str) -> list[str]:
    several = name in (*sections.NAMED, *sections.LISTED)
    return sections.known((name, "any") if several else (name,))


def test_fields_the_wrong_way_round(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (toml,) = [block for block in blocks(TEXT) if block.language == "toml"]
    (console,) = [block for block in blocks(TEXT) if block.language == "console"]
    command, _, shown = console.text.partition("\n")
    assert command == "$ cep run job.toml"
    files(tmp_path)
    (tmp_path / "inbox" / "monday.csv").touch()
    head = example().partition("[feeds")[0]
    (tmp_path / "job.toml").write_text(head + toml.text, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["run", "job.toml"]) == 2
    assert capsys.readouterr().err.strip() == shown.strip()
    assert not (tmp_path / "state").exists()
