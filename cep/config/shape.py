"""The shape of a job file, for pydantic: which keys there are, of which kind, with which default.

Every key has an example, which is what messages tell an author to write.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, create_model

from cep.config import values
from cep.config.receiver_section import ReceiverSection
from cep.sources.kinds import OneOf
from cep.sources.section import FeedSection, Section, Text
from cep.sources.values import filled, path

Name = Annotated[str, AfterValidator(filled), AfterValidator(values.no_path)]
Path = Annotated[str, AfterValidator(path)]
Matcher = Annotated[str, AfterValidator(values.matcher)]
Matchers = Annotated[list[Matcher], BeforeValidator(values.matchers)]
Cores = Annotated[int, Field(ge=1, le=1024)]


class JobSection(Section):
    """[job]"""

    name: Annotated[Text, AfterValidator(values.no_path), Field(max_length=100, examples=["fraud"])]
    packs: Annotated[Path, Field(examples=["packs/"])]
    state: Annotated[Path, Field(examples=["state/"])]
    trigger: Annotated[str, AfterValidator(values.duration), Field(examples=["1 second"])] = "1 second"
    shards: Annotated[int, Field(ge=1, le=4096, examples=[16])] = 16


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


RouteSection = create_model(
    "RouteSection", __base__=GivenRoute, **{"continue": (Annotated[bool, Field(examples=[True])], False)}
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


class HttpSection(Section):
    """[http]"""

    listen: Annotated[str, AfterValidator(values.listen), Field(examples=["127.0.0.1:8090"])]


class SparkSection(Section):
    """[spark]"""

    cores: Annotated[Cores | None, Field(examples=[4])] = None


class JobFile(Section):
    """The whole file."""

    job: JobSection
    feeds: Annotated[dict[str, Annotated[FeedSection, OneOf()]], Field(min_length=1)]
    outbox: OutboxSection | None = None
    receivers: Annotated[dict[Name, ReceiverSection], Field(default_factory=dict)]
    routes: Annotated[list[RouteSection], Field(default_factory=list)]  # type: ignore[valid-type]
    alerts: AlertsSection = AlertsSection()
    record: RecordSection = RecordSection()
    retention: RetentionSection = RetentionSection()
    http: HttpSection | None = None
    spark: SparkSection | None = None
