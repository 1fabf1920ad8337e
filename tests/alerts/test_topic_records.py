"""The records of alerts: CloudEvents that others' code reads, headers, and keys."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import get_args

import pytest
from cloudevents.core.bindings.kafka import KafkaMessage, from_binary_event, from_structured_event
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from some_alerts import raised

from alerts.alert import Alert
from alerts.due import Due, Made
from alerts.envelope import cloud_event
from alerts.raised import Raised
from alerts.receivers.templates import TemplateError
from alerts.receivers.topic_records import Mode, TopicRecords
from alerts.receivers.topic_session import TopicRecord


def due(number: int, **how: str) -> Due:
    one = raised(number, **how)  # type: ignore[arg-type]
    return Due(number, one.id, one.body, 0, 0)


def headers(record: TopicRecord) -> dict[str, str]:
    found = {name: value.decode() for name, value in record.headers}
    assert len(found) == len(record.headers)
    return found


def message(record: TopicRecord) -> KafkaMessage:
    return KafkaMessage(headers=dict(record.headers), key=record.key, value=record.value)


@pytest.mark.parametrize("mode", ["structured", "binary"])
def test_an_alert_is_a_cloud_event(mode: Mode) -> None:
    one = due(7)
    record = TopicRecords("stream", None, mode).record(one)
    read = from_structured_event if mode == "structured" else from_binary_event
    event = read(message(record))
    alert = json.loads(one.body)
    assert (event.get_id(), event.get_type(), event.get_subject()) == (one.id, "cep.alert.v1", "c7")
    assert event.get_source() == "/cep/fraud/card_testing"
    assert event.get_data() == alert
    assert record.key == b"c7"
    told = headers(record)
    assert (told["id"], told["rule"], told["severity"]) == (one.id, "card_testing", "high")
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", told["traceparent"])
    assert told["content-type"].startswith(
        "application/cloudevents+json" if mode == "structured" else "application/json"
    )
    assert TopicRecords("stream", None, mode).record(replace(one, attempts=3)) == record


TEXT = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(['},"summary":', '"}', "\\"])


@settings(max_examples=examples(200), deadline=None)
@given(st.dictionaries(TEXT, TEXT | st.none() | st.integers(), max_size=3), TEXT, TEXT)
def test_both_modes_say_the_same_of_any_alert(key: dict[str, object], summary: str, rule: str) -> None:
    one = replace(Alert(**json.loads(raised(7).body)), key=key, summary=summary, rule=rule)
    body = Raised.of(one, 7, (7,), None).body
    of_one = Due(7, one.id, body, 0, 0)
    records = {mode: TopicRecords("stream", None, mode).record(of_one) for mode in get_args(Mode)}
    event = from_structured_event(message(records["structured"]))
    other = from_binary_event(message(records["binary"]))
    assert event.get_attributes() == other.get_attributes()
    assert event.get_data() == other.get_data() == json.loads(body)
    assert records["structured"].value == cloud_event(body)
    by_template = TopicRecords("stream", "{{ key }}", "structured").record(of_one)
    assert by_template.headers == records["structured"].headers


@pytest.mark.parametrize("mode", ["structured", "binary"])
def test_several_alerts_are_one_event(mode: Mode) -> None:
    some = [due(1, severity="low"), due(2, severity="critical"), due(3, severity="medium")]
    made = Made(4, "ab" * 32, tuple(one.body for one in some), 5)
    record = TopicRecords("stream", None, mode).record(replace(some[-1], made=made))
    event = (from_structured_event if mode == "structured" else from_binary_event)(message(record))
    data = event.get_data()
    assert (event.get_type(), event.get_id()) == ("cep.alerts.v1", made.id)
    assert isinstance(data, dict)
    assert (data["count"], data["more"], len(data["alerts"])) == (5, 2, 3)
    told = headers(record)
    assert (told["id"], told["rule"], told["severity"]) == (made.id, "card_testing", "critical")
    assert record.key is None, "they are of several keys"


def test_alerts_of_several_rules_have_no_header_of_a_rule() -> None:
    some = [due(1, key="c", rule="a"), due(2, key="c", rule="b")]
    made = Made(4, "ab" * 32, tuple(one.body for one in some), 2)
    record = TopicRecords("stream", None, "structured").record(replace(some[-1], made=made))
    assert "rule" not in headers(record)
    assert record.key == b"c"


@pytest.mark.parametrize(
    ("template", "key"),
    [("{{ alert.rule }}/{{ key }}", b"card_testing/c7"), ("{{ alert.emit.n }}", b"7"), ("{{ '' }}", None)],
)
def test_a_template_writes_the_key(template: str, key: bytes | None) -> None:
    assert TopicRecords("stream", template, "structured").record(due(7)).key == key


def test_a_template_that_fails_says_so() -> None:
    with pytest.raises(TemplateError, match="`key`, line 1"):
        TopicRecords("stream", "{{ alert.emit.country }}", "structured").record(due(7))
