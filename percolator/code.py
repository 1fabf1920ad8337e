"""Checks that a pair of leaves leaves open -> jump code: tests, each with where to go on if true or false.

NOT swaps the two targets, and a test that decides ends the run, so that an OR of five hundred costs what
its true operands cost. Cheap and deciding tests come first, positional nodes last.
"""

from __future__ import annotations

from typing import assert_never

from percolator.branches import Rarity
from percolator.expressions import All, Any, Expression, No, Some
from percolator.matching.kernel.layout import CODE, COUNTERS, GO_FALSE, GO_TRUE

POSITIONAL = 1000.0
"""How much dearer a positional node is than a leaf."""


class Coder:
    """Writes the code of one expression, back to front: a target is written before what jumps to it."""

    def __init__(self, rarity: Rarity, leaves: int) -> None:
        self._rarity = rarity
        self._leaves = leaves
        self._rows: list[tuple[int, int, int]] = []
        self.tested: set[int] = set()
        """The leaves that some code tests."""

    def code(self, operands: list[Expression], base: int) -> list[int]:
        """Cells for the AND of the operands, to stand at `base`; the first cell is where it begins."""
        self._rows = []
        self._emit(All(tuple(operands)), GO_TRUE, GO_FALSE, 0)
        last = len(self._rows) - 1
        cells: list[int] = []
        for test, yes, no in reversed(self._rows):
            counted = test < 0 and (-1 - test) % 2 == 0  # its third cell is a number, no target
            cells.append(test)
            cells.append(yes if yes < 0 else base + CODE * (last - yes))
            cells.append(no if no < 0 or counted else base + CODE * (last - no))
        return cells

    def _row(self, test: int, yes: int, no: int) -> int:
        self._rows.append((test, yes, no))
        return len(self._rows) - 1

    def _emit(self, expression: Expression, yes: int, no: int, depth: int) -> int:
        """Where the code of the expression begins; it goes on at `yes` or `no`."""
        match expression:
            case int():
                if expression < 0:
                    return self._row(self._leaves + ~expression, yes, no)
                self.tested.add(expression)
                return self._row(expression, yes, no)
            case No():
                return self._emit(expression.operand, no, yes, depth)
            case All():
                for operand in sorted(expression.operands, key=self._false_first, reverse=True):
                    yes = self._emit(operand, yes, no, depth)
                return yes
            case Any():
                for operand in sorted(expression.operands, key=self._true_first, reverse=True):
                    no = self._emit(operand, yes, no, depth)
                return no
            case Some():
                # A tree is 200 high at most, so that the counters cannot run out.
                assert depth < COUNTERS
                following = no
                for operand in sorted(expression.operands, key=self._true_first, reverse=True):
                    counted = self._row(-2 - 2 * depth, yes, following)
                    following = self._emit(operand, counted, following, depth + 1)
                return self._row(-1 - 2 * depth, following, expression.count)
            case _:
                assert_never(expression)

    def _false_first(self, expression: Expression) -> float:
        cost, share = self._guess(expression)
        return cost + share

    def _true_first(self, expression: Expression) -> float:
        cost, share = self._guess(expression)
        return cost - share

    def _guess(self, expression: Expression) -> tuple[float, float]:
        """About how dear the check is, and how often it will be true."""
        match expression:
            case int():
                return (1.0, self._rarity[expression]) if expression >= 0 else (POSITIONAL, 0.5)
            case No():
                cost, share = self._guess(expression.operand)
                return cost, 1.0 - share
            case All():
                guesses = [self._guess(operand) for operand in expression.operands]
                return sum(cost for cost, _ in guesses), min((share for _, share in guesses), default=1.0)
            case Any() | Some():
                guesses = [self._guess(operand) for operand in expression.operands]
                return sum(cost for cost, _ in guesses), max((share for _, share in guesses), default=0.0)
            case _:
                assert_never(expression)
