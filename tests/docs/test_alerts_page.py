"""docs/alerts.md is true: its examples are taken out of it and run, its tables compared with the code."""

from __future__ import annotations

import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from ports import free_port
from standardwebhooks import Webhook

from alerts.alert import Alert, Kind
from alerts.breaker import Trip
from alerts.codes import TITLES
from alerts.envelope import cloud_event
from alerts.lane import Schedule
from alerts.outbox import BatchRecord, Outbox, Settled
from alerts.outbox.record import REMEMBERED
from alerts.outbox.schema import alerts, deliveries, metadata
from alerts.raised import Raised
from alerts.receive import MOST_BYTES, AlertReceiver
from alerts.receivers.console import text_line
from alerts.receivers.smtp import SmtpWire
from alerts.receivers.templates import NAMES
from alerts.receivers.webhook import Limits, WebhookReceiver
from alerts.routing import Route
from alerts.signing import TOLERANCE, secret_key
from alerts.standing import SHOWN
from cep.config import load_job
from cep.config.receiver_kinds import OPTIONS
from rules.packs import load_texts

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/alerts.md").read_text(encoding="utf-8")
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@cache
def blocks(language: str) -> list[str]:
    """The fenced blocks of a language, in the order of the page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def only(language: str, part: str = "") -> str:
    """The one block of the language that has a part in it."""
    found = [block for block in blocks(language) if part in block]
    assert len(found) == 1, f"{len(found)} blocks of {language} with {part!r}"
    return found[0]


def table(first_cell: str) -> dict[str, str]:
    """The table whose head begins so: first column to the rest, without backquotes."""
    lines = TEXT.replace("`", "").splitlines()
    heads = [n for n, line in enumerate(lines) if line.startswith("| --- |")]
    (start,) = [n - 1 for n in heads if lines[n - 1].startswith(f"| {first_cell} |")]
    found = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        name, _, rest = line.strip("| ").partition(" | ")
        found[name] = rest
    return found


def an_alert() -> dict[str, Any]:
    """The alert that the page shows."""
    found: dict[str, Any] = next(one for block in blocks("json") if "emit" in (one := json.loads(block)))
    return found


def alert_line() -> str:
    """The example as the outbox keeps it."""
    return Alert(**an_alert()).to_json()


def python(code: str, *arguments: str, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_pack_raises_the_alert(tmp_path: Path) -> None:
    (tmp_path / "fraud.rules").write_text(only("rules"))
    (tmp_path / "p.jsonl").write_text(only("jsonl"))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "cep.cli.main", "eval", "fraud.rules"),
            *("--events", "payment=p.jsonl", "--output", "-", "--drain"),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == alert_line() + "\n", "write this alert into the page, in all its places"


def test_every_field_and_kind_is_reported_in_order() -> None:
    assert list(an_alert()) == list(table("field")) == list(Alert.__slots__)
    assert list(table("kind")) == list(get_args(Kind))


def test_the_id_is_what_the_page_says_it_is(tmp_path: Path) -> None:
    code = only("python", "hashlib")
    assert python(code, cwd=tmp_path).strip() == an_alert()["id"]
    assert f'"{structure(only("rules"))}"' in code


def structure(text: str) -> str:
    pack = load_texts([("fraud.rules", text)]).need()
    return pack.rules[0].structure


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("amount < 2", "amount < 3", False),
        ("severity high", "severity low", False),
        ("emit     card_id, n", "emit     card_id, again = big.amount, n", False),
        (", country = big.country", "", True),
        ("{n} probes on", "{n} small payments on", False),
        ("within   10 minutes", "within   11 minutes", True),
        ("{3,}", "{4,}", True),
        ("probe: payment", "tries: payment", True),
        ("lateness    2 minutes", "lateness    3 minutes", True),
        ("amount = big.amount", "amount = big.amount, sum = sum(probe.amount)", True),
    ],
)
def test_ids_change_with_what_the_page_names_and_with_nothing_else(old: str, new: str, changes: bool) -> None:
    text = only("rules")
    assert old in text
    other = text.replace(old, new)
    if "tries" in new:
        other = other.replace("count(probe)", "count(tries)")
    if "country" in old:
        other = other.replace(" in {country}", "")
    assert (structure(text) != structure(other)) == changes


def test_job_toml_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "packs").mkdir()
    (tmp_path / "job.toml").write_text(only("toml"))
    loaded = load_job(tmp_path / "job.toml", {"DESK_SECRET": SECRET})
    assert loaded.diagnostics == ()
    assert loaded.job is not None
    assert [r.route for r in loaded.job.receivers] == [
        Route("desk", frozenset({"card_testing"}), "medium"),
        Route("screen"),
    ]
    unsigned = only("toml").replace('secret = "${DESK_SECRET}"', "")
    (tmp_path / "job.toml").write_text(unsigned)
    assert [d.code for d in load_job(tmp_path / "job.toml", {}).diagnostics] == ["CEP0716"]


def test_the_message_is_what_goes_over_the_wire() -> None:
    event = json.loads(only("json", "specversion"))
    body = cloud_event(alert_line())
    assert json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode() == body
    headers = dict(line.split(": ", 1) for line in only("http").splitlines())
    moment = datetime.fromtimestamp(int(headers["webhook-timestamp"]), UTC)
    assert headers["webhook-id"] == event["id"]
    signature = Webhook(SECRET).sign(headers["webhook-id"], moment, body.decode())
    assert headers["webhook-signature"] == signature, "write this signature into the page"
    sent = sent_headers(event["id"])
    assert headers.keys() == sent.keys() - {"host", "content-length", "accept-encoding"}
    for name in ("content-type", "user-agent", "webhook-id"):
        assert headers[name] == sent[name]


def sent_headers(id_: str) -> dict[str, str]:
    """The headers that a webhook really sends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        receiver = WebhookReceiver(
            "desk", f"http://127.0.0.1:{listener.getsockname()[1]}/", [SECRET], limits=Limits(read=0.1)
        )
        receiver.send(id_, alert_line(), time.time_ns())
        receiver.close()
        connection, _ = listener.accept()
        with connection:
            head = connection.makefile("rb").read().split(b"\r\n\r\n")[0].decode()
    return {name.lower(): value for name, value in (line.split(": ", 1) for line in head.split("\r\n")[1:])}


@contextmanager
def desk(folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The page's receiver, running."""
    (folder / "desk.py").write_text(only("python", "class Desk"))
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "desk.py", str(port)],
        cwd=folder,
        env={**os.environ, "DESK_SECRET": SECRET},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        end = time.monotonic() + 120
        while True:
            with socket.socket() as knock:
                if knock.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None
            assert time.monotonic() < end, "the page's receiver does not listen"
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}/", process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_the_receiver_of_the_page_verifies_and_remembers(tmp_path: Path) -> None:
    line = alert_line()
    other = Alert(**{**an_alert(), "id": "0" * 64, "summary": "another"})
    with desk(tmp_path) as (url, process):
        good = WebhookReceiver("desk", url, [SECRET])
        bad = WebhookReceiver("desk", url, ["whsec_" + "A" * 32])
        unsigned = WebhookReceiver("desk", url, [])
        now = time.time_ns()
        assert bad.send(other.id, other.to_json(), now).detail == "401"
        assert unsigned.send(other.id, other.to_json(), now).detail == "401"
        assert good.send(other.id, other.to_json(), now - 301 * 10**9).detail == "401"
        for _ in range(2):
            assert good.send(an_alert()["id"], line, now).result == "delivered"
        assert good.send(other.id, other.to_json(), now).result == "delivered"
        process.kill()
        out = process.communicate()[0]
    assert out == "high 3 probes on c1, then 900 in NG\nhigh another\n"


def test_the_secret_that_the_page_makes_is_one(tmp_path: Path) -> None:
    made = python(only("python", "token_bytes"), cwd=tmp_path).strip()
    assert len(secret_key(made)) == 32
    Webhook(made)


def test_the_console_prints_the_line_of_the_page() -> None:
    assert only("text") == text_line(an_alert()) + "\n"
    assert text_line({**an_alert(), "suppressed": 4}).endswith("(+4 withheld)")


def test_the_options_of_every_kind_are_those_of_the_code() -> None:
    written = {kind: re.findall(r"\b[a-z_]{2,}\b", rest) for kind, rest in table("of kind").items()}
    for kind, (needed, may) in OPTIONS.items():
        assert {*needed, *may} <= set(written[kind]), kind
    assert list(written) == [*(kind for kind in OPTIONS if kind != "console"), "console"]


def test_the_numbers_of_breakers_and_mail_are_those_of_the_code() -> None:
    trip, wire = Trip(), SmtpWire()
    assert (trip.unanswered, trip.attempts, trip.share, trip.window, trip.pause) == (
        3,
        10,
        0.5,
        60,
        5 * 86_400,
    )
    assert (wire.connect, wire.total) == (5, 30)
    assert list(table("state")) == list(SHOWN)
    assert set(table("name")) == {"alert", "alerts", "count, more", "key", "receiver", "test"}
    assert {word for name in table("name") for word in name.split(", ")} == set(NAMES)


def test_the_numbers_of_the_page_are_those_of_the_code() -> None:
    how, limits = table("what"), Limits()
    schedule = Schedule()
    assert (schedule.first, schedule.longest, schedule.probe) == (1, 3600, 30)
    assert how["pause after attempt n"].endswith("from 0 to 2^(n-1) seconds, at most to 1 hour")
    assert how["attempts"].startswith(f"{schedule.attempts}, which take about three days")
    mean = sum(min(3600, 2 ** (n - 1)) / 2 for n in range(1, schedule.attempts)) / 86_400
    assert 2.9 < mean < 3.2
    assert how["to connect"] == f"{limits.connect:g} seconds"
    assert how["each wait for data"] == f"{limits.read:g} seconds"
    assert how["the whole exchange"].startswith(f"{limits.total:g} seconds")
    receiver = WebhookReceiver("desk", "http://x/", [])
    assert how["under way at once"].startswith(f"{receiver.in_flight} for a webhook")
    receiver.close()
    answers = table("it answers")
    assert (answers["413"], MOST_BYTES) == ("more than 1 MiB", 2**20)
    assert f"more than {TOLERANCE} seconds away" in answers["401"]
    assert f"the last {REMEMBERED:,} batches" in table("table")["outbox_batches"]


def test_every_table_and_code_of_the_outbox_is_reported() -> None:
    reported = table("table")
    assert set(reported) == set(metadata.tables)
    for one in (alerts, deliveries):
        assert set(re.findall(r"\w+", reported[one.name])) >= {
            column.name for column in one.columns if column.name not in ("receiver", "alert", "recorded_at")
        }
    assert table("code") == dict(TITLES)


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    """Three alerts for three receivers: one delivered, one given up, others waiting."""
    (tmp_path / "state").mkdir()
    box = Outbox.open(f"sqlite:///{tmp_path}/state/outbox.db", durable=False)
    alert = Alert(**an_alert())
    some = [Raised.of(replace(alert, id=f"{n:064x}"), n, (n,)) for n in range(3)]
    box.record(BatchRecord(0, "d", {}), some, [Route("desk"), Route("old")])
    later = 4_000_000_000 * 10**9
    box.settle(
        [
            Settled("desk", 1, "delivered", 1, "204", None, 0),
            Settled("desk", 2, "failed", 160, "500: oh", None, 0),
            Settled("desk", 3, "pending", 4, "503: busy", later, 0),
        ]
    )
    yield box
    box.close()


def sql(folder: Path, part: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / "state/outbox.db")) as connection, connection:
        rows = connection.execute(only("sql", part)).fetchall()
    connection.close()
    return rows


def test_the_outbox_can_be_asked_as_the_page_does(outbox: Outbox, tmp_path: Path) -> None:
    assert sorted(sql(tmp_path, "GROUP BY"), key=str) == [
        ("desk", "delivered", 1, 1),
        ("desk", "failed", 1, 160),
        ("desk", "pending", 1, 4),
        ("old", "pending", 3, 0),
    ]
    rows = sql(tmp_path, "ORDER BY")
    assert len(rows) == outbox.pending("desk") + outbox.pending("old")
    busy = ("desk", f"{2:064x}", "card_testing", 4, "2096-10-02 07:06:40", "503: busy")
    assert [row for row in rows if row[0] == "desk"] == [busy]


@pytest.mark.slow
def test_what_has_failed_is_sent_again_as_the_page_does(outbox: Outbox, tmp_path: Path) -> None:
    assert outbox.due("desk", time.time_ns(), 10) == []
    reported = python(only("python", "redeliver"), cwd=tmp_path)
    assert reported == "1 failed deliveries are pending again\n"
    now = time.time_ns()
    assert sorted((due.number, due.attempts) for due in outbox.due("desk", now, 10)) == [(2, 0), (3, 4)]


def test_a_receiver_is_given_up_as_the_page_does(outbox: Outbox, tmp_path: Path) -> None:
    sql(tmp_path, "given up by hand")
    assert outbox.unserved(["desk"]) == {}
    assert outbox.status()["old"].failed == 3
    assert outbox.pending("desk") == 1
    assert outbox.redeliver("old") == 3, "it can be taken back"


def test_outcomes_read_as_the_page_shows_them() -> None:
    nobody = WebhookReceiver("desk", f"http://127.0.0.1:{free_port()}/", [SECRET])
    assert "... " + nobody.send("x", alert_line(), 0).detail.partition("] ")[2] in table("outcome")
    nobody.close()
    with AlertReceiver([SECRET]) as receiver:
        stranger = WebhookReceiver("desk", receiver.url, ["whsec_" + "A" * 32])
        assert stranger.send("x", alert_line(), time.time_ns()).detail.startswith("401: no signature fits")
        stranger.close()


def test_the_links_within_the_page_lead_somewhere() -> None:
    headings = re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", TEXT)) <= anchors
