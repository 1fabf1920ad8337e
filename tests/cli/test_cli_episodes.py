"""`cep episodes` and `cep alerts export` on the outbox of a stopped job."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from cep_command import Outcome, cep
from pyarrow import parquet

from alerts.alert import Alert
from alerts.identity import alert_id
from alerts.notation import timestamp
from alerts.outbox import BatchRecord, Outbox
from alerts.outbox.episodes import assign_some
from alerts.raised import Raised

pytestmark = pytest.mark.slow

SECOND = 10**9
JOB = """[job]
name = "cards"
packs = "packs/"
state = "state/"
[feeds.payment]
source = "files"
path = "inbox/*.jsonl"
[receivers.desk]
kind = "webhook"
url = "${GONE}"
"""


def raised(card: str, second: int, rule: str = "card_testing", severity: str = "high") -> Raised:
    id_ = alert_id("fraud", rule, "s", "event", [card], [("payment", [f"p{second}"])])
    alert = Alert(
        id_, "fraud", "r1", rule, "event", severity, timestamp(second * SECOND), {"card_id": card},
        f"{rule} on {card}", {}, {"payment": [f"p{second}"]}, [], None,
    )  # fmt: skip
    return Raised.of(alert, second * SECOND, (1,))


SOME = [
    raised("c1", 10),
    raised("c1", 20),
    raised("c\x1b[31m2", 30, severity="critical"),
    raised("c3", 40, "large", "low"),
]

ROWS = (
    r"open        critical  card_testing  c\x1b[31m2  1       1970-01-01T00:00:30Z  1970-01-01T00:00:30Z",
    "open quiet  high      card_testing  c1          2       1970-01-01T00:00:10Z  1970-01-01T00:00:20Z",
    "open        low       large         c3          1       1970-01-01T00:00:40Z  1970-01-01T00:00:40Z",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "job.toml").write_text(JOB, "utf-8")
    (tmp_path / "state").mkdir()
    outbox = Outbox.open(f"sqlite:///{tmp_path}/state/outbox.db")
    outbox.record(BatchRecord(0, "d", {"watermark": 3_620 * SECOND}), SOME, [])
    with outbox.writing() as connection:
        assign_some(connection, lambda *_: 3_600 * SECOND)
    outbox.close()
    return tmp_path


def episodes(folder: Path, *words: str) -> Outcome:
    return cep("episodes", *words, "--job", "job.toml", cwd=folder)


def test_the_queue_is_a_table(folder: Path) -> None:
    done = episodes(folder, "list")
    assert (done.code, done.err) == (0, "")
    heads = [SOME[n].id[:12] for n in (2, 0, 3)]
    head, *lines, last = done.out.splitlines()
    columns = "state       severity  rule          key         alerts  began                 ended"
    assert head == f"id            {columns}"
    assert lines == [f"{id_}  {rest}" for id_, rest in zip(heads, ROWS, strict=True)]
    assert last == "3 open, 0 acknowledged, 0 closed"
    told = json.loads(episodes(folder, "list", "--rule", "large", "--format", "json").out)
    assert [one["id"] for one in told["episodes"]] == [SOME[3].id]
    assert told["states"] == {"open": 3, "acknowledged": 0, "closed": 0}


def test_one_is_shown_with_its_alerts_by_any_of_them(folder: Path) -> None:
    by_first, by_second = (episodes(folder, "show", SOME[n].id[:8]).out for n in (0, 1))
    assert by_first == by_second
    assert by_first.splitlines()[0] == f"episode {SOME[0].id}"
    assert [line.split()[0] for line in by_first.splitlines()[3:]] == [SOME[0].id[:12], SOME[1].id[:12]]
    told = json.loads(episodes(folder, "show", SOME[0].id, "--format", "json").out)
    assert told["episode"]["id"] == SOME[0].id
    assert [one["id"] for one in told["alerts"]] == [SOME[0].id, SOME[1].id]


def test_a_person_works_through_the_queue(folder: Path) -> None:
    ids = [SOME[n].id for n in (0, 2, 3)]
    done = episodes(folder, "acknowledge", *ids[:2], "--by", "ann", "--note", "looking")
    assert done.out == "".join(f"{id_[:12]} is acknowledged\n" for id_ in ids[:2])
    assert "looking" in episodes(folder, "show", ids[0]).out
    done = episodes(folder, "close", ids[0], "--verdict", "true_positive", "--by", "ann")
    assert done.out == f"{ids[0][:12]} is closed, true_positive\n"
    episodes(folder, "close", ids[1], ids[2], "--verdict", "false_positive", "--note", "a test card")
    assert episodes(folder, "list").out == "0 open, 0 acknowledged, 3 closed\n"
    told = json.loads(episodes(folder, "precision", "--format", "json").out)["rules"]
    assert [(one["rule"], one["precision"]) for one in told] == [("card_testing", 0.5), ("large", 0.0)]
    assert "card_testing  50%        1     1      0       0" in episodes(folder, "precision").out
    assert episodes(folder, "reopen", ids[1]).out == f"{ids[1][:12]} is open\n"
    assert len(episodes(folder, "list").out.splitlines()) == 3
    assert len(episodes(folder, "list", "--state", "closed").out.splitlines()) == 4


def test_labels_are_exported(folder: Path) -> None:
    episodes(folder, "close", SOME[0].id, "--verdict", "true_positive", "--by", "ann", "--note", 'said "yes"')
    episodes(folder, "close", SOME[3].id, "--verdict", "duplicate")
    for name in ("labels.csv", "labels.parquet"):
        done = cep("alerts", "export", "--labels", name, "--job", "job.toml", cwd=folder)
        assert (done.code, done.out) == (0, f"3 labels in {name}\n")
    with (folder / "labels.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["alert"], row["episode"], row["label"], row["verdict"]) for row in rows] == [
        (SOME[0].id, SOME[0].id, "1", "true_positive"),
        (SOME[1].id, SOME[0].id, "1", "true_positive"),
        (SOME[3].id, SOME[3].id, "", "duplicate"),
    ]
    assert rows[0]["note"] == 'said "yes"'
    same = [{name: "" if value is None else str(value) for name, value in row.items()}
            for row in parquet.read_table(folder / "labels.parquet").to_pylist()]  # fmt: skip
    assert same == rows
    done = cep("alerts", "export", "--labels", "labels.txt", "--job", "job.toml", cwd=folder)
    assert (done.code, "neither CSV nor Parquet" in done.err) == (2, True)
    assert sorted(path.name for path in folder.iterdir()) == [
        "job.toml",
        "labels.csv",
        "labels.parquet",
        "state",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "0" * 64), "there is no alert"),
        (("show", "abc"), "there is no alert"),
        (("reopen", SOME[0].id), "it is open"),
        (("close", SOME[0].id), "--verdict"),
        (("close", SOME[0].id, "0" * 64, "--verdict", "benign"), "there is no alert"),
        (("acknowledge", SOME[0].id, "--note", "x" * 10_001), "10,000 characters"),
    ],
)
def test_what_cannot_be_done_is_told_and_changes_nothing(
    folder: Path, words: tuple[str, ...], said: str
) -> None:
    before = episodes(folder, "list").out
    done = episodes(folder, *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert episodes(folder, "list").out == before


def test_an_outbox_that_is_not_there_is_told(folder: Path) -> None:
    (folder / "state" / "outbox.db").rename(folder / "elsewhere.db")
    done = episodes(folder, "list")
    assert done.code == 3
    assert "CEP0805" in done.err
