"""Slack, PagerDuty and templates, against servers that answer as their published contracts say."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from some_alerts import SECOND, raised
from wayward_server import Answer, Call, WaywardServer

from alerts.receivers.notification import MOST, Notification, dedup_key, trial
from alerts.receivers.pagerduty import PagerDutyReceiver
from alerts.receivers.receiver import Gathering, Outcome
from alerts.receivers.slack import SlackReceiver
from alerts.receivers.templates import Message, TemplateError

KEY = "R0123456789ABCDEF0123456789ABCDE"
HOSTILE = "<!channel> & <https://evil.example|ok>\n\x1b[31m\u202e" + chr(0xD800)

EVENT = {
    "type": "object",
    "required": ["routing_key", "event_action"],
    "if": {"properties": {"event_action": {"const": "trigger"}}},
    "then": {"required": ["payload"]},
    "else": {"required": ["dedup_key"]},
    "properties": {
        "routing_key": {"type": "string", "minLength": 32, "maxLength": 32},
        "event_action": {"enum": ["trigger", "acknowledge", "resolve"]},
        "dedup_key": {"type": "string", "maxLength": 255},
        "client": {"type": "string"},
        "payload": {
            "type": "object",
            "required": ["summary", "source", "severity"],
            "properties": {
                "summary": {"type": "string", "minLength": 1, "maxLength": 1024},
                "source": {"type": "string", "minLength": 1},
                "severity": {"enum": ["critical", "error", "warning", "info"]},
                "timestamp": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"},
                "component": {"type": "string"},
                "group": {"type": "string"},
                "class": {"type": "string"},
                "custom_details": {"type": "object"},
            },
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}
"""https://developer.pagerduty.com/docs/send-alert-event"""


def pagerduty(call: Call) -> Answer:
    """202 to an event that can be read, 400 to another, 413 to one that is too large."""
    try:
        jsonschema.validate(json.loads(call.body), EVENT)
    except (ValueError, jsonschema.ValidationError) as error:
        said = {"status": "invalid event", "message": "Event object is invalid", "errors": [str(error)[:99]]}
        return Answer(400, body=json.dumps(said).encode())
    if len(call.body) > 512_000:
        return Answer(413)
    key = json.loads(call.body)["dedup_key"]
    said = {"status": "success", "message": "Event processed", "dedup_key": key}
    return Answer(202, body=json.dumps(said).encode())


def slack(call: Call) -> Answer:
    """`ok` to a message with a text, `no_text` and `invalid_payload` to others."""
    try:
        text = json.loads(call.body)["text"]
    except (ValueError, KeyError, TypeError):
        return Answer(400, body=b"invalid_payload")
    return Answer(200, body=b"ok") if isinstance(text, str) and text.strip() else Answer(400, body=b"no_text")


def to_slack(server: WaywardServer, *numbers: int, template: str | None = None, **changed: Any) -> Outcome:
    receiver = SlackReceiver("desk", server.url, template)
    alerts = [raised(n, **changed).alert for n in numbers or (1,)]
    try:
        return receiver.send_together([(one.id, one.to_json()) for one in alerts], 0)
    finally:
        receiver.close()


def message(server: WaywardServer) -> str:
    text = json.loads(server.calls[-1].body)["text"]
    assert isinstance(text, str)
    return text


def test_slack_gets_a_line_about_an_alert() -> None:
    with WaywardServer(slack) as server:
        assert to_slack(server) == Outcome("delivered", "200")
        assert message(server) == ("*high* card_testing: 3 probes, then 900 in NG (1970-01-01T00:00:01Z)")
        assert server.calls[0].headers["content-type"].startswith("application/json")


def test_what_waits_for_slack_is_one_message() -> None:
    with WaywardServer(slack) as server:
        assert to_slack(server, 1, 2, 3).result == "delivered"
        lines = message(server).splitlines()
        assert (lines[0], len(lines)) == ("3 alerts:", 4)
        assert to_slack(server, *range(MOST + 5)).result == "delivered"
        lines = message(server).splitlines()
        assert (lines[0], len(lines)) == (f"{MOST + 5} alerts, the newest {MOST} of them:", MOST + 1)
    assert isinstance(SlackReceiver("desk", "https://hooks.slack.com/services/T/B/X"), Gathering)


def test_an_event_calls_nobody_in_slack_and_makes_no_links() -> None:
    with WaywardServer(slack) as server:
        assert to_slack(server, summary=HOSTILE).result == "delivered"
        text = message(server)
    assert "&lt;!channel&gt; &amp; &lt;https://evil.example|ok&gt;\\x0a\\x1b[31m\\u202e" in text
    assert len(text.splitlines()) == 1


def test_a_message_to_slack_is_bounded() -> None:
    with WaywardServer(slack) as server:
        assert to_slack(server, *range(100), summary="x" * 5_000).result == "delivered"
        assert len(message(server)) == 30_000
        assert message(server).endswith("…")


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Answer(429, {"retry-after": "30"}), Outcome("rejected", "429", 30 * SECOND)),
        (Answer(404, body=b"no_service"), Outcome("rejected", "404: no_service")),
        (Answer(403, body=b"action_prohibited"), Outcome("rejected", "403: action_prohibited")),
        (Answer(410, body=b"channel_is_archived"), Outcome("gone", "410 Gone: channel_is_archived")),
        (Answer(500, body=b"rollup_error"), Outcome("rejected", "500: rollup_error")),
    ],
)
def test_what_slack_says_is_passed_on(answer: Answer, outcome: Outcome) -> None:
    with WaywardServer(lambda _: answer) as server:
        assert to_slack(server) == outcome


@pytest.mark.parametrize("status", [400, 307])
def test_the_secret_of_an_address_is_shown_nowhere(status: int) -> None:
    path = "services/T0/B0/hidden"
    with WaywardServer(lambda _: Answer(status, {"location": f"/{path}"}, f"no {path}".encode())) as server:
        receiver = SlackReceiver("desk", server.url.replace("hook", path))
        outcome = receiver.send("1", raised(1).alert.to_json(), 0)
        receiver.close()
        assert "hidden" not in repr(receiver) + repr(outcome)
        server.behave = lambda _: Answer(400, body=f"bad key {KEY}".encode())
        pager = PagerDutyReceiver("desk", KEY, server.url)
        outcome = pager.send("1", raised(1).alert.to_json(), 0)
        pager.close()
        assert KEY not in repr(pager) + repr(outcome)
        assert outcome.detail == "400: bad key …"


def to_pagerduty(server: WaywardServer, *alerts: Any, template: str | None = None) -> list[dict[str, Any]]:
    receiver = PagerDutyReceiver("desk", KEY, server.url, template)
    for one in alerts:
        assert receiver.send(one.id, one.to_json(), 0) == Outcome("delivered", "202")
    receiver.close()
    return [json.loads(call.body) for call in server.calls[-len(alerts) :]]


def test_pagerduty_takes_our_events() -> None:
    with WaywardServer(pagerduty) as server:
        (event,) = to_pagerduty(server, raised(1).alert)
    assert event["event_action"] == "trigger"
    assert event["dedup_key"] == "fraud/card_testing/c1"
    assert event["payload"] == {
        "summary": "card_testing: 3 probes, then 900 in NG", "source": "/cep/fraud/card_testing",
        "severity": "error", "timestamp": "1970-01-01T00:00:01Z", "component": "card_testing",
        "group": "fraud", "class": "match", "custom_details": raised(1).alert.as_dict(),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("critical", "critical"), ("high", "error"), ("medium", "warning"), ("low", "info"), ("info", "info")],
)
def test_every_severity_has_one_of_pagerduty_s(ours: str, theirs: str) -> None:
    with WaywardServer(pagerduty) as server:
        (event,) = to_pagerduty(server, raised(1, severity=ours).alert)
    assert event["payload"]["severity"] == theirs


def test_pagerduty_takes_whatever_an_event_holds() -> None:
    with WaywardServer(pagerduty) as server:
        large = raised(1, key="k" * 500, summary="s" * 600_000).alert
        hostile = raised(1, key=HOSTILE, summary=HOSTILE).alert
        first, second = to_pagerduty(server, large, hostile)
    assert len(first["payload"]["summary"]) == 1_024
    assert first["payload"]["custom_details"]["id"] == large.id
    assert "\x1b" not in second["payload"]["summary"]


def test_alerts_about_the_same_thing_have_one_dedup_key() -> None:
    keys = [
        dedup_key(one.alert.as_dict())
        for one in (raised(1, key="a"), raised(2, key="a"), raised(1, key="b"), raised(1, key="a", rule="r"),
                    raised(1, key="k" * 999), raised(1, key="k" * 998))
    ]  # fmt: skip
    assert keys[0] == keys[1]
    assert len(set(keys)) == 5
    assert max(map(len, keys)) == 255


def test_a_test_is_marked_as_one() -> None:
    with WaywardServer(pagerduty) as server:
        (event,) = to_pagerduty(server, trial("desk", 10**18), template=None)
        assert event["payload"]["summary"].startswith("[TEST] test: This is a test of the receiver desk")
        assert event["payload"]["severity"] == "info"
    with WaywardServer(slack) as server:
        receiver = SlackReceiver("desk", server.url, "{{ alert.emit.country }} {{ alert.emit.n + 1 }}")
        test = trial("desk", 10**18)
        assert receiver.send(test.id, test.to_json(), 0).result == "rejected", "what a test cannot show fails"
        receiver.close()


def test_own_templates_are_used() -> None:
    with WaywardServer(pagerduty) as server:
        (event,) = to_pagerduty(server, raised(1).alert, template="{{ key }} {{ alert.emit.n }}")
    assert event["payload"]["summary"] == "c1 1"
    with WaywardServer(slack) as server:
        template = "{% for one in alerts %}<b>{{ one.key.card_id }}</b>{% endfor %} & {{ count }}"
        assert to_slack(server, 1, 2, template=template).result == "delivered"
        assert message(server) == "<b>c1</b><b>c2</b> & 2"


@pytest.mark.parametrize(
    ("text", "line", "said", "help_"),
    [
        ("a\n{% if %}", 2, "Expected an expression", "documentation"),
        ("a\n\n{{ alert.summary | shorter }}", 3, "No filter named 'shorter'", "documentation"),
        ("{{ alrt.summary }}", 1, "there is no `alrt`", "alert, alerts"),
        ("\n{{ alert.sumary }}", 2, "an alert has no field `sumary`", "summary"),
        ("{{ alert['sumary'] }}", 1, "an alert has no field `sumary`", "summary"),
        ("{% include '/etc/passwd' %}", 1, "no other files", "in place of the line"),
        ("{{ 'a' ", 1, "unexpected", "documentation"),
    ],
)
def test_a_template_that_cannot_be_right_is_told_with_its_line(
    text: str, line: int, said: str, help_: str
) -> None:
    with pytest.raises(TemplateError) as caught:
        Message("the message", text)
    assert caught.value.line == line
    assert said in str(caught.value)
    assert help_ in caught.value.help


def notification() -> Notification:
    return Notification.of("desk", [raised(1).alert.to_json()])


@pytest.mark.parametrize(
    "text",
    [
        "{{ alert.emit.nothing }}",
        "{{ alert.emit.n / 0 }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ alerts.append(1) }}",
        "{{ alert.__init__.__globals__ }}",
        "{% for i in range(10000000) %}{% endfor %}",
    ],
)
def test_a_template_that_fails_or_reaches_out_of_its_sandbox_is_an_error(text: str) -> None:
    try:
        made = Message("the message", text)
    except TemplateError:
        return
    with pytest.raises(TemplateError, match="the message, line 1: "):
        made.written(notification())


def test_a_message_has_no_more_than_its_length() -> None:
    text = "{% for i in range(99999) %}{% for j in range(99999) %}0123456789{% endfor %}{% endfor %}"
    assert (
        Message("the message", text, longest=100).written(notification()) == "0123456789" * 9 + "012345678…"
    )
    assert Message("the message", text, longest=100).whole(notification()) is None


def test_values_look_as_in_a_summary() -> None:
    text = "{{ 900.0 }} {{ none }} {{ true }} {{ alert.events.probe }} {{ alert.tags | join('+') }}"
    assert Message("the message", text).written(notification()) == "900 null true p1 t"
