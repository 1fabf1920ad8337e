"""A query's expression -> its branches: under which pairs of leaves each is found, and what is left to check.

A query is true where one of its branches is (the operands of an OR at the top). A branch is an AND; each
of its operands gives a *clause*, leaves of which one must be true. The branch is posted under the pairs of
the rarest clause with the second rarest: a document that has no such pair cannot be hit. Operands that the
pair proves are not checked again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, assert_never

from percolator.expressions import All, Any, Expression, No, Some
from percolator.leaves import DOCUMENT, LeafTable

MOST_PAIRS = 24
"""Products of two ORs that are written out."""

Rarity = Sequence[float]
"""By leaf, the share of documents that have it, or what is believed of it."""


def guessed(leaves: LeafTable) -> list[float]:
    """By leaf, the share of documents believed to have it where nothing is known: short words are common."""
    found = [0.3] * leaves.count
    found[DOCUMENT] = 1.0
    for test in leaves.words:
        letters = len(test.text.replace("*", "").replace("?", ""))
        share = 0.5 * 0.75**letters
        found[test.leaf] = min(1.0, share * (4.0 if test.kind == "pattern" else 1.0))
    for leaf in leaves.present.values():
        found[leaf] = 0.9
    for parts, leaf in leaves.phrases.items():
        found[leaf] = 0.2 * min(found[part] for part in parts)
    return found


class Clause(NamedTuple):
    """Leaves of which one must be true; `proves` is the operand's place if they are all it asks for."""

    frequency: float
    leaves: tuple[int, ...]
    proves: int


class Branch(NamedTuple):
    """Pairs of leaves, and what remains to be true where both of a pair are."""

    pairs: list[tuple[int, int]]
    rest: list[Expression]


def branches(expression: Expression, rarity: Rarity) -> list[Branch]:
    """The branches of one query; none where it can never be true."""
    if isinstance(expression, Any):
        return [_branch(operand, rarity) for operand in expression.operands]
    return [_branch(expression, rarity)]


def _branch(expression: Expression, rarity: Rarity) -> Branch:
    if isinstance(expression, int) and expression >= 0:
        return Branch([(expression, DOCUMENT)], [])
    operands: list[Expression] = list(expression.operands) if isinstance(expression, All) else [expression]
    clauses: list[Clause] = []
    for place, operand in enumerate(operands):
        found = _clause(operand, rarity)
        if found is not None:
            clauses.append(Clause(*found, place if _is_clause(operand) else -1))
    clauses.sort()
    if not clauses:
        return Branch([(DOCUMENT, DOCUMENT)], operands)
    first = clauses[0]
    proved = {first.proves}
    pairs = [(leaf, DOCUMENT) for leaf in first.leaves]
    for second in clauses[1:]:
        if len(first.leaves) * len(second.leaves) <= MOST_PAIRS:
            proved.add(second.proves)
            pairs = [(one, other) for one in first.leaves for other in second.leaves]
            break
    return Branch(pairs, [operand for place, operand in enumerate(operands) if place not in proved])


def _is_clause(operand: Expression) -> bool:
    if isinstance(operand, int):
        return operand >= 0
    return isinstance(operand, Any) and all(isinstance(one, int) and one >= 0 for one in operand.operands)


def _clause(operand: Expression, rarity: Rarity) -> tuple[float, tuple[int, ...]] | None:
    """The frequency and leaves of the rarest clause that must hold, None where nothing must."""
    match operand:
        case int():
            return (rarity[operand], (operand,)) if operand >= 0 else None
        case All():
            found = [clause for one in operand.operands if (clause := _clause(one, rarity)) is not None]
            return min(found, default=None)
        case Any():
            return _united([_clause(one, rarity) for one in operand.operands])
        case Some():
            # Of any n - count + 1 operands one must be true: the rarest ones are taken.
            known = [clause for one in operand.operands if (clause := _clause(one, rarity)) is not None]
            enough = len(operand.operands) - operand.count + 1
            return _united(sorted(known)[:enough]) if len(known) >= enough else None
        case No():
            return None
        case _:
            assert_never(operand)


def _united(
    found: Sequence[tuple[float, tuple[int, ...]] | None],
) -> tuple[float, tuple[int, ...]] | None:
    leaves: dict[int, None] = {}
    frequency = 0.0
    for clause in found:
        if clause is None:
            return None
        frequency += clause[0]
        leaves.update(dict.fromkeys(clause[1]))
    return frequency, tuple(leaves)
