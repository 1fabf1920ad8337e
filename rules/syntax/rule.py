"""The clauses of a rule as they were written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from rules.source import Span
from rules.syntax.expression import Dotted, Duration, Expression, Name, Number, String
from rules.syntax.pattern import Sequence, Source
from rules.syntax.window import Window


@dataclass(frozen=True, slots=True)
class On:
    """`on S[cond]`."""

    source: Source
    span: Span


@dataclass(frozen=True, slots=True)
class Match:
    """`match PATTERN`."""

    pattern: Sequence
    span: Span


@dataclass(frozen=True, slots=True)
class Over:
    """`over S[cond] WINDOW`."""

    source: Source
    window: Window
    span: Span


@dataclass(frozen=True, slots=True)
class Within:
    """`within d`; None: `within unbounded`."""

    duration: Duration | None
    span: Span


@dataclass(frozen=True, slots=True)
class Having:
    """`having cond`."""

    condition: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Skip:
    """`skip past last`, `to next`, `to first v`, `to last v`, `none`."""

    to: Choice["past last", "next", "first", "last", "none"]
    step: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class By:
    """`by f, a.g = b.h`: for every key field the equal paths, mostly one."""

    keys: tuple[tuple[Dotted, ...], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Output:
    """`name` or `name = expr` of `emit`."""

    name: Name
    value: Expression | None
    span: Span


@dataclass(frozen=True, slots=True)
class Emit:
    """`emit a, b = expr`."""

    outputs: tuple[Output, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class OnTimeout:
    """`on timeout emit ...`."""

    outputs: tuple[Output, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Limit:
    """`limit n runs`, `limit n events`."""

    number: Number
    of: Choice["runs", "events"]
    span: Span


@dataclass(frozen=True, slots=True)
class Severity:
    """`severity high`."""

    level: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Summary:
    """`summary "template"`."""

    template: String
    span: Span


@dataclass(frozen=True, slots=True)
class Tags:
    """`tags "a", "b"`."""

    tags: tuple[String, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Runbook:
    """`runbook "url"`."""

    url: String
    span: Span


@dataclass(frozen=True, slots=True)
class Suppress:
    """`suppress d`, perhaps `by f`."""

    duration: Duration
    names: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Episode:
    """`episode d`."""

    duration: Duration
    span: Span


@dataclass(frozen=True, slots=True)
class Into:
    """`into stream`."""

    stream: Name
    span: Span


Clause = (
    On | Match | Over | Within | Having | Skip | By | Emit | OnTimeout | Limit | Severity | Summary | Tags
    | Runbook | Suppress | Episode | Into
)  # fmt: skip
