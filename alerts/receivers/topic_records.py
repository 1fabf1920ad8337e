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
from dataclasses import dataclass
from typing import Any, Literal

from alerts.alert import SEVERITIES
from alerts.due import Due
from alerts.envelope import (
    CONTENT_TYPE,
    alert_attributes,
    group_attributes,
    group_data,
    structured,
    subject,
)
from alerts.receivers.notification import Notification
from alerts.receivers.templates import Message

Mode = Literal["structured", "binary"]
"""How a CloudEvent stands in a record."""
_LONGEST_KEY = 4_000
"""Characters."""


@dataclass(frozen=True, slots=True)
class TopicRecord:
    """A record; `key` None: it may be in any partition."""

    key: bytes | None
    value: bytes
    headers: list[tuple[str, bytes]]

    @property
    def size(self) -> int:
        """The bytes of key and value."""
        return len(self.value) + len(self.key or b"")


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
            alerts = [json.loads(body) for body in made.bodies]
            attributes = group_attributes(made.id, self._receiver, alerts[-1])
            data, count = group_data(made.id, made.bodies, made.count), made.count
        else:
            alerts = [json.loads(due.body)]
            attributes, data, count = alert_attributes(alerts[0]), due.body, 1
        headers = self._headers(attributes, alerts)
        encoded = [(name, text.encode("utf-8", "replace")) for name, text in headers]
        value = structured(attributes, data) if self._mode == "structured" else data.encode()
        return TopicRecord(self._key_of(alerts, count), value, encoded)

    def _headers(
        self, attributes: dict[str, str], alerts: Sequence[Mapping[str, Any]]
    ) -> list[tuple[str, str]]:
        id_, rules = attributes["id"], {alert["rule"] for alert in alerts}
        if self._mode == "structured":
            headers = [("content-type", CONTENT_TYPE)]
        else:
            headers = [("content-type", attributes.pop("datacontenttype"))]
            headers += [(f"ce_{name}", value) for name, value in attributes.items()]
        headers.append(("id", id_))
        if len(rules) == 1:
            headers.append(("rule", rules.pop()))
        severity = min((alert["severity"] for alert in alerts), key=SEVERITIES.index)
        return [*headers, ("severity", severity), ("traceparent", traceparent(id_))]

    def _key_of(self, alerts: Sequence[Mapping[str, Any]], count: int) -> bytes | None:
        if self._key is not None:
            text = self._key.written(Notification(self._receiver, tuple(alerts), count))
        else:
            keys = {subject(alert["key"]) for alert in alerts}
            text = keys.pop() if len(keys) == 1 else ""
        return text.encode("utf-8", "replace") or None


def traceparent(id_: str) -> str:
    """The root of a trace that belongs to an id of hexadecimal digits."""
    return f"00-{id_[:32]}-{id_[32:48]}-01"
