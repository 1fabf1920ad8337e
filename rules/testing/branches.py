"""The outcomes that a condition may have, part by part, and those that it had.

A comparison is true or false. An operand of `and` decides when all others are true, one of `or` when all
others are false: each should have decided both ways (masking MC/DC: Chilenski and Miller, 1994). `between`
finds its value below, inside or above. What is unknown is counted apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rules.source import Span
from rules.testing.operands import Value, is_range
from rules.typed import (
    Choose,
    Compare,
    Expression,
    In,
    IsNull,
    Like,
    Logical,
    Search,
    TextMatch,
    parts,
)
from rules.typed import (
    Literal as Constant,
)

Kind = Literal["comparison", "and", "or", "range"]
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Branch:
    """A part of a condition, and the outcomes that it should be seen with."""

    kind: Kind
    span: Span

    @property
    def sides(self) -> tuple[str, ...]:
        """The names of the outcomes."""
        return ("below", "inside", "above") if self.kind == "range" else ("true", "false")


def branches(condition: Expression) -> Iterator[Branch]:
    """All parts that have outcomes, in the order of the text."""
    for branch, _, _ in _walked(condition, None):
        yield branch


def outcomes(condition: Expression, value: Value) -> Iterator[tuple[Branch, str]]:
    """The parts that were evaluated, each with its outcome."""
    for branch, node, others in _walked(condition, value):
        match branch.kind:
            case "comparison":
                yield branch, _side(value(node))
            case "range":
                yield branch, _where(node, value)
            case "and" | "or":
                if all(value(other) is (branch.kind == "and") for other in others):
                    yield branch, _side(value(node))


def _walked(
    node: Expression, value: Value | None
) -> Iterator[tuple[Branch, Expression, tuple[Expression, ...]]]:
    """Every branch, its expression and the operands beside it; with values, only of what was evaluated."""
    if isinstance(node, Logical):
        if is_range(node):
            yield Branch("range", node.span), node, ()
            low, high = node.operands
            for part in (*parts(low), *parts(high)[1:]):  # the operand once
                yield from _walked(part, value)  # type: ignore[arg-type]
            return
        for number, operand in enumerate(node.operands):
            others = (*node.operands[:number], *node.operands[number + 1 :])
            yield Branch(node.operator, operand.span), operand, others
    elif isinstance(node, _COMPARISONS):
        yield Branch("comparison", node.span), node, ()
    if isinstance(node, Choose) and value is not None:
        yield from _walked(node.test, value)
        yield from _walked(node.yes if value(node.test) is True else node.no, value)
        return
    for part in parts(node):
        if not isinstance(part, Constant):
            yield from _walked(part, value)  # type: ignore[arg-type]


_COMPARISONS = (Compare, In, Like, Search, TextMatch, IsNull)


def _side(value: object) -> str:
    return UNKNOWN if value is None else "true" if value is True else "false"


def _where(node: Expression, value: Value) -> str:
    """Where `between` found its value: both of its comparisons turn over where it is negated."""
    assert isinstance(node, Logical)
    low, high = (value(operand) for operand in node.operands)
    beyond = node.operator == "or"
    if low is beyond:
        return "below"
    if high is beyond:
        return "above"
    return UNKNOWN if low is None or high is None else "inside"
