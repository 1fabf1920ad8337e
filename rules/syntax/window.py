"""Windows as they were written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from rules.source import Span
from rules.syntax.expression import Duration, Number, String


@dataclass(frozen=True, slots=True)
class WindowModifier:
    """`zone "Europe/Berlin"`, `early`, `max d`, `within d`."""

    kind: Choice["zone", "early", "max", "within"]
    zone: String | None
    duration: Duration | None
    span: Span


@dataclass(frozen=True, slots=True)
class Tumbling:
    """`tumbling d`."""

    size: Duration
    modifiers: tuple[WindowModifier, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Hopping:
    """`hopping d every h`."""

    size: Duration
    every: Duration
    modifiers: tuple[WindowModifier, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Sliding:
    """`sliding d`."""

    size: Duration
    modifiers: tuple[WindowModifier, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Session:
    """`session gap d`."""

    gap: Duration
    modifiers: tuple[WindowModifier, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class LastEvents:
    """`last n events`."""

    events: Number
    modifiers: tuple[WindowModifier, ...]
    span: Span


Window = Tumbling | Hopping | Sliding | Session | LastEvents
