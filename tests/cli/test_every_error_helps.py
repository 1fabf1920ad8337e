"""Every command that cannot be right ends with what helps, whatever is wrong with what it names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from cep.cli.main import main

PACK = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long  id id_  time at }
rule single { on e[v > 1] }
rule pair { by k match a: e[v == 1] -> b: e[v == 2] within 1h }
"""
WINDOW = "rule window { by k over last 10 minutes of e emit n = count(e) }\n"
EVENTS = ("--events", "e=events.jsonl", "--output", "-")
FIELD = ("--output", "-", "--field", "body=text")
COMMANDS = [
    ("check", "missing"), ("check", "folder"), ("check", "bytes.rules"),
    ("check", "p.rules", "--job", "missing"), ("check", "p.rules", "--job", "folder"), ("fmt", "missing"),
    ("fmt", "bytes.rules"), ("test", "missing"), ("test", "p.rules", "--secret"),
    ("test", "p.rules", "--secret", "x"),
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_an_error_has_a_help_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: Sequence[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "p.rules").write_text(PACK)
    (tmp_path / "w.rules").write_text(PACK + WINDOW)
    (tmp_path / "bytes.rules").write_bytes(b"\xff\xfe")
    (tmp_path / "events.jsonl").write_text('{"id_": "1", "at": "2026-01-05T09:00:00Z", "k": "a", "v": 2}\n')
    (tmp_path / "q.jsonl").write_text('{"id": "a", "query": "word"}\n')
    try:
        code = main(list(command))
    except SystemExit as ended:
        code = int(ended.code or 0)
    said = capsys.readouterr()
    text = said.err + said.out
    assert code in (1, 2), text
    errors = len(re.findall(r"^error\b", text, re.MULTILINE))
    assert 0 < errors == len(re.findall(r"^ +(?:= )?help: \S", text, re.MULTILINE)), text
