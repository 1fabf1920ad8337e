"""[[routes]] of a job file: read as written, and each mistake told at its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from alerts.matchers import Matchers
from alerts.routing import Branch, Branches, Route
from cep.config import load_job
from cep.config.job import Desk

HEAD = """[job]
name = "cards"
packs = "packs/"
state = "state/"
[feeds.payment]
source = "files"
path = "inbox/*.jsonl"
[receivers.desk]
kind = "console"
[receivers.pager]
kind = "console"
"""
LINES = HEAD.count("\n")
HOUR = 3_600 * 10**9


def found(folder: Path, text: str) -> list[tuple[str, str, int, str, str]]:
    file = folder / "job.toml"
    file.write_text(HEAD + text, "utf-8")
    return [
        (one.code, one.level, one.span.line - LINES if one.span else 0, one.message, one.help)
        for one in load_job(file, {}).diagnostics
    ]


def test_routes_are_read(tmp_path: Path) -> None:
    text = """[[routes]]
matchers = ["severity =~ critical|high", 'tags = "night"']
receivers = ["pager"]
continue = true
[[routes]]
matchers = { severity = "low", card_id = "!= c1", rule = "=~ a.*" }
receivers = []
[[routes]]
receivers = ["desk", "pager"]
[alerts]
episode = "30 minutes"
close_quiet = true
"""
    (tmp_path / "job.toml").write_text(HEAD + text, "utf-8")
    loaded = load_job(tmp_path / "job.toml", {})
    assert loaded.diagnostics == ()
    job = loaded.need()
    assert job.routes == Branches(
        (
            Branch(Matchers.of(["severity =~ critical|high", "tags = night"]), ("pager",), True),
            Branch(Matchers.of(["severity = low", "card_id != c1", "rule =~ a.*"]), ()),
            Branch(Matchers(), ("desk", "pager")),
        )
    )
    assert job.desk == Desk(HOUR // 2, True)


def test_without_routes_each_receiver_has_its_own(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(HEAD, "utf-8")
    job = load_job(tmp_path / "job.toml", {}).need()
    assert job.routes == [Route("desk"), Route("pager")]
    assert job.desk == Desk(HOUR, False)


@pytest.mark.parametrize(
    ("text", "code", "level", "line", "said", "help_"),
    [
        ('[[routes]]\nreceivers = ["desk", "pagr"]', "CEP0731", "error", 2, "no receiver `pagr`", "`pager`"),
        ('[[routes]]\nreceivers = [\n "desk",\n "x"]', "CEP0731", "error", 4, "no receiver `x`", ""),
        ('[[routes]]\nreceivers = "desk"', "CEP0705", "error", 2, "must be a list", '["desk"]'),
        ("[[routes]]\ncontinue = true", "CEP0704", "error", 1, "missing in [[routes]]", "desk"),
        ('[routes]\nreceivers = ["desk"]', "CEP0705", "error", 1, "`routes` must be a list", "[[routes]]"),
        (
            '[[routes]]\nreceivers = ["desk"]\nmatcher = []',
            "CEP0703", "error", 3, "unknown key `matcher`", "did you mean `matchers`?",
        ),
        (
            '[[routes]]\nreceivers = ["desk"]\n[[routes]]\nreceivers = []\nmatchers = [\n"a=b",\n"a =~ ("]',
            "CEP0706", "error", 7, "regular expression cannot be used: missing", "RE2",
        ),
        (
            '[[routes]]\nreceivers = ["desk"]\nmatchers = { rule = "=~ (" }',
            "CEP0706", "error", 3, "cannot be used: missing", "RE2",
        ),
        (
            '[[routes]]\nreceivers = ["desk", "pager"]\n\n[[routes]]\nreceivers = ["desk"]',
            "CEP0732", "warning", 4, "route 1 takes every one", "continue = true",
        ),
        ('[[routes]]\nreceivers = ["desk"]', "CEP0732", "warning", -1, "no route leads to `pager`", ""),
        ('[alerts]\nepisode = "0s"', "CEP0706", "error", 2, "no time at all", "1 hour"),
        ('[alerts]\nclose_quiet = "yes"', "CEP0705", "error", 2, "true or false", "true"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_at_its_line(
    tmp_path: Path, text: str, code: str, level: str, line: int, said: str, help_: str
) -> None:
    every = found(tmp_path, text)
    fitting = [one for one in every if one[:3] == (code, level, line)]
    assert [one for one in fitting if said in one[3] and help_ in one[4]], every


def test_what_a_receiver_says_itself_counts_no_more(tmp_path: Path) -> None:
    routes = '[[routes]]\nreceivers = ["desk", "pager", "log"]\n'
    told = found(tmp_path, f'{routes}[receivers.log]\nkind = "console"\nseverity = "high"\nrules = ["a"]')
    assert [(one[0], one[2]) for one in told] == [("CEP0732", 5), ("CEP0732", 6)]
