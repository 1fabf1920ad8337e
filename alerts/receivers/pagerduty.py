"""Events for PagerDuty, version 2 of its Events API.

https://developer.pagerduty.com/docs/events-api-v2-overview
https://developer.pagerduty.com/docs/send-alert-event
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from alerts.due import Follow, Made
from alerts.envelope import source
from alerts.receivers import default_messages
from alerts.receivers.notification import Notification, dedup_key
from alerts.receivers.posting import Posting, Wire
from alerts.receivers.receiver import Outcome
from alerts.receivers.templates import Message, TemplateError

URL = "https://events.pagerduty.com/v2/enqueue"

_ALWAYS = ("id", "pack", "revision", "rule", "kind", "time")
_SUMMARY = 1_024  # characters that PagerDuty takes
_DETAILS = 262_144  # bytes; of an event it takes 512 kB
_SEVERITIES = {"critical": "critical", "high": "error", "medium": "warning", "low": "info", "info": "info"}


class PagerDutyReceiver:
    """Triggers an incident for every episode, acknowledges and resolves it as people do with that.

    Raises ValueError for a URL that cannot be used, TemplateError for a template.
    """

    in_flight = 1
    apart = True
    """An event is about one incident."""

    def __init__(
        self,
        name: str,
        routing_key: str,
        url: str = URL,
        template: str | None = None,
        wire: Wire | None = None,
    ) -> None:
        self.name = name
        self._routing_key = routing_key
        self._posting = Posting(url, wire, secret=[routing_key])
        text = default_messages.PAGERDUTY if template is None else template
        self._message = Message("the message", text, "text", _SUMMARY)

    def send(self, id_: str, body: str, now: int) -> Outcome:  # noqa: ARG002
        """Sends one event; PagerDuty answers 202, and 400 to what it cannot read."""
        return self._send(Notification.of(self.name, [body]), now)

    def send_group(self, group: Made, now: int) -> Outcome:
        """Sends one event about the alerts of a notification, which are about one incident."""
        return self._send(Notification.of_group(self.name, group), now)

    def send_of(self, episode: str | None, group: Made, now: int) -> Outcome:
        """Sends one event about alerts; those of one episode are one incident."""
        return self._send(Notification.of_group(self.name, group), now, episode)

    def tell(self, follow: Follow, body: str, now: int) -> Outcome:
        """Acknowledges or resolves the incident of an episode, or triggers it again."""
        if follow.says == "trigger":
            return self._send(Notification.of(self.name, [body]), now, follow.episode)
        event = {
            "routing_key": self._routing_key,
            "event_action": follow.says,
            "dedup_key": follow.episode,
            "client": "cep",
        }
        return self._posting.post([("content-type", "application/json")], json.dumps(event).encode(), now)

    def _send(self, notification: Notification, now: int, episode: str | None = None) -> Outcome:
        try:
            summary = self._message.written(notification)
        except TemplateError as error:
            return Outcome("rejected", str(error))
        event = {
            "routing_key": self._routing_key,
            "event_action": "trigger",
            "dedup_key": episode or dedup_key(notification.alert),
            "client": "cep",
            "payload": _payload(notification, summary),
        }
        content = json.dumps(event, ensure_ascii=False).encode("utf-8", "replace")
        return self._posting.post([("content-type", "application/json")], content, now)

    def close(self) -> None:
        """Closes its connections."""
        self._posting.close()


def _payload(notification: Notification, summary: str) -> dict[str, Any]:
    alert = notification.alert
    return {
        "summary": summary,
        "source": source(alert["pack"], alert["rule"]),
        "severity": _SEVERITIES[alert["severity"]],
        "timestamp": alert["time"],
        "component": alert["rule"],
        "group": alert["pack"],
        "class": alert["kind"],
        "custom_details": _details(notification),
    }


def _details(notification: Notification) -> Mapping[str, Any]:
    """The alert; of several their numbers and as many as there is room for, the newest last."""
    if notification.count == 1:
        alert = notification.alert
        return alert if _length(alert) <= _DETAILS else {name: alert[name] for name in _ALWAYS}
    room, carried = _DETAILS, 0
    for alert in reversed(notification.alerts):
        room -= _length(alert) + 2
        if room < 0:
            break
        carried += 1
    shown = list(notification.alerts[len(notification.alerts) - carried :])
    return {"count": notification.count, "more": notification.count - carried, "alerts": shown}


def _length(alert: Mapping[str, Any]) -> int:
    """The bytes of an alert in an event."""
    return len(json.dumps(alert, ensure_ascii=False).encode("utf-8", "replace"))
