"""Messages to a channel of Slack, by an incoming webhook.

https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
https://docs.slack.dev/apis/web-api/rate-limits: a message a second
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import urlsplit

from alerts.due import Made
from alerts.receivers import default_messages
from alerts.receivers.notification import Notification
from alerts.receivers.posting import Posting, Wire
from alerts.receivers.receiver import Outcome
from alerts.receivers.templates import Message, TemplateError

_LONGEST = 30_000
"""Characters of a message; Slack cuts what has more than 40,000."""


class SlackReceiver:
    """Sends what waits as one message, one a second at most.

    Raises ValueError for a URL that cannot be used, TemplateError for a template.
    """

    in_flight = 1
    apart = False
    together = 256
    pace = 1_000_000_000

    def __init__(self, name: str, url: str, template: str | None = None, wire: Wire | None = None) -> None:
        self.name = name
        self._posting = Posting(url, wire, secret=[urlsplit(url).path.strip("/")])
        text = default_messages.SLACK if template is None else template
        self._message = Message("the message", text, "slack", _LONGEST)

    def send(self, id_: str, body: str, now: int) -> Outcome:
        """Sends a message about one alert."""
        return self.send_together([(id_, body)], now)

    def send_together(self, alerts: Sequence[tuple[str, str]], now: int) -> Outcome:
        """Sends one message about several alerts; Slack answers `ok`, or a word for what is wrong."""
        return self._send(Notification.of(self.name, [body for _, body in alerts]), now)

    def send_group(self, group: Made, now: int) -> Outcome:
        """Sends one message about the alerts of a notification."""
        return self._send(Notification.of_group(self.name, group), now)

    def _send(self, notification: Notification, now: int) -> Outcome:
        try:
            text = self._message.written(notification)
        except TemplateError as error:
            return Outcome("rejected", str(error))
        content = json.dumps({"text": text}, ensure_ascii=False).encode("utf-8", "replace")
        return self._posting.post([("content-type", "application/json; charset=utf-8")], content, now)

    def close(self) -> None:
        """Closes its connections."""
        self._posting.close()
