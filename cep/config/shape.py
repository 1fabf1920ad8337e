"""The shape of a job file, for pydantic: which keys there are, of which kind, with which default.

Every key has an example, which is what messages tell an author to write.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, create_model

from cep.config import values
from cep.config.receiver_section import Label, Length, ReceiverSection
from cep.sources.kafka.options import flat
from cep.sources.kinds import OneOf
from cep.sources.section import FeedSection, Section, Text
from cep.sources.values import brokers, filled, path, topic_name

Name = Annotated[str, AfterValidator(filled), AfterValidator(values.no_path)]
Path = Annotated[str, AfterValidator(path)]
Endpoint = Annotated[str, AfterValidator(values.endpoint)]
Matcher = Annotated[str, AfterValidator(values.matcher)]
Matchers = Annotated[list[Matcher], BeforeValidator(values.matchers)]
Scope = Literal["read", "operate", "deploy", "ingest"]
Weekdays = Annotated[str, AfterValidator(values.weekdays)]
Days = Annotated[str, AfterValidator(values.days)]
Months = Annotated[str, AfterValidator(values.months)]
Hours = Annotated[str, AfterValidator(values.hours)]
Cores = Annotated[int, Field(ge=1, le=1024)]


class JobSection(Section):
    """[job]"""

    name: Annotated[Text, AfterValidator(values.no_path), Field(max_length=100, examples=["fraud"])]
    packs: Annotated[Path, Field(examples=["packs/"])]
    state: Annotated[str, AfterValidator(values.state), Field(examples=["state/"])]
    local: Annotated[Path | None, Field(examples=["local/"])] = None
    trigger: Annotated[str, AfterValidator(values.duration), Field(examples=["1 second"])] = "1 second"
    shards: Annotated[int | None, Field(ge=1, le=4096, examples=[16])] = None
    mask_key: Annotated[str | None, Field(examples=["${MASK_KEY}"])] = None


class GivenFeeds(Section):
    """[feeds.NAME], and nothing else of a file."""

    feeds: dict[str, Annotated[FeedSection, OneOf(given=True)]]


class OutboxSection(Section):
    """[outbox]"""

    url: Annotated[str, AfterValidator(values.outbox), Field(examples=["sqlite:///state/outbox.db"])]


class GivenRoute(Section):
    """[[routes]], but for its key `continue`, which Python reserves."""

    matchers: Annotated[Matchers, Field(default_factory=list, examples=[["severity = critical"]])]
    receivers: Annotated[list[Text], Field(examples=[["desk"]])]
    group_by: Annotated[list[Label] | None, Field(examples=[["rule", "card_id"]])] = None
    group_wait: Annotated[Length | None, Field(examples=["30 seconds"])] = None
    group_interval: Annotated[Length | None, Field(examples=["5 minutes"])] = None


RouteSection = create_model(
    "RouteSection", __base__=GivenRoute, **{"continue": (Annotated[bool, Field(examples=[True])], False)}
)  # type: ignore[call-overload]


class MuteTimeSection(Section):
    """[[mute_times]]"""

    name: Annotated[Text, Field(max_length=100, examples=["nights"])]
    matchers: Annotated[Matchers, Field(default_factory=list, examples=[["severity =~ low|info"]])]
    receivers: Annotated[list[Text] | None, Field(min_length=1, examples=[["desk"]])] = None
    weekdays: Annotated[list[Weekdays], Field(default_factory=list, examples=[["monday to friday"]])]
    days: Annotated[list[Days], Field(default_factory=list, examples=[["1 to 7", "-1"]])]
    months: Annotated[list[Months], Field(default_factory=list, examples=[["june to august"]])]
    hours: Annotated[list[Hours], Field(default_factory=list, examples=[["22:00 to 06:00"]])]
    zone: Annotated[str, AfterValidator(values.zone), Field(examples=["Europe/Berlin"])] = "UTC"


class GivenInhibition(Section):
    """[[inhibit]], but for its key `for`, which Python reserves."""

    by: Annotated[Matchers, Field(min_length=1, examples=[{"rule": "card_takeover"}])]
    of: Annotated[Matchers, Field(examples=[{"severity": "=~ low|info"}])]
    equal: Annotated[list[Label], Field(default_factory=list, examples=[["card_id"]])]


InhibitionSection = create_model(
    "InhibitionSection",
    __base__=GivenInhibition,
    **{"for": (Annotated[str, AfterValidator(values.length), Field(examples=["1 hour"])], ...)},
)  # type: ignore[call-overload]


class AlertsSection(Section):
    """[alerts]"""

    episode: Annotated[str, AfterValidator(values.length), Field(examples=["1 hour"])] = "1 hour"
    close_quiet: Annotated[bool, Field(examples=[True])] = False


class RecordSection(Section):
    """[record]"""

    keep: Annotated[str, AfterValidator(values.keep), Field(examples=["30 days"])] = "1 day"


class RetentionSection(Section):
    """[retention]"""

    alerts: Annotated[str, AfterValidator(values.length), Field(examples=["400 days"])] = "400 days"
    deliveries: Annotated[str, AfterValidator(values.length), Field(examples=["30 days"])] = "30 days"
    late: Annotated[str, AfterValidator(values.length), Field(examples=["7 days"])] = "7 days"
    dead_letters: Annotated[str, AfterValidator(values.length), Field(examples=["30 days"])] = "30 days"


class LettersSection(Section):
    """[deadletters]"""

    servers: Annotated[str, AfterValidator(brokers), Field(examples=["b1:9092,b2:9092"])]
    topic: Annotated[str | None, AfterValidator(topic_name), Field(examples=["dead-letters"])] = None
    late: Annotated[str | None, AfterValidator(topic_name), Field(examples=["late-events"])] = None
    options: Annotated[
        dict[str, object],
        BeforeValidator(flat),
        Field(default_factory=dict, examples=[{"compression.type": "zstd"}]),
    ]


class HttpSection(Section):
    """[http]"""

    listen: Annotated[str, AfterValidator(values.listen), Field(examples=["127.0.0.1:8090"])]
    certificate: Annotated[Path | None, Field(examples=["tls/job.pem"])] = None
    key: Annotated[Path | None, Field(examples=["tls/job.key"])] = None


class TokenSection(Section):
    """[tokens.NAME]"""

    secret: Annotated[Text, Field(examples=["${DESK_TOKEN}"])]
    scopes: Annotated[list[Scope], Field(min_length=1, examples=[["read", "operate"]])]


class StoreSection(Section):
    """[s3]"""

    endpoint: Annotated[Endpoint | None, Field(examples=["https://minio:9000"])] = None
    region: Annotated[Text | None, Field(examples=["eu-central-1"])] = None
    access_key: Annotated[Text | None, Field(examples=["${S3_KEY}"])] = None
    secret_key: Annotated[Text | None, Field(examples=["${S3_SECRET}"])] = None


class SparkSection(Section):
    """[spark]"""

    cores: Annotated[Cores | None, Field(examples=[4])] = None
    master: Annotated[str | None, AfterValidator(values.master), Field(examples=["spark://head:7077"])] = None
    python: Annotated[Text | None, Field(examples=["/opt/cep/bin/python"])] = None
    host: Annotated[Text | None, Field(examples=["10.0.0.5"])] = None
    conf: Annotated[
        dict[str, object],
        BeforeValidator(flat),
        AfterValidator(values.settings),
        Field(default_factory=dict, examples=[{"spark.executor.memory": "4g"}]),
    ]


class JobFile(Section):
    """The whole file."""

    job: JobSection
    feeds: Annotated[dict[str, Annotated[FeedSection, OneOf()]], Field(min_length=1)]
    outbox: OutboxSection | None = None
    receivers: Annotated[dict[Name, ReceiverSection], Field(default_factory=dict)]
    routes: Annotated[list[RouteSection], Field(default_factory=list)]  # type: ignore[valid-type]
    mute_times: Annotated[list[MuteTimeSection], Field(default_factory=list)]
    inhibit: Annotated[list[InhibitionSection], Field(default_factory=list)]  # type: ignore[valid-type]
    alerts: AlertsSection = AlertsSection()
    record: RecordSection = RecordSection()
    retention: RetentionSection = RetentionSection()
    deadletters: LettersSection | None = None
    http: HttpSection | None = None
    tokens: Annotated[dict[Name, TokenSection], Field(default_factory=dict)]
    spark: SparkSection | None = None
    s3: StoreSection | None = None
