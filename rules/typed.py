"""The typed pack: what the front end hands on. Every name is resolved, every expression has a type.

Engines (`cep`) read nothing else of this package: no text, no syntax tree. Nodes are immutable and
compare by content, spans included. Times and durations are integers in nanoseconds; `path` is the
field's name followed by the names of nested fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Literal as Choice

from rules.source import Span
from rules.types import Scalar, Type

Path = tuple[str, ...]


# ---- expressions


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; `value` as rules.types.Scalar says. A parenthesised list is a tuple of values."""

    value: object
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class FieldRef:
    """A field of the candidate event; in `emit` of an `on` rule, of the event."""

    path: Path
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class KeyRef:
    """In `emit` of a rule with a pattern: a field of the partition key, by the name the alert shows."""

    name: str
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class StepRef:
    """A field of an event that a step took: the only one, the first, or the last.

    `offset` counts events further back from the last, further on from the first. Null where the
    step took nothing or the offset leads outside.
    """

    step: str
    path: Path
    which: Choice["only", "first", "last"]
    offset: int
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class PrevRef:
    """A field of the n-th event before the candidate among its key's events in the pattern's streams."""

    path: Path
    offset: int
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate over the events that a step took so far; `count` has an empty path.

    `function` is one of count sum avg min max stddev distinct percentile list; `parameter` is
    percentile's fraction. Of nothing: null, and 0 for count. SQL: nulls are left out.
    """

    function: str
    step: str
    path: Path
    parameter: float | None
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Negate:
    """Arithmetic minus."""

    operand: Expression
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`+ - * / %`. Operands have the types that the operator needs (see Convert)."""

    operator: Choice["+", "-", "*", "/", "%"]
    left: Expression
    right: Expression
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Compare:
    """`== != < <= > >=` of two operands of one type."""

    operator: Choice["==", "!=", "<", "<=", ">", ">="]
    left: Expression
    right: Expression
    span: Span
    type: Type = Scalar.BOOLEAN


@dataclass(frozen=True, slots=True)
class Logical:
    """`and`, `or` of two or more operands, three-valued."""

    operator: Choice["and", "or"]
    operands: tuple[Expression, ...]
    span: Span
    type: Type = Scalar.BOOLEAN


@dataclass(frozen=True, slots=True)
class Not:
    """`not`, three-valued."""

    operand: Expression
    span: Span
    type: Type = Scalar.BOOLEAN


@dataclass(frozen=True, slots=True)
class IsNull:
    """`is null`, `is not null`: never unknown."""

    operand: Expression
    negated: bool
    span: Span
    type: Type = Scalar.BOOLEAN


@dataclass(frozen=True, slots=True)
class In:
    """`in`: the items have the operand's type. Unknown where SQL says so."""

    operand: Expression
    items: tuple[Expression, ...]
    negated: bool
    span: Span
    type: Type = Scalar.BOOLEAN


@dataclass(frozen=True, slots=True)
class Like:
    """SQL `like`: `%` any characters, `_` one, `\\` escapes. The pattern is a constant."""

    operand: Expression
    pattern: str
    negated: bool
    span: Span
    type: Type = Scalar.BOOLEAN


@dataclass(frozen=True, slots=True)
class Search:
    """`=~`: unanchored search by a constant regular expression in RE2 syntax."""

    operand: Expression
    pattern: str
    span: Span
    type: Type = Scalar.BOOLEAN


@dataclass(frozen=True, slots=True)
class TextMatch:
    """`field matches "query"`: true, false, or unknown where the field is null.

    `query` is text that percolator.query accepts; `path` is a field of type text of the candidate.
    """

    path: Path
    query: str
    span: Span
    type: Type = Scalar.BOOLEAN


@dataclass(frozen=True, slots=True)
class Choose:
    """`test ? yes : no`: unknown chooses `no`."""

    test: Expression
    yes: Expression
    no: Expression
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """A function of rules.functions, by name."""

    function: str
    arguments: tuple[Expression, ...]
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Convert:
    """A value widened so that both operands agree: long to double or decimal, string to text."""

    operand: Expression
    type: Type
    span: Span


Expression = (
    Literal | FieldRef | KeyRef | StepRef | PrevRef | Aggregate | Negate | Arithmetic | Compare | Logical | Not
    | IsNull | In | Like | Search | TextMatch | Choose | Call | Convert
)  # fmt: skip


def parts(node: object) -> Iterator[object]:
    """The nodes directly below a node, in the order of their fields."""
    for f in fields(node):  # type: ignore[arg-type]
        value = getattr(node, f.name)
        for item in value if isinstance(value, tuple) else (value,):
            if hasattr(item, "__dataclass_fields__") and not isinstance(item, Span):
                yield item


def walk(node: object) -> Iterator[object]:
    """The node and all nodes below it, each before its parts."""
    yield node
    for part in parts(node):
        yield from walk(part)


# ---- patterns


@dataclass(frozen=True, slots=True)
class Quantifier:
    """How often: `least` to `most` (None: without end), and how the loop behaves.

    `mode`: greedy, reluctant (`+?`) or each (exhaustive). `own`: how the loop's own events follow
    one another, relaxed, contiguous or any. A step without a quantifier has `ONCE`.
    """

    least: int = 1
    most: int | None = 1
    mode: Choice["greedy", "reluctant", "each"] = "greedy"
    own: Choice["relaxed", "contiguous", "any"] = "relaxed"

    @property
    def single(self) -> bool:
        """Whether it can take at most one event or round (`s`, `s?`, `s{1}`)."""
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
    """What a raised match ends: `past last`, `to next`, `to first v`, `to last v`, `none`."""

    to: Choice["past last", "next", "first", "last", "none"]
    step: str | None = None


# ---- declarations


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a stream. `analyser` of a text field is the word after `text`, or empty (plain)."""

    name: str
    type: Type
    nullable: bool
    analyser: str
    span: Span


@dataclass(frozen=True, slots=True)
class Stream:
    """A declared stream. `time` is a timestamp field; without `id`, the place of an event is its id.

    `lateness` in nanoseconds; `idle` None where the author wrote none (then a silent partition is
    one that was silent for a minute, and the clock moves nothing).
    """

    name: str
    fields: tuple[Field, ...]
    id: Path | None
    time: Path
    lateness: int
    idle: int | None
    span: Span

    def field(self, name: str) -> Field:
        """The field of that name. Raises KeyError."""
        for f in self.fields:
            if f.name == name:
                return f
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class By:
    """The partition key: the names an alert shows, and for every stream of the rule its fields, in that order."""

    names: tuple[str, ...]
    types: tuple[Type, ...]
    paths: tuple[tuple[str, tuple[Path, ...]], ...]
    span: Span

    def of(self, stream: str) -> tuple[Path, ...]:
        """The key fields of one stream. Raises KeyError."""
        return dict(self.paths)[stream]


@dataclass(frozen=True, slots=True)
class On:
    """One alert for every event that satisfies the condition."""

    stream: str
    condition: Expression | None
    span: Span


@dataclass(frozen=True, slots=True)
class Match:
    """One alert for every match of a pattern in one key's events.

    `within` in nanoseconds, None: unbounded. `streams` are all streams that the pattern names
    anywhere, in the order in which the pack declares them. `on_timeout` None: silent.
    """

    pattern: Sequence
    streams: tuple[str, ...]
    within: int | None
    having: Expression | None
    skip: Skip
    on_timeout: tuple[Emit, ...] | None
    limit: int
    span: Span


@dataclass(frozen=True, slots=True)
class Emit:
    """A name of the alert and the expression that gives its value."""

    name: str
    value: Expression
    span: Span


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
    """A rule with its clauses. `structure` is the hash of what runs depend on (rules.structure)."""

    name: str
    body: On | Match
    by: By | None
    emit: tuple[Emit, ...]
    severity: Severity
    summary: Summary | None
    tags: tuple[str, ...]
    runbook: str | None
    suppress: Suppress | None
    span: Span
    structure: str = ""


# ---- tests


@dataclass(frozen=True, slots=True)
class Given:
    """`at T STREAM {...}`: events at nanoseconds since 1970; `values` in the stream's types."""

    at: int
    stream: str
    values: tuple[tuple[str, object], ...]
    late: bool
    span: Span


@dataclass(frozen=True, slots=True)
class MoveWatermark:
    """`at T watermark`."""

    at: int
    span: Span


@dataclass(frozen=True, slots=True)
class Expected:
    """`expect at T {...}` (`at` None: at any time); values by emitted name, or key, events, severity, kind."""

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
    """A checked pack. `revision` is the content hash of its files (rules.packs)."""

    name: str
    version: str
    streams: tuple[Stream, ...]
    rules: tuple[Rule, ...]
    tests: tuple[Test, ...]
    revision: str
    files: tuple[tuple[str, str], ...] = field(repr=False, default=())

    def stream(self, name: str) -> Stream:
        """The stream of that name. Raises KeyError."""
        for s in self.streams:
            if s.name == name:
                return s
        raise KeyError(name)
