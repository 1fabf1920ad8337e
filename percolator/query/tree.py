"""The tree of a query. Nodes are immutable, compare by content, and know where they stand in the text.

`span` takes no part in comparison. Texts are as the author wrote them: a node says nothing about
fields' types or analysers, which are the schema's (percolator.compile).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple


class Span(NamedTuple):
    """The code points `start` to `end` (exclusive) of the query's text."""

    start: int
    end: int


NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Word:
    """A bare term, escapes resolved. What analyses to several words is a phrase of them."""

    text: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Exact:
    """`{WHO}`: case as written, neither stemmed nor folded."""

    text: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Wildcard:
    """`recall*`, `w?men`: on one analysed word, stemmed or before stemming.

    Within the pattern `\\` keeps `*`, `?`, `\\` literal.
    """

    pattern: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Regex:
    """`/reg.x/`: on one analysed word, anchored at both ends."""

    pattern: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Fuzzy:
    """`name~1`: one word within that Damerau distance (1 or 2)."""

    text: str
    distance: int
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Phrase:
    """`"a b"~3`: words, wildcards and `{Exact}` words in order.

    `text` is what stands between the quotes; `\\` keeps `" * ? { } \\` literal. `slop` bounds the
    spread of (position - index), as Lucene counts.
    """

    text: str
    slop: int = 0
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Near:
    """`a NEAR/5 b`, `a ONEAR/5 b`: at most `distance` words between the two."""

    left: Node
    right: Node
    distance: int
    ordered: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class NotNear:
    """`a NOT NEAR/5 b`: a span of a with no b that near."""

    left: Node
    right: Node
    distance: int
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class And:
    """All of two or more operands. An operand that is itself an And stood in brackets."""

    operands: tuple[Node, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Or:
    """Any of two or more operands."""

    operands: tuple[Node, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """The operand is not true."""

    operand: Node
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Fielded:
    """`title:x`, `title:(a OR b)`: the operand, looked for in that field; the innermost name counts."""

    name: str
    operand: Node
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Range:
    """`price:[10 TO 20]`, `price:>=10`: some value of the field lies in it; None is an open end."""

    name: str
    low: str | None
    high: str | None
    with_low: bool
    with_high: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Everything:
    """`*:*`: true on every document."""

    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Present:
    """`title:*`: the field has a value."""

    name: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class SomeOf:
    """`2 of (a, b, c)`: at least `count` of the branches."""

    count: int
    operands: tuple[Node, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class AtLeast:
    """`atleast/3 fraud`: at least `count` spans of the operand in one field."""

    count: int
    operand: Node
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class First:
    """`first/50 x`: a span of the operand that ends within the first `within` words of a field."""

    within: int
    operand: Node
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Together:
    """`sentence(a, b)`, `paragraph(a, b)`: all operands within one of them."""

    unit: Literal["sentence", "paragraph"]
    operands: tuple[Node, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Named:
    """`risk = (recall OR lawsuit)`: the operand; a hit names it where it was true."""

    name: str
    operand: Node
    span: Span = field(default=NOWHERE, compare=False)


Node = (
    Word
    | Exact
    | Wildcard
    | Regex
    | Fuzzy
    | Phrase
    | Near
    | NotNear
    | And
    | Or
    | Not
    | Fielded
    | Range
    | Everything
    | Present
    | SomeOf
    | AtLeast
    | First
    | Together
    | Named
)
"""Every kind of node."""


def children(node: Node) -> tuple[Node, ...]:
    """The operands of a node, in the order of the text."""
    match node:
        case And() | Or() | SomeOf() | Together():
            return node.operands
        case Near() | NotNear():
            return (node.left, node.right)
        case Not() | Fielded() | AtLeast() | First() | Named():
            return (node.operand,)
        case _:
            return ()
