"""Typed patterns. Durations are integers in nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from rules.source import Span
from rules.typed.expression import Expression


@dataclass(frozen=True, slots=True)
class Quantifier:
    """A repetition: `least` to `most` (None: without end), and how the loop behaves.

    `mode`: greedy, reluctant (`+?`) or each (exhaustive). `own`: how the loop's own events follow
    one another, relaxed, contiguous or any. A step without a quantifier has `ONCE`.
    """

    least: int = 1
    most: int | None = 1
    mode: Choice["greedy", "reluctant", "each"] = "greedy"
    own: Choice["relaxed", "contiguous", "any"] = "relaxed"

    @property
    def single(self) -> bool:
        """True if it can take at most one event or round (`s`, `s?`, `s{1}`)."""
        return self.most == 1


ONCE = Quantifier()


@dataclass(frozen=True, slots=True)
class Guard:
    """A stream and a condition that an event may satisfy, bound to no name: of `not`, `until`, `absent`."""

    stream: str
    condition: Expression | None
    span: Span


@dataclass(frozen=True, slots=True)
class Step:
    """One event (or more) of a stream; `name` is the stream's where the author gave none.

    `gap`: less than so many nanoseconds after the event taken before it.
    """

    name: str
    stream: str
    condition: Expression | None
    quantifier: Quantifier
    until: Guard | None
    gap: int | None
    span: Span


@dataclass(frozen=True, slots=True)
class Unless:
    """`not S[c]` between steps: the event that ends the run."""

    guard: Guard
    span: Span


@dataclass(frozen=True, slots=True)
class Absent:
    """`absent S[c] for d`; without `for` (None) it runs until `within` is over."""

    guard: Guard
    duration: int | None
    span: Span


@dataclass(frozen=True, slots=True)
class Either:
    """`(p | q)`: whole sequences, the left preferred."""

    branches: tuple[Sequence, ...]
    quantifier: Quantifier
    until: Guard | None
    gap: int | None
    span: Span


@dataclass(frozen=True, slots=True)
class AnyOrder:
    """`(p & q)`: whole sequences, in any order."""

    operands: tuple[Sequence, ...]
    quantifier: Quantifier
    until: Guard | None
    gap: int | None
    span: Span


@dataclass(frozen=True, slots=True)
class Group:
    """`(p -> q){n,m}`."""

    body: Sequence
    quantifier: Quantifier
    until: Guard | None
    gap: int | None
    span: Span


Element = Step | Unless | Absent | Either | AnyOrder | Group
Sign = Choice["->", "=>", "~>"]


@dataclass(frozen=True, slots=True)
class Sequence:
    """Elements with the sign that stands before each; the first one's sign is `->` and means nothing."""

    elements: tuple[tuple[Sign, Element], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Skip:
    """The runs that a raised match ends: `past last`, `to next`, `to first v`, `to last v`, `none`."""

    to: Choice["past last", "next", "first", "last", "none"]
    step: str | None = None
