"""[receivers.NAME] of a job file, for pydantic: the options of all kinds. `kinds` says which has which."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from cep.config import values
from cep.sources.kafka.options import flat
from cep.sources.section import Section, Text
from cep.sources.values import brokers, topic_name

Kind = Literal["console", "webhook", "slack", "pagerduty", "email", "file", "kafka"]
Format = Literal["cloudevents", "alertmanager"]
Url = Annotated[str, AfterValidator(values.webhook)]
Label = Annotated[str, AfterValidator(values.label)]
Length = Annotated[str, AfterValidator(values.some_time)]
Template = Annotated[str, AfterValidator(values.template)]
Address = Annotated[str, AfterValidator(values.mail_address)]


class ReceiverSection(Section):
    """[receivers.NAME]"""

    kind: Annotated[Kind, Field(examples=["console"])]
    url: Annotated[Url | None, Field(examples=["https://desk.example/cep"])] = None
    secret: Annotated[Text | None, Field(examples=["${DESK_SECRET}"])] = None
    format: Annotated[Literal["cloudevents", "alertmanager"], Field(examples=["alertmanager"])] = (
        "cloudevents"
    )
    routing_key: Annotated[Text | None, Field(examples=["${PAGERDUTY_KEY}"])] = None
    server: Annotated[
        str | None, AfterValidator(values.mail_server), Field(examples=["mail.example:587"])
    ] = None
    tls: Annotated[Literal["starttls", "tls"], Field(examples=["starttls"])] = "starttls"
    user: Annotated[Text | None, Field(examples=["cep"])] = None
    password: Annotated[Text | None, Field(examples=["${MAIL_PASSWORD}"])] = None
    sender: Annotated[Address | None, Field(examples=["cep@desk.example"])] = None
    to: Annotated[list[Address] | None, Field(min_length=1, examples=[["night@desk.example"]])] = None
    subject: Annotated[Template | None, Field(examples=["{{ alert.rule }} on {{ key }}"])] = None
    message: Annotated[Template | None, Field(examples=["{{ alert.summary }}"])] = None
    html: Annotated[Template | None, Field(examples=["<p>{{ alert.summary }}</p>"])] = None
    path: Annotated[str | None, AfterValidator(values.file), Field(examples=["alerts.jsonl"])] = None
    rotate_mb: Annotated[int, Field(ge=1, le=1_000_000, examples=[100])] = 100
    fsync: Annotated[Literal["always", "never"], Field(examples=["always"])] = "always"
    servers: Annotated[str | None, AfterValidator(brokers), Field(examples=["b1:9092,b2:9092"])] = None
    topic: Annotated[str | None, AfterValidator(topic_name), Field(examples=["alerts"])] = None
    key: Annotated[Template | None, Field(examples=["{{ alert.rule }}"])] = None
    mode: Annotated[Literal["structured", "binary"], Field(examples=["binary"])] = "structured"
    options: Annotated[
        dict[str, object],
        BeforeValidator(flat),
        Field(default_factory=dict, examples=[{"compression.type": "zstd"}]),
    ]
    allow_private: Annotated[bool, Field(examples=[True])] = False
    rules: Annotated[list[Text] | None, Field(min_length=1, examples=[["card_testing"]])] = None
    group_by: Annotated[list[Label] | None, Field(examples=[["rule", "card_id"]])] = None
    group_wait: Annotated[Length | None, Field(examples=["30 seconds"])] = None
    group_interval: Annotated[Length | None, Field(examples=["5 minutes"])] = None
    rate: Annotated[str | None, AfterValidator(values.rate), Field(examples=["30 per minute"])] = None
    order: Annotated[Literal["key"] | None, Field(examples=["key"])] = None
    severity: Annotated[str, AfterValidator(values.severity), Field(examples=["high"])] = "info"
