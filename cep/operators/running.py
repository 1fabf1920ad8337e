"""The rules of a space by kind, each with its operator, and the numbers that rules have in what is kept.

In a segment rules are numbered through all groups of their space (`Space.keeping`), for an operator through
its own group.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cep.operators.known import operator_named
from cep.operators.operator import Operator
from cep.plan.plan import OperatorPlan, RuleId, Space
from cep.state.keyed_rows import Ints, Kept
from cep.state.named_texts import Cells


@dataclass(frozen=True, slots=True)
class OperatorGroup:
    """A group of rules with its operator; `first` is the number of its first rule in the space."""

    operator: Operator[Any, Any]
    group: OperatorPlan
    first: int

    def own(self, kept: Kept) -> Kept:
        """Its part of what is kept, with rules numbered as they are."""
        return {kind: kept[kind] for kind in self.operator.state if kind in kept}

    def taken(self, kept: Kept) -> Kept:
        """Its part of what a segment keeps."""
        return self._shifted(kept, -self.first)

    def given(self, kept: Kept) -> Kept:
        """Its part of what is kept, for a segment."""
        return self._shifted(kept, self.first)

    def _shifted(self, kept: Kept, by: int) -> Kept:
        numbers = np.arange(self.first + len(self.group.rules)) + by
        return {kind: rows.of_rules(numbers) if by else rows for kind, rows in self.own(kept).items()}

    def left(self, kept: Kept, rules: Sequence[RuleId]) -> Kept:
        """Its part of what a segment keeps, of those of these rules that are still there: the segment numbers
        them in this order."""
        mine = {rule.identity: number for number, rule in enumerate(self.group.rules)}
        numbers = np.array([mine.get(name, -1) for name in rules], np.int64)
        return {kind: rows.of_rules(numbers) for kind, rows in self.own(kept).items()}

    def counted(self, kept: Kept) -> Ints:
        """The number of live runs of each rule of the group."""
        count = len(self.group.rules)
        return sum((rows.counted(count) for rows in self.own(kept).values()), np.zeros(count, np.int64))


Groups = tuple[OperatorGroup, ...]


def running(space: Space) -> Groups:
    """The groups of a space with their operators."""
    found, first = [], 0
    for group in space.groups:
        found.append(OperatorGroup(operator_named(group.kind), group, first))
        first += len(group.rules)
    return tuple(found)


def together(parts: Iterable[Kept]) -> Kept:
    """The state that several operators keep, as one."""
    return {kind: rows for part in parts for kind, rows in part.items()}


def named_in(groups: Groups, kept: Kept, carried: bool = False) -> list[Cells]:
    """The cells in which texts are named (Operator.texts)."""
    return [cells for one in groups for cells in one.operator.texts(one.group, one.own(kept), carried)]
