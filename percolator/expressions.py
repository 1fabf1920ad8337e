"""Expressions over tests, simplified as they are made.

A test is a number: a leaf (>= 0, percolator.leaves) or a positional node (~number, percolator.nodes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(slots=True, unsafe_hash=True)
class All:
    """Every operand; none is true."""

    operands: tuple[Expression, ...]


@dataclass(slots=True, unsafe_hash=True)
class Any:
    """Some operand; none is false."""

    operands: tuple[Expression, ...]


@dataclass(slots=True, unsafe_hash=True)
class Some:
    """At least `count` of the operands; 1 < count < how many there are."""

    count: int
    operands: tuple[Expression, ...]


@dataclass(slots=True, unsafe_hash=True)
class No:
    """Not the operand."""

    operand: Expression


Expression = int | All | Any | Some | No

TRUE = All(())
FALSE = Any(())


def all_of(operands: Sequence[Expression]) -> Expression:
    """And, with constants, nested ands and repetitions gone."""
    kept: dict[Expression, None] = {}
    for operand in operands:
        if operand == FALSE:
            return FALSE
        if isinstance(operand, All):
            kept.update(dict.fromkeys(operand.operands))
        else:
            kept[operand] = None
    return next(iter(kept)) if len(kept) == 1 else All(tuple(kept))


def any_of(operands: Sequence[Expression]) -> Expression:
    """Or, with constants, nested ors and repetitions gone."""
    kept: dict[Expression, None] = {}
    for operand in operands:
        if operand == TRUE:
            return TRUE
        if isinstance(operand, Any):
            kept.update(dict.fromkeys(operand.operands))
        else:
            kept[operand] = None
    return next(iter(kept)) if len(kept) == 1 else Any(tuple(kept))


def some_of(count: int, operands: Sequence[Expression]) -> Expression:
    """At least `count`: equal operands count each for itself."""
    count -= sum(operand == TRUE for operand in operands)
    kept = [operand for operand in operands if operand not in (TRUE, FALSE)]
    if count <= 0:
        return TRUE
    if count > len(kept):
        return FALSE
    if count == 1:
        return any_of(kept)
    return all_of(kept) if count == len(kept) else Some(count, tuple(kept))


def negated(operand: Expression) -> Expression:
    """Not, with constants and double negations gone."""
    if operand == TRUE:
        return FALSE
    if operand == FALSE:
        return TRUE
    return operand.operand if isinstance(operand, No) else No(operand)
