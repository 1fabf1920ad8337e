"""The receivers of job.toml as the dispatcher takes them; what one kind needs is imported for it alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from alerts.receivers.console import ConsoleReceiver, Stream
from alerts.receivers.egress import Egress
from alerts.receivers.receiver import Receiver as Sender
from cep.config import Receiver
from cep.config.targets import Console, Email, File, Kafka, PagerDuty, Slack, Webhook
from cep.sources.kafka.options import revealed

if TYPE_CHECKING:
    from alerts.receivers.mail import MailReceiver


def receiver_made(described: Receiver, environ: Mapping[str, str], console: Stream) -> Sender:
    """The receiver that job.toml describes; `environ` has its secrets, `console` is where consoles print.

    Raises SecretError.
    """
    name, target = described.name, described.target
    match target:
        case Console():
            return ConsoleReceiver(name, console)
        case Webhook():
            from alerts.receivers.webhook import WebhookReceiver

            secrets = [] if target.secret is None else [target.secret.reveal(environ)]
            egress = Egress(target.allow_private)
            return WebhookReceiver(
                name, target.url.reveal(environ), secrets, format=target.format, egress=egress
            )
        case Slack():
            from alerts.receivers.posting import Wire
            from alerts.receivers.slack import SlackReceiver

            wire = Wire(egress=Egress(target.allow_private))
            return SlackReceiver(name, target.url.reveal(environ), target.message, wire)
        case PagerDuty():
            from alerts.receivers import pagerduty
            from alerts.receivers.posting import Wire

            url = pagerduty.URL if target.url is None else target.url.reveal(environ)
            wire, key = Wire(egress=Egress(target.allow_private)), target.routing_key.reveal(environ)
            return pagerduty.PagerDutyReceiver(name, key, url, target.message, wire)
        case Email():
            return _mail(name, target, environ)
        case File():
            from alerts.receivers.json_lines import FileReceiver

            return FileReceiver(name, target.path, longest=target.longest, durable=target.durable)
        case Kafka():
            from alerts.receivers.kafka import KafkaReceiver, Topic

            topic = Topic(target.servers, target.topic, revealed(target.options, environ))
            return KafkaReceiver(name, topic, target.key, target.mode)


def _mail(name: str, target: Email, environ: Mapping[str, str]) -> MailReceiver:
    from alerts.receivers.mail import Letter, MailReceiver
    from alerts.receivers.smtp import Server, SmtpWire

    password = None if target.password is None else target.password.reveal(environ)
    server = Server(target.host, target.port, target.tls, target.user, password)
    letter = Letter(target.sender, target.to, target.subject, target.message, target.html)
    return MailReceiver(name, server, letter, SmtpWire(egress=Egress(target.allow_private)))
