"""The CloudEvent around an alert, read by the published cloudevents package."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

from cloudevents.core.bindings.http import HTTPMessage, from_structured_event
from hypothesis import given
from hypothesis import strategies as st
from some_alerts import raised

from alerts.envelope import CONTENT_TYPE, cloud_event, source, subject

ALERT = raised(7).alert
PARTS = st.text(st.characters(exclude_categories=()), min_size=1, max_size=6)


def read(body: str) -> tuple[dict[str, object], dict[str, object]]:
    event = from_structured_event(HTTPMessage({"content-type": CONTENT_TYPE}, cloud_event(body)))
    return event.get_attributes(), event.get_data()


def test_the_oracle_reads_the_event() -> None:
    attributes, data = read(ALERT.to_json())
    assert attributes == {
        "specversion": "1.0",
        "id": ALERT.id,
        "type": "cep.alert.v1",
        "source": "/cep/fraud/card_testing",
        "subject": "c7",
        "time": datetime(1970, 1, 1, 0, 0, 7, tzinfo=UTC),
        "datacontenttype": "application/json",
    }
    assert data == ALERT.as_dict()


@given(st.dictionaries(PARTS, st.none() | st.booleans() | st.integers() | PARTS, max_size=3), PARTS, PARTS)
def test_whatever_key_and_names_the_oracle_reads_it(key: dict[str, object], rule: str, value: str) -> None:
    alert = replace(ALERT, key=key, summary=value, emit={"x": value, "rule": rule})
    attributes, data = read(alert.to_json())
    assert data == alert.as_dict()
    assert attributes.get("subject", "") == subject(key)


@given(st.text(), st.text())
def test_a_source_names_one_rule(pack: str, rule: str) -> None:
    text = source(pack, rule)
    assert text.isascii()
    assert text.count("/") == 3


@given(
    st.lists(st.text(max_size=4), min_size=2, max_size=2),
    st.lists(st.text(max_size=4), min_size=2, max_size=2),
)
def test_keys_of_two_fields_have_subjects_of_their_own(one: list[str], other: list[str]) -> None:
    printable = all(c.isprintable() for value in (*one, *other) for c in value)
    same = subject(dict(zip("ab", one, strict=True))) == subject(dict(zip("ab", other, strict=True)))
    assert not printable or same == (one == other)


def test_subjects() -> None:
    assert subject({"card": "c1"}) == "c1"
    assert subject({"path": "a/b %"}) == "a/b %"
    assert subject({"card": "c/1", "n": 7.0, "x": None}) == "c%2F1/7/null"
    assert subject({"card": "line\nend\ud800"}) == "line%0Aend\N{REPLACEMENT CHARACTER}"
    assert "subject" not in json.loads(cloud_event(replace(ALERT, key={}).to_json()))


def test_equal_alerts_have_equal_bytes() -> None:
    assert cloud_event(ALERT.to_json()) == cloud_event(replace(ALERT).to_json())
    assert ALERT.to_json().encode() in cloud_event(ALERT.to_json())
