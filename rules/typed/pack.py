"""Typed rules, tests and the pack that holds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal as Choice

from rules.source import Span
from rules.typed.expression import Expression, Path
from rules.typed.pattern import Sequence, Skip
from rules.typed.stream import Fed, Queries, Stream, Table
from rules.typed.window import Window
from rules.types import Type


@dataclass(frozen=True, slots=True)
class By:
    """The partition key: the names an alert shows, and for every stream its fields, in that order.

    Of the values under `secrets` it shows a hash.
    """

    names: tuple[str, ...]
    types: tuple[Type, ...]
    paths: tuple[tuple[str, tuple[Path, ...]], ...]
    span: Span
    secrets: frozenset[str] = frozenset()

    def of(self, stream: str) -> tuple[Path, ...]:
        """The key fields of one stream. Raises KeyError."""
        return dict(self.paths)[stream]


@dataclass(frozen=True, slots=True)
class On:
    """One alert for every event that satisfies the condition."""

    stream: str
    condition: Expression | None
    span: Span


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Match:
    """One alert for every match of a pattern in one key's events.

    `within` in nanoseconds, None: unbounded. `streams` are all streams that the pattern names
    anywhere, in the order in which the pack declares them. `on_timeout` None: silent. `own_limit`: the rule
    says its limit itself.
    """

    pattern: Sequence
    streams: tuple[str, ...]
    within: int | None
    having: Expression | None
    skip: Skip
    on_timeout: tuple[Emit, ...] | None
    limit: int
    own_limit: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Over:
    """One alert for every window of a key's events for which `having` holds.

    Sliding windows and last events: when it becomes true, and again only after it was not. `limit` is the
    greatest number of events of one key that these keep; other windows know no such bound.
    """

    stream: str
    condition: Expression | None
    window: Window
    having: Expression
    limit: int
    span: Span


@dataclass(frozen=True, slots=True)
class Emit:
    """A name of the alert and the expression that gives its value; of a `secret` one a hash is shown."""

    name: str
    value: Expression
    span: Span
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """A template: literal text and emitted names, in order; `names[i]` stands after `texts[i]`."""

    texts: tuple[str, ...]
    names: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Suppress:
    """Withhold alerts with equal values of `names` for less than `duration` ns after a raised one.

    The names are emitted names or key fields; empty: the whole key.
    """

    duration: int
    names: tuple[str, ...]
    span: Span


Severity = Choice["critical", "high", "medium", "low", "info"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with its clauses. `structure` is the hash of what runs depend on (rules.structure).

    `into` is the derived stream that it makes; `episode` the time in ns within which its alerts of one key
    belong together, None where the clause is not there.
    """

    name: str
    body: On | Match | Over
    by: By | None
    emit: tuple[Emit, ...]
    severity: Severity
    summary: Summary | None
    tags: tuple[str, ...]
    runbook: str | None
    suppress: Suppress | None
    span: Span
    structure: str = ""
    into: str | None = None
    episode: int | None = None

    @property
    def streams(self) -> tuple[str, ...]:
        """All streams that the rule names anywhere, in the order in which the pack holds them."""
        return self.body.streams if isinstance(self.body, Match) else (self.body.stream,)


@dataclass(frozen=True, slots=True)
class Given:
    """`at T STREAM {...}`: an event at nanoseconds since 1970; `values` in the stream's types.

    `late`: the author says that it comes too late; `future`: that its time is too far ahead of the clock.
    """

    at: int
    stream: str
    values: tuple[tuple[str, object], ...]
    late: bool
    span: Span
    future: bool = False


@dataclass(frozen=True, slots=True)
class MoveWatermark:
    """`at T watermark`."""

    at: int
    span: Span


@dataclass(frozen=True, slots=True)
class Near:
    """A value that an alert may miss by so much, the limits included; times and durations in nanoseconds."""

    value: object
    tolerance: int | float | Decimal


@dataclass(frozen=True, slots=True)
class Expected:
    """`expect at T {...}` (`at` None: at any time); values by emitted name or by the alert's fields.

    A value with a tolerance is a Near.
    """

    at: int | None
    values: tuple[tuple[str, object], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Test:
    """A test block. `rules` are names; a `*` is already spelled out. Repeated events are already unrolled."""

    rules: tuple[str, ...]
    title: str
    timeline: tuple[Given | MoveWatermark | Expected, ...]
    nothing: bool
    allow_other: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Pack:
    """A checked pack. `revision` is the content hash of its files (rules.packs).

    `streams` are those that a feed delivers, as declared, then those of hits that some rule reads and derived
    ones, each after the streams that it is made of.
    """

    name: str
    version: str
    streams: tuple[Stream, ...]
    rules: tuple[Rule, ...]
    tests: tuple[Test, ...]
    revision: str
    files: tuple[tuple[str, str], ...] = field(repr=False, default=())
    tables: tuple[Table, ...] = ()
    queries: tuple[Queries, ...] = ()

    @property
    def fed(self) -> tuple[Stream, ...]:
        """The streams that a feed delivers, as declared."""
        return tuple(s for s in self.streams if isinstance(s.origin, Fed))

    def stream(self, name: str) -> Stream:
        """The stream of that name. Raises KeyError."""
        for s in self.streams:
            if s.name == name:
                return s
        raise KeyError(name)
