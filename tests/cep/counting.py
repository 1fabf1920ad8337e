"""An operator that nothing but a test knows: it counts the events of a key by minute.

A third kind of rule beside `on` and `match`, of the least that has state, a due time and decisions of time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from alerts.ranks import decided
from cep.batch.arrivals import Arrivals
from cep.batch.decisions import Decisions, EventColumns, Windows
from cep.operators.operator import BatchContext, Operator
from cep.plan.plan import AlertForm, Needs, RulePlan, StreamPlan
from cep.state.keyed_rows import FROM_HERE, KEY, RULE, FlatRows, Ints, Kept, KeyedRows, of_kind
from rules.typed import Compare, Literal, Over, Pack, Rule, Tumbling, WindowAggregate

COUNTS = "counts"
START, COUNT = FROM_HERE, FROM_HERE + 1
"""Columns of the rows: when the window begins, how many events it has."""
_NOTHING = np.zeros((0, COUNT + 1), np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountPlan(RulePlan):
    """A rule `over STREAM tumbling SIZE having count() >= LEAST`."""

    size: int
    least: int


@dataclass(frozen=True, slots=True)
class Counting:
    """Such rules of one space."""

    kind: ClassVar[str] = "count"
    rules: tuple[CountPlan, ...]

    @property
    def sizes(self) -> Ints:
        """The sizes of the windows of each rule."""
        return np.array([rule.size for rule in self.rules], np.int64)


class CountOperator(Operator[CountPlan, Counting]):
    """Counts in windows that follow one another, each decided when it is over."""

    kind = "count"
    state: ClassVar[Mapping[str, type[KeyedRows]]] = {COUNTS: FlatRows}

    def takes(self, rule: Rule) -> bool:
        return isinstance(rule.body, Over) and isinstance(rule.body.window, Tumbling)

    def plan(self, pack: Pack, rule: Rule, observed: bool) -> CountPlan:  # noqa: ARG002
        match rule.body:
            case Over(
                stream, condition, Tumbling(size), Compare(">=", WindowAggregate(), Literal(int(least)))
            ):
                needs = Needs(({stream: condition},), (), {})
                form = AlertForm("window", ())
                return CountPlan(pack.name, pack.revision, rule, needs, form, size=size, least=least)
            case _:
                raise AssertionError(rule.body)

    def group(self, rules: Sequence[CountPlan], streams: Sequence[StreamPlan]) -> Counting:  # noqa: ARG002
        return Counting(tuple(sorted(rules, key=lambda rule: rule.identity)))

    def advance(
        self, group: Counting, kept: Kept, events: Arrivals, context: BatchContext
    ) -> tuple[list[Decisions], Kept]:
        rows = of_kind(kept, COUNTS, FlatRows).rows
        rows = _summed(
            [
                rows if len(rows) else _NOTHING,
                *(_came(n, rule, events, context) for n, rule in enumerate(group.rules)),
            ]
        )
        over = rows[:, START] + group.sizes[rows[:, RULE]] <= context.clock.watermark_after
        found = []
        for number, rule in enumerate(group.rules):
            mine = rows[over & (rows[:, RULE] == number) & (rows[:, COUNT] >= rule.least)]
            if len(mine):
                found.append(_decisions(rule, mine, context))
        return found, {COUNTS: FlatRows(rows[~over])}

    def due(self, group: Counting, kept: Kept, keys: int) -> Ints:
        found, rows = super().due(group, kept, keys), of_kind(kept, COUNTS, FlatRows).rows
        np.minimum.at(found, rows[:, KEY], rows[:, START] + group.sizes[rows[:, RULE]])
        return found


def _came(number: int, rule: CountPlan, events: Arrivals, context: BatchContext) -> Ints:
    """A row for each event that the rule counts."""
    found = [_NOTHING]
    for place, part in enumerate(events.parts):
        judged = part.layout.slots.get(rule.identity)
        if judged is not None and part.stream in judged[0][0]:
            where, rows = events.rows_of(place)
            mine = where[part.predicates.true_of(judged[0][0][part.stream], rows)]
            start = events.time[mine] // rule.size * rule.size
            one = np.ones(len(mine), np.int64)
            found.append(np.stack((context.numbers[mine], one * number, start, one), axis=1))
    return np.concatenate(found)


def _summed(parts: Sequence[Ints]) -> Ints:
    """A row for each key, rule and window."""
    rows = np.concatenate(parts)
    windows, of_row = np.unique(rows[:, :COUNT], axis=0, return_inverse=True)
    sums = np.bincount(of_row.ravel(), rows[:, COUNT], len(windows)).astype(np.int64)
    return np.column_stack((windows, sums))


def _decisions(rule: CountPlan, rows: Ints, context: BatchContext) -> Decisions:
    size, nothing = len(rows), np.zeros(0, np.int64)
    counts = pa.array(rows[:, COUNT])
    return Decisions(
        (rule,),
        np.zeros(size, np.int64),
        np.arange(1, size + 1),
        rows[:, START] + rule.size,
        context.keys.of(rows[:, KEY]),
        pa.array([decided((start,)) for start in rows[:, START].tolist()], pa.binary()),
        np.zeros(size, bool),
        np.zeros(size, np.int64),
        nothing,
        nothing,
        EventColumns(0, ()),
        {one.name: counts for one in rule.rule.emit if isinstance(one.value, WindowAggregate)},
        Windows(rows[:, START], rows[:, START] + rule.size, np.full(size, -1)),
    )


COUNTER = CountOperator()
