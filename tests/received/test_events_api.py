"""POST /events/STREAM over HTTP: what is answered, and what is on disk then."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from served import PATIENCE, Answer, Client, port
from some_desk import TOKENS

from cep.sources.http.intake import Intake
from cep.sources.http.segments import Position, path_of
from cep.web.api.events import LONGEST

pytestmark = pytest.mark.slow

LINES = {"content-type": "application/x-ndjson"}
ONE = {"content-type": "application/cloudevents+json"}
BATCH = {"content-type": "application/cloudevents-batch+json; charset=utf-8"}
PATH = "/api/v1/events/payment"


@pytest.fixture
def intake(tmp_path: Path) -> Iterator[Intake]:
    one = Intake(tmp_path / "log", 64 << 20)
    one.start(Position())
    yield one
    one.stop()


@pytest.fixture
def client(tmp_path: Path, intake: Intake) -> Iterator[Client]:
    with port(tmp_path, intakes={"payment": intake}) as found:
        yield found


def send(client: Client, body: bytes, headers: dict[str, str] | None = None, path: str = PATH) -> Answer:
    return client.ask("POST", path, body, "SHOP_TOKEN", LINES if headers is None else headers)


def kept(intake: Intake) -> list[object]:
    """What is on disk, line by line."""
    return [json.loads(line) for line in path_of(intake.folder, 1).read_bytes().splitlines()]


def test_lines_are_taken_and_on_disk_when_that_is_told(client: Client, intake: Intake) -> None:
    answer = send(client, b'{"a": 1}\r\n\n  {"a": "\xc3\xa9"}\n5')
    assert (answer.status, answer.value) == (202, {"taken": 3})
    assert kept(intake) == [{"a": 1}, {"a": "é"}, 5]
    assert send(client, b" \n\n").value == {"taken": 0}
    assert len(kept(intake)) == 3


def test_lines_that_are_no_json_are_named_and_the_rest_is_kept(client: Client, intake: Intake) -> None:
    bad = (b"{", b"\xff", b"NaN", b'{"a": 01}', b"[" * 100_000)
    answer = send(client, b'{"a": 1}\n' + b"\n".join(bad) + b'\n{"a": 2}\n')
    assert answer.status == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.value["code"], answer.value["taken"]) == ("CEP0977", 2)
    assert answer.value["title"] == "of 7 lines these are no JSON: 2, 3, 4, 5, 6"
    assert kept(intake) == [{"a": 1}, {"a": 2}]
    many = send(client, b"x\n" * 1_000)
    assert many.value["title"].endswith("19, 20 and 980 more")


def test_cloud_events_become_their_data_with_the_context_beside_it(client: Client, intake: Intake) -> None:
    event = {
        "specversion": "1.0", "id": "e1", "source": "/shop", "type": "paid", "time": "2026-01-05T09:00:00Z",
        "data": {"payment_id": "p1", "ce_type": "own"},
    }  # fmt: skip
    assert send(client, json.dumps(event).encode(), ONE).value == {"taken": 1}
    assert send(client, json.dumps([event, event]).encode(), BATCH).value == {"taken": 2}
    assert send(client, b"[]", BATCH).value == {"taken": 0}
    wanted = {
        "ce_id": "e1", "ce_source": "/shop", "ce_type": "own", "ce_time": "2026-01-05T09:00:00Z",
        "payment_id": "p1",
    }  # fmt: skip
    assert kept(intake) == [wanted] * 3
    for body in (b"[", b"[5]", b'[{"id": "x"}]', json.dumps([event, {"data": "text"}]).encode()):
        answer = send(client, body, BATCH)
        assert (answer.status, answer.value["code"]) == (400, "CEP0977")
    assert len(kept(intake)) == 3, "of these nothing is kept"


@pytest.mark.slow
def test_compressed_bodies_are_bounded_by_what_they_hold(client: Client, intake: Intake) -> None:
    zipped = LINES | {"content-encoding": "gzip"}
    assert send(client, gzip.compress(b'{"a": 1}\n' * 1_000), zipped).value == {"taken": 1_000}
    bomb = gzip.compress(b" " * (LONGEST + 1))
    assert (send(client, bomb, zipped).status, len(bomb) < 100_000) == (413, True)
    for body in (b"no gzip", gzip.compress(b'{"a": 1}')[:-4]):
        answer = send(client, body, zipped)
        assert (answer.status, answer.value["title"]) == (400, "the body is no whole gzip")
    assert send(client, b"{}", LINES | {"content-encoding": "br"}).status == 415
    assert len(kept(intake)) == 1_000


def test_what_cannot_be_taken_is_refused_with_a_code(client: Client, intake: Intake) -> None:
    for headers in ({}, {"content-type": "text/csv"}):
        answer = send(client, b"{}", headers)
        assert (answer.status, answer.value["code"]) == (415, "CEP0964")
    answer = send(client, b"{}", path="/api/v1/events/paymnt")
    assert (answer.status, answer.value["code"]) == (404, "CEP0966")
    assert "did you mean `payment`?" in answer.value["help"]
    assert send(client, b" " * (LONGEST + 1)).status == 413
    assert client.ask("GET", PATH, None, "SHOP_TOKEN").status == 405
    assert kept(intake) == []


def test_a_job_that_starts_takes_nothing(tmp_path: Path) -> None:
    with port(tmp_path, starting=True) as client:
        answer = send(client, b"{}")
    assert (answer.status, answer.value["code"], answer.headers["retry-after"]) == (503, "CEP0968", "1")


def test_too_much_that_waits_is_told_and_nothing_of_the_body_is_kept(tmp_path: Path) -> None:
    one = Intake(tmp_path / "log", 20)
    one.start(Position())
    with port(tmp_path, intakes={"payment": one}) as client:
        assert send(client, b'{"a": 1}').status == 202
        answer = send(client, b'{"a": 2}\n{"a": 3}')
    one.stop()
    assert (answer.status, answer.value["code"], answer.headers["retry-after"]) == (429, "CEP0976", "1")
    assert kept(one) == [{"a": 1}]


def test_a_disk_that_refuses_is_told(client: Client, intake: Intake, monkeypatch: pytest.MonkeyPatch) -> None:
    from cep.sources.http import appending as module

    def refuse(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(module.os, "fsync", refuse)
        answer = send(client, b'{"a": 1}')
    assert (answer.status, answer.value["code"]) == (507, "CEP0978")
    assert "no space left on device" in answer.value["title"]
    assert send(client, b'{"a": 2}').status == 202
    assert kept(intake) == [{"a": 2}]


def test_clients_at_once_have_their_lines_each_once(client: Client, intake: Intake) -> None:
    def bring(number: int) -> int:
        return send(client, b"".join(b'{"a": %d}\n' % (number * 100 + n) for n in range(100))).status

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(bring, range(24))) == {202}
    assert sorted(one["a"] for one in kept(intake)) == list(range(2_400))  # type: ignore[index, call-overload]


def test_a_client_that_goes_leaves_nothing_half(client: Client, intake: Intake) -> None:
    with socket.create_connection(("127.0.0.1", client.port), PATIENCE) as one:
        head = f"POST {PATH} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKENS['SHOP_TOKEN']}\r\n"
        one.sendall(head.encode() + b"content-type: application/x-ndjson\r\ncontent-length: 100\r\n\r\n")
        one.sendall(b'{"a": 1}\n{"a"')
    assert send(client, b'{"a": 2}').status == 202
    assert kept(intake) == [{"a": 2}]
