"""Everything that batches count: each kind of counter is a class here, and its fields are the labels.

A kind with a `metric` is a counter of the job under that name (cep.web.metrics), with the fields as its
labels; one without is read where a sentence is made of it (cep.losses, cep.job.running.reporting,
cep.inprocess.report). A new kind is a class here and a line in `Count`; nothing else but the place that
counts has to know it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import ClassVar, Literal, TypeVar, get_args


@dataclass(frozen=True, slots=True)
class Metric:
    """A counter of Prometheus: its name without `_total`, and its help text."""

    name: str
    help: str


EventOutcome = Literal["accepted", "late", "unwanted", "null_key", "duplicate", "id_conflict", "dead"]
PoisonStage = Literal["decode", "match"]


@dataclass(frozen=True, slots=True)
class StreamEvents:
    """Events of a stream by what became of them.

    accepted     not late, wanted by a rule or not
    late         before the watermark of the batches before
    unwanted     accepted; no rule takes them
    null_key     wanted; no rule with that key takes them
    duplicate    repeat one with their id, time and key
    id_conflict  have the id of one with another time or key, and are taken
    dead         could not be read
    """

    metric: ClassVar[Metric | None] = Metric("cep_events", "Events by what became of them")
    stream: str
    outcome: EventOutcome


@dataclass(frozen=True, slots=True)
class PoisonEvents:
    """Events, or parts of files, left out as they end the process that works on them.

    `stage` is `decode` before the shuffle, `match` behind it.
    """

    metric: ClassVar[Metric | None] = Metric("cep_poison_events", "Events that ended what worked on them")
    stream: str
    stage: PoisonStage


@dataclass(frozen=True, slots=True)
class QueryDocuments:
    """Documents of a stream that a set of standing queries was asked about, and what came of it.

    `hits` counts pairs of document and query, `undecided` those at which the query came to its limit,
    `unnamed` the hits of which not every matched term is named.
    """

    metric: ClassVar[Metric | None] = Metric("cep_queries", "Documents asked, hits, and what is not known")
    stream: str
    queries: str
    outcome: Literal["documents", "hits", "undecided", "unnamed"]


@dataclass(frozen=True, slots=True)
class UndecidedDocuments:
    """Documents on which one standing query came to its limit."""

    metric: ClassVar[Metric | None] = None
    stream: str
    queries: str
    query: str


@dataclass(frozen=True, slots=True)
class QueryHits:
    """Documents that one standing query hit. Metrics name no query."""

    metric: ClassVar[Metric | None] = None
    stream: str
    queries: str
    query: str


@dataclass(frozen=True, slots=True)
class RunsDropped:
    """Runs of a rule given up: over its `limit`, or as a deploy changed the rule."""

    metric: ClassVar[Metric | None] = Metric("cep_runs_dropped", "Partial matches given up")
    pack: str
    rule: str
    reason: Literal["limit", "dropped"]


@dataclass(frozen=True, slots=True)
class RunsOverLimit:
    """Those of a rule's runs dropped over its limit that were of one key, as JSON. Metrics name no key."""

    metric: ClassVar[Metric | None] = None
    pack: str
    rule: str
    key: str


@dataclass(frozen=True, slots=True)
class WindowEventsDropped:
    """Events that windows of a rule gave up over its `limit`."""

    metric: ClassVar[Metric | None] = Metric("cep_window_events_dropped", "Events of windows given up")
    pack: str
    rule: str


@dataclass(frozen=True, slots=True)
class WindowEventsOverLimit:
    """Those of them that were of one key, as JSON. Metrics name no key."""

    metric: ClassVar[Metric | None] = None
    pack: str
    rule: str
    key: str


@dataclass(frozen=True, slots=True)
class AlternativesDropped:
    """Alternatives of a rule's runs given up: there were more than are kept."""

    metric: ClassVar[Metric | None] = Metric(
        "cep_alternatives_dropped", "Alternatives of partial matches, given up"
    )
    pack: str
    rule: str


@dataclass(frozen=True, slots=True)
class Overflows:
    """Results that became null for want of room, or as they are no number.

    `kind` says what `name` is; `pack` is "" for the conditions of a stream, which all packs share.
    """

    metric: ClassVar[Metric | None] = Metric("cep_overflows", "Results that became null for want of room")
    kind: Literal["rule", "stream"]
    pack: str
    name: str


@dataclass(frozen=True, slots=True)
class RecordEvents:
    """Accepted events of streams that rules read: those recorded, and those that could not be."""

    metric: ClassVar[Metric | None] = Metric("cep_record_events", "Events of the record")
    stream: str
    outcome: Literal["written", "lost"]


@dataclass(frozen=True, slots=True)
class RecordBytes:
    """Bytes of the record's files."""

    metric: ClassVar[Metric | None] = Metric("cep_record_bytes", "Bytes written to the record")
    stream: str


@dataclass(frozen=True, slots=True)
class RecordFailures:
    """Those of the events that could not be recorded for one reason, which may be a sentence."""

    metric: ClassVar[Metric | None] = None
    stream: str
    reason: str


Count = (
    StreamEvents
    | PoisonEvents
    | QueryDocuments
    | UndecidedDocuments
    | QueryHits
    | RunsDropped
    | RunsOverLimit
    | WindowEventsDropped
    | WindowEventsOverLimit
    | AlternativesDropped
    | Overflows
    | RecordEvents
    | RecordBytes
    | RecordFailures
)
"""A counter: its kind and the values of its labels."""
KINDS: tuple[type[Count], ...] = get_args(Count)

_Kind = TypeVar("_Kind", bound=Count)


class Counts(Counter[Count]):
    """Numbers by counter. Raises TypeError where something else is counted."""

    def __setitem__(self, counter: Count, number: int) -> None:
        """Set the number of a counter. Raises TypeError for what is none."""
        if type(counter) not in KINDS:
            raise TypeError(f"{counter!r} is no counter of cep.counters")
        super().__setitem__(counter, number)


def labels(kind: type[Count]) -> tuple[str, ...]:
    """The names of a kind's labels, in order."""
    return tuple(field.name for field in fields(kind))


def values(counter: Count) -> tuple[str, ...]:
    """The values of a counter's labels, in the order of `labels`."""
    return tuple(getattr(counter, name) for name in labels(type(counter)))


def of_kind(counts: Mapping[Count, int], kind: type[_Kind]) -> Iterator[tuple[_Kind, int]]:
    """The counters of one kind with their numbers, in the order in which they were first counted."""
    for counter, number in counts.items():
        if isinstance(counter, kind):
            yield counter, number
