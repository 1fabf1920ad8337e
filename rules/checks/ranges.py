"""The values that one field may still have after some comparisons of it were true.

An interval with ends that belong to it or not, a set of single values where `==` or `in` says which, and
values that `!=` leaves out. What is not known is left open: a range never leaves out a value that may be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

Operator = Literal["==", "!=", "<", "<=", ">", ">="]
OPPOSITE: dict[Operator, Operator] = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
"""What is true of a value that is not null where the operator is not."""
TURNED: dict[Operator, Operator] = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""The operator with its sides changed."""

_REMEMBERED = 200
"""Left out values that are kept; to forget one only loses a finding."""


@dataclass(frozen=True, slots=True)
class Range:
    """The values that are possible. `whole`: they are whole numbers. `among` None: not only single values."""

    whole: bool = False
    low: Any = None
    low_belongs: bool = True
    high: Any = None
    high_belongs: bool = True
    among: frozenset[Any] | None = None
    without: frozenset[Any] = frozenset()

    def narrowed(self, operator: Operator, value: Any) -> Range:
        """The values of this range that compare so with a value."""
        match operator:
            case "==":
                return self.only(frozenset([value]))
            case "!=" if self.among is not None:
                return replace(self, among=self.among - {value})
            case "!=":
                kept = len(self.without) < _REMEMBERED
                return replace(self, without=self.without | {value}) if kept else self
            case ">" | ">=":
                return self._above(value, operator == ">=")._listed()
            case "<" | "<=":
                return self._below(value, operator == "<=")._listed()

    def only(self, values: frozenset[Any]) -> Range:
        """The values of this range that are among those."""
        among = values if self.among is None else self.among & values
        return replace(self, among=frozenset(v for v in among if self._holds(v)))

    @property
    def is_empty(self) -> bool:
        """True if it is certain that no value is left."""
        if self.among is not None:
            return not self.among
        if self.low is None or self.high is None:
            return False
        if self.low == self.high:
            return not (self.low_belongs and self.high_belongs) or self.low in self.without
        return bool(self.low > self.high)

    def _above(self, value: Any, belongs: bool) -> Range:
        if self.whole and not belongs and isinstance(value, int):
            value, belongs = value + 1, True
        if self.low is not None and (value, not belongs) <= (self.low, not self.low_belongs):
            return self
        return replace(self, low=value, low_belongs=belongs)

    def _below(self, value: Any, belongs: bool) -> Range:
        if self.whole and not belongs and isinstance(value, int):
            value, belongs = value - 1, True
        if self.high is not None and (value, belongs) >= (self.high, self.high_belongs):
            return self
        return replace(self, high=value, high_belongs=belongs)

    def _listed(self) -> Range:
        """The range, its single values held to its ends."""
        if self.among is None:
            return self
        return replace(self, among=frozenset(v for v in self.among if self._holds(v)))

    def _holds(self, value: Any) -> bool:
        if value in self.without:
            return False
        if self.low is not None and not (value > self.low or (self.low_belongs and value == self.low)):
            return False
        return self.high is None or value < self.high or (self.high_belongs and bool(value == self.high))
