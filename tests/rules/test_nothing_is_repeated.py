"""Excerpts of files that may not be what they were taken for, and of lines with secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from cep.config.load import load_job
from cep.secrets import without_secrets
from rules.hidden import MARK, around, beginning
from rules.packs import load_texts
from rules.render import render_all

SECRET = "TOPxSECRETxVALUE"
LINES = [
    f"secret = whsec_{SECRET}",
    f'secret = "whsec_{SECRET}',
    f"secret = 'whsec_{SECRET}\"",
    f'secret = "a" "{SECRET}"',
    f'"secret" = {SECRET}',
    f"api_key: {SECRET}",
    f'desk = {{ kind = "webhook", secret = {SECRET} }}',
    f"url = postgresql://cep:{SECRET}@db/cep",
    f'where = "postgresql://cep:{SECRET}@db/cep" x',
    f'url = "https://desk.example/?key={SECRET}" x',
    f"PASSWORD={SECRET} x",
    f'secret = ["whsec_{SECRET}"',
    f'secrt = "whsec_TOKEN{SECRET}="',
    f'secret "whsec_{SECRET}="',
    f'headers = {{ Authorization = "Bearer {SECRET}==" }} x',
    f'signing = {{ key = "{SECRET}" }} x',
]


@pytest.mark.parametrize("line", LINES)
def test_a_mistake_in_the_line_of_a_secret_does_not_print_it(tmp_path: Path, line: str) -> None:
    (tmp_path / "job.toml").write_text(f'[job]\nname = "x"\n{line}\n', "utf-8")
    drawn = render_all(load_job(tmp_path / "job.toml", {}).diagnostics)
    assert drawn
    assert SECRET not in drawn


@pytest.mark.parametrize(
    "line",
    [
        'secret = "${DESK}"',
        'url = "sqlite:///state/outbox.db"',
        'url = "https://desk.example/cep"',
        'name = "x"',
    ],
)
def test_where_a_secret_stands_is_drawn(line: str) -> None:
    assert without_secrets(line) == line


@pytest.mark.parametrize("line", LINES)
def test_what_is_drawn_is_as_long_as_the_text(line: str) -> None:
    assert len(without_secrets(line)) == len(line)


def test_a_file_that_is_no_rule_file_is_not_repeated() -> None:
    text = f"AWS_KEY={SECRET}\nroot:x:0:0:{SECRET}\n"
    drawn = render_all(load_texts([("a.rules", text)]).diagnostics)
    assert "AWS_" + MARK in drawn
    assert SECRET not in drawn


def test_a_rule_file_is_drawn_as_it_is() -> None:
    drawn = render_all(load_texts([("a.rules", 'pack a version "1"\nrule r { on nowhere }\n')]).diagnostics)
    assert "rule r { on nowhere }" in drawn


def test_around_a_place_a_little_is_left() -> None:
    text = "".join(chr(97 + number % 26) for number in range(200))
    drawn = around(text, 100, 102, 10)
    assert len(drawn) == len(text)
    assert drawn.strip() == MARK + text[90:112] + MARK
    assert around("short", 1, 2, 10) == "short"
    assert len(around(text, 0, 200, 10).strip()) == 21


def test_of_lines_the_beginning_is_left() -> None:
    assert beginning("abcdefgh\nabc\n") == f"abcd{MARK}   \nabc\n"
