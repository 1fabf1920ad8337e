"""Bodies of requests: dataclasses that pydantic checks. A key that none has is a mistake."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

Id = Annotated[str, Field(min_length=1, max_length=64)]
Text = Annotated[str, Field(max_length=10_000)]
Name = Annotated[str, Field(max_length=2_000)]
Ids = Annotated[list[Id], Field(min_length=1, max_length=1_000)]
State = Literal["pending", "delivered", "failed"]
Verdict = Literal["true_positive", "false_positive", "benign", "duplicate"]

_closed = dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid", strict=True))


@_closed
class Noted:
    """A note for others to read."""

    note: Text = ""


@_closed
class NotedEpisodes:
    """Episodes by their ids, and a note."""

    episodes: Ids
    note: Text = ""


@_closed
class Verdicted:
    """The outcome for an episode."""

    verdict: Verdict
    note: Text = ""


@_closed
class VerdictedEpisodes:
    """What came of several."""

    episodes: Ids
    verdict: Verdict
    note: Text = ""


@_closed
class Silencing:
    """A silence that ends at `until`, or after a `length` such as `2 hours`; it `begins` now, or then."""

    matchers: Annotated[list[Annotated[str, Field(max_length=2_000)]], Field(min_length=1, max_length=50)]
    why: Annotated[str, Field(min_length=1, max_length=1_000)]
    begins: Annotated[str | None, Field(max_length=100)] = None
    until: Annotated[str | None, Field(max_length=100)] = None
    length: Annotated[str | None, Field(max_length=100)] = None


@_closed
class Silences:
    """Silences by their ids."""

    silences: Ids


@_closed
class ToReceiver:
    """The receiver that gets it again; absent: all that it was to go to."""

    receiver: Annotated[str | None, Field(max_length=200)] = None


@_closed
class AlertsToReceiver:
    """Alerts by their ids, and the receiver that gets them again."""

    alerts: Ids
    receiver: Annotated[str | None, Field(max_length=200)] = None


@_closed
class Filter:
    """Alerts by what they say, as the parameters of `GET /alerts`."""

    pack: Name | None = None
    rule: Name | None = None
    severity: Name | None = None
    since: Name | None = None
    until: Name | None = None
    key: Name | None = None


@_closed
class FilteredToReceiver:
    """The receiver that gets the alerts of a filter again, those whose delivery is in one of the states."""

    receiver: Annotated[str, Field(max_length=200)]
    filter: Filter = field(default_factory=Filter)
    states: Annotated[list[State], Field(min_length=1)] = field(default_factory=lambda: ["failed"])
    dry_run: bool = False


@_closed
class Document:
    """A document by its fields; `set` names the queries that are asked, the first if absent."""

    document: dict[str, Any]
    set: Annotated[str | None, Field(max_length=200)] = None


@_closed
class Key:
    """The key to erase: `card_id=c1`, or a JSON object."""

    key: Annotated[str, Field(min_length=1, max_length=2_000)]
    dry_run: bool = False


@_closed
class LettersToReplay:
    """Dead letters by their `numbers`, or without those all of a `feed`, or with `all` all that there are.

    `data` (base64) takes the place of the bytes of a single one that is named.
    """

    numbers: Annotated[list[Annotated[int, Field(ge=0)]] | None, Field(min_length=1, max_length=1_000)] = None
    feed: Annotated[str | None, Field(max_length=200)] = None
    all: bool = False
    data: Annotated[str | None, Field(max_length=240_000)] = None
    dry_run: bool = False


@_closed
class Nothing:
    """Nothing is needed."""
