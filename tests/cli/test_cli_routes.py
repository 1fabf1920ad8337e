"""`cep routes test` prints the way of an alert, by routes and without any."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cep_command import cep

JOB = """[job]
name = "cards"
packs = "packs/"
state = "state/"
[feeds.payment]
source = "files"
path = "inbox/*.jsonl"
[receivers.desk]
kind = "console"
severity = "medium"
[receivers.pager]
kind = "webhook"
url = "${PAGER}"
rules = ["card_testing"]
"""
ROUTES = """
[[routes]]
matchers = ["severity = critical"]
receivers = ["pager"]
[[routes]]
matchers = ["card_id =~ c.", "tags != test"]
receivers = ["desk"]
continue = true
[[routes]]
receivers = ["pager"]
[[routes]]
receivers = ["desk"]
"""
ALERT = {
    "id": "0" * 64,
    "pack": "fraud",
    "rule": "card_testing",
    "kind": "match",
    "severity": "high",
    "key": {"card_id": "c1"},
    "emit": {},
    "tags": [],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "job.toml").write_text(JOB + ROUTES, "utf-8")
    (tmp_path / "alert.json").write_text(json.dumps(ALERT), "utf-8")
    return tmp_path


def test_the_way_is_printed(folder: Path) -> None:
    done = cep("routes", "test", "alert.json", "--job", "job.toml", cwd=folder)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "route 1 (severity = critical): no, severity is `high`\n"
        "route 2 (card_id =~ c., tags != test): to desk, and on\n"
        "route 3 (every alert): to pager\n"
        "goes to desk, pager\n"
    )


def test_json_says_the_same_also_of_a_webhooks_body(folder: Path) -> None:
    done = cep(
        "routes",
        "test",
        "-",
        "--job",
        "job.toml",
        "--format",
        "json",
        cwd=folder,
        feed=json.dumps({"data": ALERT}),
    )
    told = json.loads(done.out)
    assert told["receivers"] == ["desk", "pager"]
    assert [one["taken"] for one in told["tried"]] == [False, True, True]
    before = cep("routes", "--format", "json", "test", "alert.json", "--job", "job.toml", cwd=folder)
    assert json.loads(before.out) == told


def test_without_routes_the_receivers_choose(folder: Path) -> None:
    (folder / "job.toml").write_text(JOB, "utf-8")
    (folder / "alert.json").write_text(json.dumps(ALERT | {"severity": "low"}), "utf-8")
    done = cep("routes", "test", "alert.json", "--job", "job.toml", cwd=folder)
    assert done.out == (
        "receiver desk (all rules, medium and worse): no, it is low of rule card_testing\n"
        "receiver pager (rules card_testing, info and worse): yes\n"
        "goes to pager\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no JSON"),
        ("[]", "no object"),
        ("{}", "`pack` is missing"),
        ('{"pack": 1}', "`pack`"),
        ("\xff", "UTF-8"),
    ],
)
def test_what_is_no_alert_is_told(folder: Path, text: str, said: str) -> None:
    (folder / "alert.json").write_bytes(text.encode("latin-1"))
    done = cep("routes", "test", "alert.json", "--job", "job.toml", cwd=folder)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "help:" in done.err


def test_what_may_hold_it_back_is_told(folder: Path) -> None:
    more = """
[receivers.third]
kind = "console"
group_by = ["rule"]
rate = "30 per minute"
order = "key"
[[mute_times]]
name = "always"
hours = ["00:00 to 24:00"]
receivers = ["third"]
[[mute_times]]
name = "of others"
days = ["1"]
receivers = ["desk"]
[[inhibit]]
by = { rule = "worse" }
of = { severity = "high" }
equal = ["card_id"]
for = "1 hour"
[[routes]]
receivers = ["third"]
"""
    (folder / "job.toml").write_text(JOB + more, "utf-8")
    done = cep("routes", "test", "alert.json", "--job", "job.toml", cwd=folder)
    assert done.code == 0
    first, *told = done.out.splitlines()[1:]
    assert first == "goes to third"
    assert told[0].startswith("mute time always (to third): holds now, until 2")
    inhibition = "inhibition 1 of job.toml (rule = worse of severity = high)"
    assert told[1:] == [
        f"{inhibition}: an alert of rule = worse with equal card_id holds it back for PT1H of event time",
        "group for third: rule = card_testing; waits PT30S for others, then PT5M between notifications",
        "rate of third: 30 per minute; what is over it goes together",
        "order of third: one of its key after another",
    ]
