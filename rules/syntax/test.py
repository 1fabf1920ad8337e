"""Test blocks as they were written."""

from __future__ import annotations

from dataclasses import dataclass

from rules.source import Span
from rules.syntax.expression import Duration, Expression, Name, Number, String
from rules.syntax.lost import Lost


@dataclass(frozen=True, slots=True)
class ListValue:
    """`[a, b]` in a test."""

    items: tuple[Value, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class MapValue:
    """`{ name: value, ... }` in a test."""

    entries: tuple[Entry, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Entry:
    """`name: value`, or `name: value within tolerance`."""

    name: Name
    value: Value
    tolerance: Expression | None
    span: Span


Value = Expression | ListValue | MapValue


@dataclass(frozen=True, slots=True)
class Given:
    """`at T [late|future] STREAM {...} [x N [every d]]`."""

    at: Duration
    stream: Name
    values: MapValue
    late: bool
    times: Number | None
    every: Duration | None
    span: Span
    future: bool = False


@dataclass(frozen=True, slots=True)
class MoveWatermark:
    """`at T watermark`."""

    at: Duration
    span: Span


@dataclass(frozen=True, slots=True)
class Expected:
    """`expect [at T] {...}`."""

    at: Duration | None
    values: MapValue
    span: Span


@dataclass(frozen=True, slots=True)
class ExpectNothing:
    """`expect nothing`."""

    span: Span


@dataclass(frozen=True, slots=True)
class AllowOther:
    """`allow other`."""

    span: Span


@dataclass(frozen=True, slots=True)
class Start:
    """`start "instant"`."""

    instant: String
    span: Span


Line = Given | MoveWatermark | Expected | ExpectNothing | AllowOther | Start


@dataclass(frozen=True, slots=True)
class TestBlock:
    """`test a, b "title" { ... }`; no rules: `*`."""

    rules: tuple[Name, ...]
    title: String
    lines: tuple[Line, ...]
    span: Span
    broken: tuple[Lost, ...] = ()
