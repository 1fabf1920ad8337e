"""Patterns as they were written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from rules.source import Span
from rules.syntax.expression import Duration, Expression, Name


@dataclass(frozen=True, slots=True)
class Source:
    """`S[cond]`, `S matching Q[cond]`: the events of a stream that satisfy a condition."""

    stream: Name
    matching: Name | None
    condition: Expression | None
    span: Span


@dataclass(frozen=True, slots=True)
class Quantifier:
    """`{n}`, `{n,m}`, `{n,}`, `+`, `*`, `?`, perhaps with `?` for reluctant. `most` None: open."""

    least: int
    most: int | None
    reluctant: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Modifier:
    """`each`, `contiguous`, `any`, `until S[c]`, `gap d`."""

    kind: Choice["each", "contiguous", "any", "until", "gap"]
    until: Source | None
    gap: Duration | None
    span: Span


@dataclass(frozen=True, slots=True)
class Step:
    """`a: S[c]` with what follows it; quantifiers as many as were written."""

    name: Name | None
    source: Source
    quantifiers: tuple[Quantifier, ...]
    modifiers: tuple[Modifier, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Unless:
    """`not S[c]`."""

    source: Source
    span: Span


@dataclass(frozen=True, slots=True)
class Absent:
    """`absent S[c]`, perhaps `for d`."""

    source: Source
    duration: Duration | None
    span: Span


@dataclass(frozen=True, slots=True)
class Group:
    """Parentheses with sequences in them: one, or several with the bars `|` or `&` between them."""

    branches: tuple[Sequence, ...]
    bars: tuple[Sign, ...]
    quantifiers: tuple[Quantifier, ...]
    modifiers: tuple[Modifier, ...]
    span: Span


Element = Step | Unless | Absent | Group


@dataclass(frozen=True, slots=True)
class Sign:
    """`->`, `=>`, `~>` between steps; `|`, `&` between sequences."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Sequence:
    """Elements with a sign between every two of them."""

    elements: tuple[Element, ...]
    signs: tuple[Sign, ...]
    span: Span
