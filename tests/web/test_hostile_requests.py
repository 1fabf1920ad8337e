"""Hostile texts in paths, parameters, headers and bodies: told in one short line, kept as text, never run."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from served import AT, Client, port
from some_desk import SOME

HOSTILE = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\x1b[2J\x1b[31m", "\u202egnp.exe",
    "a\r\nx: y", "\x00", "' OR 1=1 --", "../../etc/passwd", "{{7*7}}", "%s%n", "\ud7ff\ue000", "é" * 1_000,
    "x" * 1_000_000,
)  # fmt: skip
IDS = [one.id for one in SOME]
LONGEST_ANSWER = 2_000
LONG = 10_000
"""A request's line and headers are 16 KiB at most."""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with port(tmp_path_factory.mktemp("desk")) as found:
        yield found


def short(text: str) -> None:
    """An error is one line, without what moves a cursor, and repeats little."""
    assert len(text) < LONGEST_ANSWER
    assert text.isascii()
    assert text.isprintable()


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_nothing_hostile_comes_back_whole(
    client: Client, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    part = quote(text[:LONG], safe="")[:LONG]
    paths = (f"/alerts/{part}", f"/episodes/{part}", f"/rules/{part}/{part[:100]}", f"/deadletters/{part}")
    parameters = ("severity", "since", "key", "limit", "cursor", text[:50])
    asked = [("GET", path) for path in paths]
    asked += [("GET", f"/alerts?{quote(name, safe='')}={part}") for name in parameters]
    asked += [("POST", f"/receivers/{part}/test"), ("DELETE", f"/silences/{part}")]
    with caplog.at_level(logging.DEBUG):
        for method, path in asked:
            answer = client.ask(method, AT + path, None, "DESK_TOKEN")
            assert answer.status in (400, 404) or answer.value == {"alerts": [], "next": None}, path[:80]
            short(answer.text)
    assert all("\n" not in one.getMessage() for one in caplog.records)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_a_hostile_body_is_refused_or_kept_as_text(client: Client, text: str) -> None:
    bodies = (
        ("/episodes/close", {"episodes": [text], "verdict": text}),
        ("/silences", {"matchers": [text], "why": text, "length": text}),
        ("/redeliver", {"receiver": text, "filter": {"rule": text, text: text}}),
        ("/alerts/redeliver", {"alerts": [text], "receiver": text}),
        ("/episodes/acknowledge", {text: text}),
    )
    for path, body in bodies:
        answer = client.post(path, body)
        assert answer.status in (400, 404, 413), path
        short(answer.text)
    noted = client.post(f"/episodes/{IDS[0]}/acknowledge", {"note": text})
    if len(text) > LONG or "\0" in text:
        assert noted.status in (400, 413)
        short(noted.text)
    else:
        assert noted.value["note"] == text
        shown = client.ask("GET", f"{AT}/episodes/{IDS[0]}")
        assert shown.text.isascii(), "escaped on the wire, whatever it is"
        assert shown.value["episode"]["note"] == text
        assert shown.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "name", ["authorization", "host", "content-type", "x-forwarded-for", "content-length"]
)
@pytest.mark.parametrize("value", ["<script>", "\x1b[2J", "x" * 15_000, "é", "-1", "1e9"])
def test_a_hostile_header_is_told_in_short(client: Client, name: str, value: str) -> None:
    client.clock.now += 60
    answer = client.ask("GET", f"{AT}/status", None, None, {name: value})
    assert answer.status in (200, 400, 401), answer.text
    if answer.status != 200:
        assert len(answer.text) < LONGEST_ANSWER
        assert value not in answer.text or name == "host"


def test_who_acts_is_the_token_whatever_the_request_says(client: Client) -> None:
    client.ask("POST", f"{AT}/receivers/desk/resume?", b'{"by": "ben"}', "DESK_TOKEN", {"x-user": "ben"})
    client.post("/receivers/desk/resume")
    (newest, *_) = client.get("/audit", "DESK_TOKEN").value["acts"]
    assert (newest["who"], newest["what"]) == ("ann", "receiver resume")


def test_a_mistake_of_ours_is_told_without_its_insides(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with port(tmp_path) as own:
        with own.desk.outbox.writing() as connection:
            connection.exec_driver_sql("DROP TABLE outbox_episodes")
        answer = own.get("/episodes")
    assert answer.status in (500, 503)
    assert "Traceback" not in answer.text
    assert "SELECT" not in answer.text
    short(answer.text)
    assert all(one.getMessage() for one in caplog.records)
