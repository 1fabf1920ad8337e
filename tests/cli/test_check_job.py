"""`cep check --job` tells what a start of the job would tell, in every format, and makes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cep_command import Outcome, cep

from cep.job.state_folder.folder import StateFolder

pytestmark = pytest.mark.slow

RULES = """pack cards version "1"
stream payment { payment_id: string  at: timestamp  amount: double  id payment_id  time at }
rule big { severity high  on payment[amount > 100]  emit amount }
test big "a large one" { at 0s payment { amount: 200 }  expect at 0s {} }
"""
JOB = """[job]
name = "cards"
packs = "packs/"
state = "state/"

[feeds.payment]
source = "files"
path = "inbox/*.jsonl"

[receivers.desk]
kind = "webhook"
url = "https://desk.example/"
secret = "${NOT_HERE}"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("packs", "inbox"):
        (tmp_path / name).mkdir()
    (tmp_path / "packs" / "cards.rules").write_text(RULES)
    (tmp_path / "inbox" / "a.jsonl").touch()
    (tmp_path / "job.toml").write_text(JOB)
    return tmp_path


def checked(folder: Path, old: str = "", new: str = "", *more: str) -> Outcome:
    assert old in JOB
    (folder / "job.toml").write_text(JOB.replace(old, new, 1) if old else JOB)
    before = sorted(folder.rglob("*"))
    told = cep("check", "--job", "job.toml", *more, cwd=folder)
    assert sorted(folder.rglob("*")) == before
    return told


@pytest.mark.slow
def test_a_job_that_is_well_says_nothing_and_asks_for_no_secret(folder: Path) -> None:
    told = checked(folder)
    assert (told.code, told.out) == (0, "1 rule, 0 errors, 0 warnings\n")


@pytest.mark.parametrize(
    ("old", "new", "code", "line", "exit_"),
    [
        ("inbox/*.jsonl", "inbox/.*\\\\.jsonl", "CEP0740", 8, 0),
        ("inbox/*.jsonl", "inbx/*.jsonl", "CEP0952", 8, 1),
        ("feeds.payment", "feeds.paymnt", "CEP0710", 6, 1),
        ('name = "cards"', 'nam = "cards"', "CEP0703", 2, 1),
        ("packs/", "pakcs/", "CEP0720", 3, 1),
        ("state/", "job.toml", "CEP0721", 4, 1),
        ('kind = "webhook"', 'kind = "webhook"\nrules = ["bigg"]', "CEP0714", 12, 0),
    ],
)
def test_a_mistake_is_told_at_its_line(
    folder: Path, old: str, new: str, code: str, line: int, exit_: int
) -> None:
    told = checked(folder, old, new)
    assert told.code == exit_, told.out + told.err
    assert f"[{code}]" in told.out
    assert f"job.toml:{line}:" in told.out
    assert checked(folder, old, new, "--strict").code == 1
    found = json.loads(checked(folder, old, new, "--format", "json").out)["diagnostics"]
    assert (code, line) in [(one["code"], one["line"]) for one in found]


def test_a_state_folder_of_other_shards_is_told_as_a_start_tells_it(folder: Path) -> None:
    state = StateFolder(folder / "state")
    state.make()
    state.settle_layout(3, 4, ("payment",))
    told = checked(folder, "[job]\n", "[job]\nshards = 2\n")
    assert (told.code, "CEP0722" in told.out + told.err) == (1, True), told


def test_a_pack_is_tried_in_the_job(folder: Path) -> None:
    other = RULES.replace("stream payment", "stream refund").replace("on payment", "on refund")
    (folder / "new.rules").write_text(other.replace("at 0s payment", "at 0s refund"))
    told = checked(folder, "", "", "new.rules")
    assert told.code == 1
    assert "error[CEP0711]" in told.out
    assert "`refund`" in told.out


def test_a_pack_with_an_error_is_told_beside_the_job(folder: Path) -> None:
    (folder / "packs" / "cards.rules").write_text(RULES.replace("amount > 100", "amout > 100"))
    told = checked(folder, "inbox/*", "empty*/*")
    assert "[CEP0202]" in told.out
    assert "[CEP0740]" in told.out


def test_nothing_to_check_is_told() -> None:
    told = cep("check")
    assert told.code == 2
    assert "which packs are to be checked?" in told.err
    assert "cep check --job job.toml" in told.err
