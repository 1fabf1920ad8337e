"""The record of a topic that carries an alert, or several: key, value, headers.

The value is what a webhook gets, a CloudEvent in structured JSON; in binary mode it is its data alone, and
the attributes are headers that begin with `ce_`
(https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/kafka-protocol-binding.md).
`traceparent` is that of W3C Trace Context (https://www.w3.org/TR/trace-context/), made of the id: equal for
equal alerts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from alerts.alert import SEVERITIES
from alerts.due import Due, Made
from alerts.envelope import (
    CONTENT_TYPE,
    DATA_TYPE,
    alert_attributes,
    cloud_event,
    group_attributes,
    group_data,
    group_event,
    subject,
)
from alerts.receivers.notification import Notification
from alerts.receivers.templates import Message
from alerts.receivers.topic_session import TopicRecord

Mode = Literal["structured", "binary"]
"""How a CloudEvent stands in a record."""
_LONGEST_KEY = 4_000
"""Characters."""
_decoded = json.JSONDecoder().raw_decode


class TopicRecords:
    """Makes the records of one receiver. `key` is a template's text; None: an alert's key, as summaries show
    it. Raises TemplateError for a template.
    """

    def __init__(self, receiver: str, key: str | None, mode: Mode) -> None:
        self._receiver = receiver
        self._key = None if key is None else Message("`key`", key, "text", _LONGEST_KEY)
        self._mode = mode

    def record(self, due: Due) -> TopicRecord:
        """The record of a delivery. Raises TemplateError where the template fails on the alert."""
        made = due.made
        if made is not None and made.count > 1:
            return self._of_group(made)
        alert = json.loads(due.body) if self._key else _facts(due.body)
        about = _headers(self._mode, alert["rule"], alert["severity"])
        headers = [*about, ("id", due.id.encode()), ("traceparent", traceparent(due.id))]
        key = self._key_of([alert], 1)
        if self._mode == "binary":
            return TopicRecord(key, due.body.encode(), headers + _attributes(alert_attributes(alert)))
        return TopicRecord(key, cloud_event(due.body, alert), headers)

    def _of_group(self, made: Made) -> TopicRecord:
        alerts = [json.loads(body) for body in made.bodies]
        rules = {alert["rule"] for alert in alerts}
        severity = min((alert["severity"] for alert in alerts), key=SEVERITIES.index)
        about = _headers(self._mode, rules.pop() if len(rules) == 1 else None, severity)
        headers = [*about, ("id", made.id.encode()), ("traceparent", traceparent(made.id))]
        key = self._key_of(alerts, made.count)
        if self._mode == "binary":
            data = group_data(made.id, made.bodies, made.count).encode()
            attributes = group_attributes(made.id, self._receiver, alerts[-1])
            return TopicRecord(key, data, headers + _attributes(attributes))
        return TopicRecord(key, group_event(made.id, self._receiver, made.bodies, made.count), headers)

    def _key_of(self, alerts: Sequence[Mapping[str, Any]], count: int) -> bytes | None:
        if self._key is not None:
            text = self._key.written(Notification(self._receiver, tuple(alerts), count))
        else:
            text = subject(alerts[0]["key"])
            if any(subject(alert["key"]) != text for alert in alerts[1:]):
                text = ""
        return text.encode("utf-8", "replace") or None


def _facts(body: str) -> Mapping[str, Any]:
    """The part of an alert's JSON before its summary: all that attributes and headers are made of. Its fields
    have their order, and in a text no quotes stand by themselves."""
    end = body.find('},"summary":') + 1
    found: Mapping[str, Any] = _decoded(f"{body[:end]}}}" if end else body)[0]
    return found


@lru_cache(maxsize=4096)
def _headers(mode: Mode, rule: str | None, severity: str) -> tuple[tuple[str, bytes], ...]:
    """The headers that alerts of a rule share."""
    of_rule = () if rule is None else (("rule", rule.encode("utf-8", "replace")),)
    type_ = CONTENT_TYPE if mode == "structured" else DATA_TYPE
    return (("content-type", type_.encode()), *of_rule, ("severity", severity.encode()))


def _attributes(found: Mapping[str, str]) -> list[tuple[str, bytes]]:
    """Attributes as headers, but for the one that is a header anyway."""
    return [
        (f"ce_{name}", value.encode("utf-8", "replace"))
        for name, value in found.items()
        if name != "datacontenttype"
    ]


def traceparent(id_: str) -> bytes:
    """The root of a trace that belongs to an id of hexadecimal digits."""
    return f"00-{id_[:32]}-{id_[32:48]}-01".encode()
