"""Alertmanager's webhook body, version 4, as its documentation describes it and its receivers read it."""

from __future__ import annotations

import json
import time
from typing import Any

import jsonschema
import pytest
import standardwebhooks
from some_alerts import raised
from wayward_server import WaywardServer

from alerts.receivers.alertmanager import MOST, alertmanager_body, fingerprint, labels
from alerts.receivers.webhook import WebhookReceiver

SECRET = "whsec_" + "A" * 32
TEXTS = {
    "type": "object",
    "additionalProperties": {"type": "string"},
    "propertyNames": {"pattern": "^[a-zA-Z_][a-zA-Z0-9_]*$"},
}
TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"}


def whole(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


PUBLISHED = whole(
    version={"const": "4"},
    groupKey={"type": "string", "minLength": 1},
    truncatedAlerts={"type": "integer", "minimum": 0},
    status={"enum": ["firing", "resolved"]},
    receiver={"type": "string"},
    groupLabels=TEXTS,
    commonLabels=TEXTS,
    commonAnnotations=TEXTS,
    externalURL={"type": "string"},
    alerts={
        "type": "array",
        "minItems": 1,
        "items": whole(
            status={"enum": ["firing", "resolved"]},
            labels=TEXTS,
            annotations=TEXTS,
            startsAt=TIME,
            endsAt=TIME,
            generatorURL={"type": "string"},
            fingerprint={"type": "string", "pattern": "^[0-9a-f]{16}$"},
        ),
    },
)
"""https://prometheus.io/docs/alerting/latest/configuration/#webhook_config, its body."""


def alert(number: int = 1, **changed: Any) -> dict[str, Any]:
    return {**raised(number).alert.as_dict(), **changed}


def body(*alerts: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(alertmanager_body("desk", alerts or [alert()]))
    jsonschema.validate(found, PUBLISHED)
    return found


def test_it_is_sent_signed_under_the_alert_s_id() -> None:
    with WaywardServer() as server:
        receiver = WebhookReceiver("desk", server.url, [SECRET], format="alertmanager")
        text = raised(1).alert.to_json()
        for _ in range(2):
            assert receiver.send(raised(1).alert.id, text, time.time_ns()).result == "delivered"
        receiver.close()
        first, again = server.calls
    assert (first.id, first.body) == (again.id, again.body)
    assert first.headers["content-type"] == "application/json"
    standardwebhooks.Webhook(SECRET).verify(first.body, first.headers)
    jsonschema.validate(json.loads(first.body), PUBLISHED)


def test_labels_say_which_alert_it_is_and_annotations_what_happened() -> None:
    one = body(alert(runbook="https://runbooks.example/cards"))
    (shown,) = one["alerts"]
    assert shown["labels"] == {
        "alertname": "card_testing", "pack": "fraud", "kind": "match", "severity": "high", "card_id": "c1",
    }  # fmt: skip
    assert shown["annotations"] == {
        "summary": "3 probes, then 900 in NG", "alert_id": raised(1).alert.id, "tags": "t", "n": "1",
        "runbook_url": "https://runbooks.example/cards",
    }  # fmt: skip
    assert (shown["startsAt"], shown["endsAt"]) == ("1970-01-01T00:00:01Z", "0001-01-01T00:00:00Z")
    assert (one["status"], one["receiver"], one["truncatedAlerts"]) == ("firing", "desk", 0)
    assert one["groupLabels"] == one["commonLabels"] == shown["labels"]
    assert one["commonAnnotations"] == shown["annotations"]
    assert one["groupKey"] == (
        '{}:{alertname="card_testing", card_id="c1", kind="match", pack="fraud", severity="high"}'
    )


def test_what_comes_again_for_a_key_has_the_same_fingerprint_and_group() -> None:
    first, again, other = (
        body(alert(1, key={"card_id": key}, time=f"2026-01-05T09:00:0{n}Z", emit={"n": n}))
        for n, key in enumerate(("a", "a", "b"))
    )
    assert first["groupKey"] == again["groupKey"] != other["groupKey"]
    prints = [one["alerts"][0]["fingerprint"] for one in (first, again, other)]
    assert prints[0] == prints[1] != prints[2]


def test_several_alerts_have_in_common_what_is_equal() -> None:
    one = body(alert(1), alert(2, severity="low"))
    assert one["commonLabels"] == {"alertname": "card_testing", "pack": "fraud", "kind": "match"}
    assert one["commonAnnotations"] == {"summary": "3 probes, then 900 in NG", "tags": "t"}


def test_the_newest_alerts_are_carried_and_the_rest_is_counted() -> None:
    one = body(*(alert(n) for n in range(MOST + 7)))
    assert (len(one["alerts"]), one["truncatedAlerts"]) == (MOST, 7)
    assert one["alerts"][-1]["labels"]["card_id"] == f"c{MOST + 6}"


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ({"severity": "x"}, {"key_severity": "x"}),
        ({"a.b": "x", "a_b": "y"}, {"a_b": "x", "key_a_b": "y"}),
        ({"ü": "x"}, {"_": "x"}),
        ({"1st": "x"}, {"key_1st": "x"}),
        ({"key_pack": "x", "pack": "y"}, {"key_pack": "x", "key_pack_": "y"}),
        ({"n": 900.0, "flag": True, "gone": None}, {"n": "900", "flag": "true", "gone": "null"}),
    ],
)
def test_no_value_of_a_key_is_lost_to_another_name(key: dict[str, Any], expected: dict[str, str]) -> None:
    shown = body(alert(key=key))["alerts"][0]["labels"]
    assert {name: text for name, text in shown.items() if name not in labels(alert(key={}))} == expected


def test_what_an_event_can_hold_stays_one_value() -> None:
    hostile = '"}\x1b[31m\u202e<script>\n' + chr(0xD800)
    one = body(alert(key={"card_id": hostile}, summary=hostile, emit={"n": hostile}))
    assert one["alerts"][0]["labels"]["card_id"] == hostile.replace(chr(0xD800), "?")


def test_the_fingerprint_is_that_of_prometheus() -> None:
    """Values of the tests of github.com/prometheus/common, model/signature_test.go."""
    assert fingerprint({}) == f"{14695981039346656037:016x}"
    some = {"name": "garland, briggs", "fear": "love is not enough"}
    assert fingerprint(some) == f"{5799056148416392346:016x}"
