"""Every kind of receiver tells of several alerts at once: over real servers, read by published packages."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
import standardwebhooks
from cloudevents.core.bindings.http import HTTPMessage, from_structured_event
from some_alerts import SECOND, raised
from stores import outbox_url
from test_alertmanager import PUBLISHED
from test_people import KEY, pagerduty
from wayward_server import PATIENCE, Answer, WaywardServer

from alerts.dispatch import Dispatcher
from alerts.due import Made
from alerts.grouping import Grouping, Manner
from alerts.lane import Schedule
from alerts.listeners import Listeners
from alerts.outbox import BatchRecord, Outbox
from alerts.receive import AlertReceiver
from alerts.receivers.console import ConsoleReceiver
from alerts.receivers.json_lines import FileReceiver
from alerts.receivers.pagerduty import PagerDutyReceiver
from alerts.receivers.receiver import Grouped, Outcome
from alerts.receivers.slack import SlackReceiver
from alerts.receivers.webhook import WebhookReceiver
from alerts.routing import Route
from alerts.settings import Settings

pytestmark = pytest.mark.usefixtures("store")

SECRET = "whsec_" + "A" * 32
ALERTS = [raised(n, key="c1").alert for n in (1, 2, 3)]
ID = "f" * 64
GROUP = Made(7, ID, tuple(one.to_json() for one in ALERTS), 5)
NOW = 1_767_600_000 * SECOND


@pytest.fixture
def server() -> Iterator[WaywardServer]:
    with WaywardServer() as wayward:
        yield wayward


def sent(receiver: Grouped, group: Made = GROUP, now: int = NOW) -> Outcome:
    outcome = receiver.send_group(group, now)
    receiver.close()
    return outcome


def test_a_group_is_a_signed_cloud_event(server: WaywardServer) -> None:
    receiver = WebhookReceiver("desk of a", server.url, [SECRET])
    assert sent(receiver, now=time.time_ns()).result == "delivered"
    (call,) = server.calls
    standardwebhooks.Webhook(SECRET).verify(call.body, call.headers)
    event = from_structured_event(HTTPMessage(call.headers, call.body))
    assert event.get_id() == call.headers["webhook-id"] == ID
    assert event.get_type() == "cep.alerts.v1"
    assert event.get_source() == "/cep/notifications/desk%20of%20a"
    told = event.get_data()
    assert told == {"id": ID, "count": 5, "more": 2, "alerts": [one.as_dict() for one in ALERTS]}


def test_every_attempt_has_the_same_bytes(server: WaywardServer) -> None:
    for later in (0, 60):
        assert sent(WebhookReceiver("desk", server.url, [SECRET]), now=NOW + later * SECOND).result
    assert len({(call.id, call.body) for call in server.calls}) == 1


def test_alertmanagers_body_has_all_of_them(server: WaywardServer) -> None:
    assert sent(WebhookReceiver("desk", server.url, [], format="alertmanager")).result == "delivered"
    body = json.loads(server.calls[0].body)
    jsonschema.validate(body, PUBLISHED)
    assert body["truncatedAlerts"] == 2
    assert [one["annotations"]["alert_id"] for one in body["alerts"]] == [one.id for one in ALERTS]
    assert body["groupLabels"]["card_id"] == "c1"


def test_slack_gets_one_message() -> None:
    with WaywardServer(lambda _: Answer(200, body=b"ok")) as server:
        assert sent(SlackReceiver("desk", server.url)).result == "delivered"
        (call,) = server.calls
    assert json.loads(call.body)["text"].splitlines()[0] == "5 alerts, the newest 3 of them:"


def test_pagerduty_gets_one_event_about_one_incident() -> None:
    with WaywardServer(pagerduty) as server:
        receiver = PagerDutyReceiver("desk", KEY, server.url)
        assert receiver.apart
        assert sent(receiver) == Outcome("delivered", "202")
        event = json.loads(server.calls[0].body)
    assert event["dedup_key"] == "fraud/card_testing/c1"
    assert event["payload"]["summary"].endswith("(the newest of 5 alerts)")
    details = event["payload"]["custom_details"]
    assert (details["count"], details["more"]) == (5, 2)
    assert [one["id"] for one in details["alerts"]] == [one.id for one in ALERTS]


def test_pagerduty_gets_as_many_as_there_is_room_for() -> None:
    large = [raised(n, key="c1", summary="s" * 100_000).alert for n in range(5)]
    with WaywardServer(pagerduty) as server:
        group = Made(7, ID, tuple(one.to_json() for one in large), 5)
        assert sent(PagerDutyReceiver("desk", KEY, server.url), group).result == "delivered"
        details = json.loads(server.calls[0].body)["payload"]["custom_details"]
    assert (details["count"], details["more"]) == (5, 3)
    assert [one["id"] for one in details["alerts"]] == [one.id for one in large[-2:]]


def test_a_file_gets_a_line_and_the_console_a_paragraph(tmp_path: Path) -> None:
    assert sent(FileReceiver("desk", tmp_path / "alerts.jsonl")).result == "delivered"
    (line,) = (tmp_path / "alerts.jsonl").read_text().splitlines()
    assert json.loads(line) == {
        "id": ID, "count": 5, "more": 2, "alerts": [one.as_dict() for one in ALERTS],
    }  # fmt: skip
    stream = io.StringIO()
    assert sent(ConsoleReceiver("desk", stream)).result == "delivered"
    first, *rest = stream.getvalue().splitlines()
    assert first == "5 alerts, the newest 3 of them:"
    assert len(rest) == 3
    stream = io.StringIO()
    assert sent(ConsoleReceiver("desk", stream, "json")).result == "delivered"
    assert json.loads(stream.getvalue())["count"] == 5


def test_cep_receive_takes_groups() -> None:
    with AlertReceiver([SECRET]) as receiver:
        hook = WebhookReceiver("desk", receiver.url, [SECRET])
        assert sent(hook, now=time.time_ns()).result == "delivered"
        (one,) = receiver.received
    assert (one.id, one.alert["count"]) == (ID, 5)


@pytest.mark.slow
def test_a_dispatcher_makes_groups_and_sends_them_again_after_a_restart(tmp_path: Path) -> None:
    """A real server refuses until the program has ended and begun again: one id, one body."""
    settings = Settings({"desk": Manner(Grouping(("rule",), 0, 10 * SECOND))})
    soon = Schedule(first=0.01, longest=0.05, attempts=1_000, probe=0.05)
    counted: list[tuple[str, str]] = []
    with WaywardServer(lambda _: Answer(500)) as server:
        outbox = Outbox.open(outbox_url(tmp_path), durable=False)
        outbox.record(BatchRecord(0, "d", {}), [raised(n) for n in range(40)], [Route("desk")])

        def start() -> Dispatcher:
            dispatcher = Dispatcher(
                outbox, [WebhookReceiver("desk", server.url, [SECRET])], schedule=soon, poll=0.05,
                settings=settings, listeners=Listeners(held=lambda *one: counted.append(one)),
            )  # fmt: skip
            dispatcher.start()
            return dispatcher

        first = start()
        server.wait_for(lambda calls: len(calls) >= 2)
        outbox.record(BatchRecord(1, "d", {}), [raised(n) for n in range(40, 45)], [Route("desk")])
        first.wake()
        assert first.stop(PATIENCE)
        server.behave = lambda _: Answer()
        second = start()
        assert second.drain(PATIENCE)
        assert second.stop(PATIENCE)
        told = [json.loads(call.body)["data"] for call in server.calls]
        outbox.close()
    assert len({(call.id, call.body) for call in server.calls}) == 1
    assert {one["count"] for one in told} == {40}
