"""Events that wait for the watermark, and how the verdicts of the plan that judged them are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from cep.automata.plan import Plan, Space

RuleId = tuple[str, str, str]
"""Pack, rule and structure hash."""
Judged = Mapping[RuleId, tuple[tuple[Mapping[str, int], ...], tuple[Mapping[str, int], ...]]]
"""For each rule, by place, the bit and the column of each stream: how verdicts of a plan are read."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a plan numbers the rules of a space, and how its verdicts are read. `number`: as a part."""

    number: int
    plan: str
    rules: tuple[RuleId, ...]
    judged: Judged


@dataclass(frozen=True, slots=True)
class Waiting:
    """Events above the watermark, with the layout of the plan that judged them (decision 0001)."""

    stream: str
    layout: Layout
    table: pa.Table


@dataclass(frozen=True, slots=True)
class Pending:
    """Events that wait for the watermark, and by stream the ids of those at it. `number`: as a part."""

    number: int
    waiting: tuple[Waiting, ...]
    remembered: Mapping[str, pa.Table]


def layout_of(plan: Plan, space: Space, number: int) -> Layout:
    """The layout of a space under a plan."""
    rules = () if space.tables is None else space.tables.identities
    return Layout(number, plan.id, rules, space.judged)
