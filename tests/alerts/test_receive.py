"""The small receiver: what it accepts, what it refuses and why, and what it remembers."""

from __future__ import annotations

import http.client
import json
import resource
import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import standardwebhooks
from some_alerts import raised
from wayward_server import PATIENCE

from alerts.envelope import cloud_event
from alerts.receive import AlertReceiver, Received, ReceiveError
from alerts.receivers.webhook import WebhookReceiver
from alerts.signing import secret_key, signed_headers

pytestmark = pytest.mark.slow

SECRET = "whsec_" + "A" * 32
OTHER = "whsec_" + "B" * 32
ALERT = raised(1).alert
BODY = cloud_event(ALERT.to_json())
UTF_16 = '{"data": {}}'.encode("utf-16")
DEEP = b'{"data": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.fixture
def receiver() -> Iterator[AlertReceiver]:
    with AlertReceiver([SECRET]) as running:
        yield running


@pytest.fixture(scope="module")
def shared() -> Iterator[AlertReceiver]:
    """One for the tests that do not mind what others left in it: to stop it takes a fifth of a second."""
    with AlertReceiver([SECRET]) as running:
        yield running


def signed(
    body: bytes = BODY, id_: str = "m1", secret: str = SECRET, at: float | None = None
) -> dict[str, str]:
    return signed_headers([secret_key(secret)], id_, int(time.time() if at is None else at), body)


def post(
    receiver: AlertReceiver, headers: dict[str, str], body: bytes = BODY, method: str = "POST"
) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", receiver.port, timeout=PATIENCE)
    connection.request(method, "/any/path", body, headers)
    answer = connection.getresponse()
    text = answer.read().decode().strip()
    connection.close()
    return answer.status, text


def test_a_signed_alert_is_accepted_with_all_that_it_says(receiver: AlertReceiver) -> None:
    assert post(receiver, signed(at=time.time() - 200)) == (204, "")
    message = receiver.received[0]
    assert (message.id, message.body, message.alert) == ("m1", BODY, ALERT.as_dict())
    assert abs(message.timestamp - time.time() + 200) < 10
    assert receiver.counts == {"accepted": 1}


def test_what_the_published_package_signs_is_accepted(shared: AlertReceiver) -> None:
    now = datetime.now(UTC)
    headers = {"webhook-id": "x", "webhook-timestamp": str(int(now.timestamp()))}
    headers["webhook-signature"] = standardwebhooks.Webhook(SECRET).sign("x", now, BODY.decode())
    assert post(shared, headers)[0] == 204
    assert shared.received[-1].id == "x"


def test_an_id_counts_once(receiver: AlertReceiver) -> None:
    for _ in range(3):
        assert post(receiver, signed())[0] == 204
    assert len(receiver.received) == 1
    assert receiver.counts == {"accepted": 1, "repeated": 2}


@pytest.mark.parametrize(
    ("how", "body", "status", "reason"),
    [
        (None, BODY, 401, "the header webhook-id is missing"),
        ({"secret": OTHER}, BODY, 401, "no signature fits the body and a known secret"),
        ({"body": BODY + b" "}, BODY, 401, "no signature fits the body and a known secret"),
        ({"at": 1_000}, BODY, 401, "webhook-timestamp is too old, by more than 300 seconds"),
        ({"at": 9e12}, BODY, 401, "webhook-timestamp is too new, by more than 300 seconds"),
        ({"body": b"no json"}, b"no json", 400, "the body is no CloudEvent with data"),
        ({"body": b"[1]"}, b"[1]", 400, "the body is no CloudEvent with data"),
        ({"body": b'{"data": 5}'}, b'{"data": 5}', 400, "the data of the CloudEvent is no alert"),
        ({"body": b"\xff\xfe"}, b"\xff\xfe", 400, "the body is no CloudEvent with data"),
        ({"body": UTF_16}, UTF_16, 400, "the body is no CloudEvent with data"),
        ({"body": DEEP}, DEEP, 400, "the body is no CloudEvent with data"),
    ],
)
def test_a_refusal_gives_its_reason(
    shared: AlertReceiver, how: dict[str, Any] | None, body: bytes, status: int, reason: str
) -> None:
    headers = {} if how is None else signed(**how)
    before, received = dict(shared.counts), list(shared.received)
    assert post(shared, headers, body) == (status, reason)
    assert shared.received == received
    assert shared.counts == before | {str(status): before.get(str(status), 0) + 1}


def test_a_refused_id_can_still_be_accepted(shared: AlertReceiver) -> None:
    assert post(shared, signed(id_="refused", secret=OTHER))[0] == 401
    assert post(shared, signed(id_="refused"))[0] == 204
    assert shared.received[-1].id == "refused"


def test_only_posts_are_taken(shared: AlertReceiver) -> None:
    received = list(shared.received)
    assert post(shared, signed(id_="put"), method="PUT")[0] == 405
    assert shared.received == received


@pytest.mark.parametrize("chunked", [False, True])
def test_a_long_body_is_not_read_to_its_end(chunked: bool) -> None:
    with AlertReceiver([SECRET], most_bytes=1_000) as receiver:
        connection = http.client.HTTPConnection("127.0.0.1", receiver.port, timeout=PATIENCE)
        body = b"x" * 5_000
        connection.request("POST", "/", iter([body]) if chunked else body, encode_chunked=chunked)
        answer = connection.getresponse()
        assert (answer.status, answer.read().decode()) == (413, "an alert has at most 1000 bytes\n")
        connection.close()


def test_both_secrets_hold_while_one_is_replaced() -> None:
    with AlertReceiver([OTHER, SECRET]) as receiver:
        assert post(receiver, signed(id_="a"))[0] == 204
        assert post(receiver, signed(id_="b", secret=OTHER))[0] == 204


def test_without_a_secret_nothing_is_verified() -> None:
    with AlertReceiver([]) as receiver:
        assert post(receiver, {"webhook-id": "m1"})[0] == 204
        assert post(receiver, {})[0] == 400


def test_accepted_alerts_are_in_the_file_before_the_answer(tmp_path: Path) -> None:
    file = tmp_path / "received.jsonl"
    with AlertReceiver([SECRET], file=file, keep=False) as receiver:
        for n in range(3):
            assert post(receiver, signed(id_=f"m{n}"))[0] == 204
            lines = [json.loads(line) for line in file.read_text().splitlines()]
            assert [line["id"] for line in lines] == [f"m{i}" for i in range(n + 1)]
            assert lines[-1]["body"].encode() == BODY
        assert receiver.received == []


@pytest.mark.slow
def test_ids_in_the_file_are_remembered_and_a_torn_line_is_not_one(tmp_path: Path) -> None:
    file = tmp_path / "received.jsonl"
    with AlertReceiver([SECRET], file=file) as receiver:
        assert post(receiver, signed(id_="m1"))[0] == 204
    with file.open("a") as handle:
        handle.write('{"id": "m2", "timest')
    with AlertReceiver([SECRET], file=file) as receiver:
        assert post(receiver, signed(id_="m1"))[0] == 204
        assert post(receiver, signed(id_="m2"))[0] == 204
        assert receiver.counts == {"accepted": 1, "repeated": 1}
    with AlertReceiver([SECRET], file=file) as receiver:
        assert post(receiver, signed(id_="m2"))[0] == 204
        assert receiver.counts == {"repeated": 1}


def test_each_new_alert_is_handed_on_once() -> None:
    seen: list[Received] = []
    with AlertReceiver([SECRET], accepted=seen.append) as receiver:
        for id_ in ("a", "b", "a"):
            post(receiver, signed(id_=id_))
        assert [message.id for message in seen] == ["a", "b"]
        assert seen == receiver.received


def test_the_time_is_the_one_given() -> None:
    with AlertReceiver([SECRET], clock=lambda: 1_000.0, tolerance=10) as receiver:
        assert post(receiver, signed(id_="a", at=995))[0] == 204
        assert post(receiver, signed(id_="b", at=980))[0] == 401


def test_a_taken_port_is_reported(receiver: AlertReceiver) -> None:
    with pytest.raises(ReceiveError, match=f"cannot listen on 127.0.0.1:{receiver.port}"):
        AlertReceiver([SECRET], port=receiver.port).start()


def test_a_host_that_is_not_ours_is_reported() -> None:
    with pytest.raises(ReceiveError, match="cannot listen on"):
        AlertReceiver([SECRET], host="192.0.2.1").start()


def test_a_file_that_cannot_be_used_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ReceiveError, match="cannot be used"):
        AlertReceiver([SECRET], file=tmp_path / "no" / "folder.jsonl").start()


@pytest.mark.slow
def test_an_alert_that_cannot_be_kept_is_not_accepted(tmp_path: Path) -> None:
    file = tmp_path / "received.jsonl"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with AlertReceiver([SECRET], file=file) as receiver:
        assert post(receiver, signed(id_="m1"))[0] == 204
        resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 40, before[1]))
        try:
            full = [post(receiver, signed(id_="m2")) for _ in range(2)]
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert full == [(507, "the alert cannot be kept: File too large")] * 2
        assert post(receiver, signed(id_="m2"))[0] == 204
        assert receiver.counts == {"accepted": 2, "507": 2}
    with AlertReceiver([SECRET], file=file) as receiver:
        for id_ in ("m1", "m2"):
            assert post(receiver, signed(id_=id_))[0] == 204
        assert receiver.counts == {"repeated": 2}


def test_a_client_that_goes_away_harms_nobody(shared: AlertReceiver) -> None:
    with socket.create_connection(("127.0.0.1", shared.port)) as half:
        half.sendall(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{")
    assert post(shared, signed(id_="after"))[0] == 204
    assert shared.received[-1].id == "after"


def test_our_webhook_is_accepted(receiver: AlertReceiver) -> None:
    webhook = WebhookReceiver("desk", receiver.url, [OTHER, SECRET])
    assert webhook.send(ALERT.id, ALERT.to_json(), time.time_ns()).result == "delivered"
    webhook.close()
    assert receiver.received[0].id == ALERT.id


def test_an_ipv6_address_has_brackets_in_its_url() -> None:
    assert AlertReceiver([SECRET], host="::1", port=80).url == "http://[::1]:80/"
