"""Typed streams, tables and standing queries: what rules read, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rules.source import Span
from rules.typed.expression import Path
from rules.types import Type

_DAY = 86_400 * 10**9


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a stream or table. `analyser` of a text field is the word after `text`, or empty (plain).

    Rules use the value of a `secret` one; whatever is told of it is a keyed hash.
    """

    name: str
    type: Type
    nullable: bool
    analyser: str
    span: Span
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Fed:
    """The events come from a feed."""


@dataclass(frozen=True, slots=True)
class QueryHits:
    """One event per event of stream `documents` and query of `queries` that hits it, in order of query id.

    The fields are those of the document, then `HIT_FIELDS`; the id is that of the document with that
    of the query.
    """

    documents: str
    queries: str


@dataclass(frozen=True, slots=True)
class Derived:
    """One event per alert of rule `rule`, suppressed ones too, right after the event that decided it.

    The fields are the names that the rule emits, and null where `emit` or `on timeout emit` lacks one.
    """

    rule: str


Origin = Fed | QueryHits | Derived


@dataclass(frozen=True, slots=True)
class Correction:
    """`corrected by sent, received`: event time is the time written plus `received - sent`."""

    sent: Path
    received: Path
    span: Span


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream that rules read. `time` is a timestamp field; without `id`, the place of an event is its id.

    `lateness` in nanoseconds; `idle` None where the author wrote none (then a silent partition is
    one that was silent for a minute, and the clock moves nothing). `future` in nanoseconds: an event further
    ahead of the clock is malformed; None where the author wrote none (then a day). A derived stream has
    neither `id` nor `time` (empty): its events have the id and the time of the alert.
    """

    name: str
    fields: tuple[Field, ...]
    id: Path | None
    time: Path
    lateness: int
    idle: int | None
    span: Span
    corrected: Correction | None = None
    origin: Origin = Fed()
    future: int | None = None

    def field(self, name: str) -> Field:
        """The field of that name. Raises KeyError."""
        return _field(self.fields, name)

    @property
    def secrets(self) -> frozenset[str]:
        """The names of its secret fields."""
        return frozenset(one.name for one in self.fields if one.secret)

    @property
    def furthest_ahead(self) -> int:
        """The time, in ns, that an event may be ahead of the clock; one further ahead is malformed."""
        return _DAY if self.future is None else self.future

    @property
    def step(self) -> str:
        """The name that an unnamed step over the stream goes by."""
        return self.origin.documents if isinstance(self.origin, QueryHits) else self.name


@dataclass(frozen=True, slots=True)
class Table:
    """A lookup by the field `key`, as of the event's time.

    `time` is the timestamp from which a row holds, until the next one of its key; without it every
    row holds always.
    """

    name: str
    key: str
    fields: tuple[Field, ...]
    time: Path | None
    span: Span

    def field(self, name: str) -> Field:
        """The field of that name. Raises KeyError."""
        return _field(self.fields, name)


@dataclass(frozen=True, slots=True)
class Queries:
    """Standing queries, one a line of `file`, which is relative to the rule file that names it.

    `span` is that of the file's name, `path` where the file is, `content` a hash of its bytes
    (rules.query_files); both are empty until it was read.
    """

    name: str
    file: str
    span: Span
    path: str = ""
    content: str = ""


def _field(fields: Iterable[Field], name: str) -> Field:
    for field in fields:
        if field.name == name:
            return field
    raise KeyError(name)
