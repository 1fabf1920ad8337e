"""Alerts over HTTP to whoever wants them: one signed message per attempt, in one of two formats.

cloudevents     a CloudEvents 1.0 event with the alert as its data (alerts.envelope)
alertmanager    version 4 of the body that Alertmanager's webhooks have (alerts.receivers.alertmanager)
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Sequence
from typing import Literal

from alerts.due import Made
from alerts.envelope import CONTENT_TYPE, cloud_event, group_event
from alerts.receivers.alertmanager import alertmanager_body
from alerts.receivers.egress import Egress
from alerts.receivers.names import Names
from alerts.receivers.posting import Limits, Posting, Wire, target
from alerts.receivers.receiver import Outcome
from alerts.signing import secret_key, signed_headers

__all__ = ["Format", "Limits", "WebhookReceiver", "target"]

Format = Literal["cloudevents", "alertmanager"]


class WebhookReceiver:
    """Posts alerts to one URL as Standard Webhooks says.

    `secrets` are `whsec_...`; with several, every message has a signature of each, in their order; with
    none, messages are not signed. Raises ValueError for a URL or secret that cannot be used.
    """

    apart = False

    def __init__(
        self,
        name: str,
        url: str,
        secrets: Sequence[str],
        *,
        format: Format = "cloudevents",  # noqa: A002  as job.toml calls it
        in_flight: int = 8,
        limits: Limits | None = None,
        tls: ssl.SSLContext | None = None,
        names: Names | None = None,
        egress: Egress | None = None,
    ) -> None:
        self.name = name
        self.in_flight = in_flight
        self._format: Format = format
        self._keys = [secret_key(secret) for secret in secrets]
        self._posting = Posting(url, Wire(limits, tls, names, egress), in_flight=in_flight)

    def send(self, id_: str, body: str, now: int) -> Outcome:
        """Posts the alert; any 2xx is success, whatever comes after the status."""
        if self._format == "cloudevents":
            kind, content = CONTENT_TYPE, cloud_event(body)
        else:
            kind, content = "application/json", alertmanager_body(self.name, [json.loads(body)])
        return self._post(id_, kind, content, now)

    def send_group(self, group: Made, now: int) -> Outcome:
        """Posts the alerts of a notification, under its id."""
        if self._format == "cloudevents":
            kind, content = CONTENT_TYPE, group_event(group.id, self.name, group.bodies, group.count)
        else:
            alerts = [json.loads(body) for body in group.bodies]
            kind, content = "application/json", alertmanager_body(self.name, alerts, group.count)
        return self._post(group.id, kind, content, now)

    def _post(self, id_: str, kind: str, content: bytes, now: int) -> Outcome:
        signed = signed_headers(self._keys, id_, now // 1_000_000_000, content)
        return self._posting.post([("content-type", kind), *signed.items()], content, now)

    def close(self) -> None:
        """Closes its connections."""
        self._posting.close()
