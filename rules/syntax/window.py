"""Windows as they were written."""

from __future__ import annotations

from dataclasses import dataclass

from rules.source import Span
from rules.syntax.expression import Duration, Number


@dataclass(frozen=True, slots=True)
class Tumbling:
    """`tumbling d`."""

    size: Duration
    span: Span


@dataclass(frozen=True, slots=True)
class Hopping:
    """`hopping d every h`."""

    size: Duration
    every: Duration
    span: Span


@dataclass(frozen=True, slots=True)
class Sliding:
    """`sliding d`."""

    size: Duration
    span: Span


@dataclass(frozen=True, slots=True)
class Session:
    """`session gap d`."""

    gap: Duration
    span: Span


@dataclass(frozen=True, slots=True)
class LastEvents:
    """`last n events`."""

    events: Number
    span: Span


Window = Tumbling | Hopping | Sliding | Session | LastEvents
