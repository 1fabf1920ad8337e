"""The shape of a job file, for pydantic: which keys there are, of which kind, with which default."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from typing import Annotated, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from alerts.alert import SEVERITIES
from cep.formats import EPOCHS, KINDS, UnknownFormatError, format_of
from rules.instants import parse_duration
from rules.suggest import did_you_mean

Constant = str | bool | int | float | datetime | date | time


class Section(BaseModel):
    """A table of the file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _duration(text: str) -> str:
    parse_duration(text)
    return text


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty")
    return text


def _format(text: str) -> str:
    if text not in KINDS:
        raise ValueError(did_you_mean(text, KINDS) or f"it is one of {', '.join(KINDS)}")
    return text


def _path_with_format(path: str, info: ValidationInfo) -> str:
    name = _filled(path).rpartition("/")[2]
    if info.data.get("format") is None and name and not re.search(r"[*?\]}]$", name):
        try:
            format_of(name)
        except UnknownFormatError as error:
            raise ValueError(f'{error}; or say it: format = "csv"') from None
    return path


def _timestamps(text: str) -> str:
    if text == "iso" or text in EPOCHS:
        return text
    if "%" not in text:
        known = ("iso", *EPOCHS)
        guess = did_you_mean(text, known)
        raise ValueError(
            guess or f"it is one of {', '.join(known)}, or a strptime pattern such as `%d.%m.%Y %H:%M`"
        )
    try:
        sample = datetime(2020, 12, 30, 21, 43, 56, tzinfo=UTC).strftime(text)
        datetime.strptime(sample, text)
    except ValueError:
        raise ValueError("it is no pattern that strptime can read back") from None
    if not any(part in text for part in ("%Y", "%y", "%G", "%c", "%x")):
        raise ValueError("the pattern has no year")
    return text


def _zone(text: str) -> str:
    if text == "UTC" or re.fullmatch(r"[+-](0\d|1[0-4]):[0-5]\d", text):
        return text
    try:
        ZoneInfo(text)
    except (ValueError, OSError, KeyError):
        raise ValueError("there is no such zone: write a name such as `Europe/Berlin`, or `+02:00`") from None
    return text


def _delimiter(text: str) -> str:
    if len(text) != 1 or text in '"\r\n' or ord(text) > 127:
        raise ValueError("a delimiter is one ASCII character, such as `;`")
    return text


def _severity(text: str) -> str:
    if text not in SEVERITIES:
        raise ValueError(did_you_mean(text, SEVERITIES) or f"it is one of {', '.join(SEVERITIES)}")
    return text


def _outbox(text: str) -> str:
    scheme = text.split("://")[0]
    if text.startswith(("${", "file:")):
        return text
    if "://" not in text or scheme.split("+")[0] not in ("sqlite", "postgresql"):
        raise ValueError("write sqlite:///state/outbox.db or postgresql://user@host/name")
    if scheme.startswith("sqlite") and text.split("://", 1)[1].strip("/") in ("", ":memory:"):
        raise ValueError("an outbox in memory would lose its alerts: name a file")
    return text


def web_address(text: str) -> str:
    """The URL of a webhook. Raises ValueError with what is wrong with it."""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"it is no URL: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError("a webhook's url begins with https:// or http:// and a host")
    return text


def _webhook(text: str) -> str:
    return text if "${" in text or text.startswith("file:") else web_address(text)


def listen_address(text: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`. Raises ValueError."""
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:\s\[\]]+):([0-9]{1,5})", text)
    if found is None or int(found[2]) > 65_535:
        raise ValueError("write HOST:PORT, such as `127.0.0.1:8090`")
    return found[1].strip("[]"), int(found[2])


def _listen(text: str) -> str:
    listen_address(text)
    return text


Text = Annotated[str, AfterValidator(_filled)]


class JobSection(Section):
    """[job]"""

    name: Annotated[Text, Field(max_length=100)]
    packs: Text
    state: Text
    trigger: Annotated[str, AfterValidator(_duration)] = "1 second"
    shards: Annotated[int, Field(ge=1, le=4096)] = 16


class FormatSection(Section):
    """How a record of [feeds.NAME] becomes an event."""

    format: Annotated[str, AfterValidator(_format)] | None = None
    fields: dict[str, Text] = {}
    constants: dict[str, Constant] = {}
    timestamps: Annotated[str, AfterValidator(_timestamps)] = "iso"
    zone: Annotated[str, AfterValidator(_zone)] = "UTC"
    header: bool = True
    delimiter: Annotated[str, AfterValidator(_delimiter)] = ","


class FeedSection(FormatSection):
    """[feeds.NAME]"""

    source: Literal["files"]
    path: Annotated[str, AfterValidator(_path_with_format)]


class GivenFeed(FormatSection):
    """A feed that an option gives: its files may be named elsewhere."""

    source: Literal["files"] = "files"
    path: Annotated[str, AfterValidator(_path_with_format)] | None = None


class GivenFeeds(Section):
    """[feeds.NAME], and nothing else of a file."""

    feeds: dict[str, GivenFeed]


class OutboxSection(Section):
    """[outbox]"""

    url: Annotated[str, AfterValidator(_outbox)]


class ReceiverSection(Section):
    """[receivers.NAME]"""

    kind: Literal["console", "webhook"]
    url: Annotated[str, AfterValidator(_webhook)] | None = None
    secret: Text | None = None
    rules: Annotated[list[Text], Field(min_length=1)] | None = None
    severity: Annotated[str, AfterValidator(_severity)] = "info"

    @model_validator(mode="after")
    def _fits_kind(self) -> ReceiverSection:
        if self.kind == "webhook" and self.url is None:
            raise ValueError("a webhook needs `url`")
        if self.kind == "console" and (self.url or self.secret):
            raise ValueError("a console has neither `url` nor `secret`")
        return self


class HttpSection(Section):
    """[http]"""

    listen: Annotated[str, AfterValidator(_listen)]


class JobFile(Section):
    """The whole file."""

    job: JobSection
    feeds: Annotated[dict[str, FeedSection], Field(min_length=1)]
    outbox: OutboxSection | None = None
    receivers: dict[str, ReceiverSection] = {}
    http: HttpSection | None = None
