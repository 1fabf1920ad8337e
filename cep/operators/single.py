"""The operator of `on`: every event of a shard that satisfies the condition is an alert."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from alerts.ranks import decided
from cep.batch.decisions import Decisions, EventColumns
from cep.batch.payload import BATCH, OFFSET, ORIGIN
from cep.collector import paused
from cep.operators.operator import BatchContext, Operator
from cep.plan.plan import AlertForm, Needs, RulePlan, StreamPlan
from cep.state.keyed_rows import Kept
from rules.typed import FieldRef, On, Pack, QueryHits, Rule, walk

if TYPE_CHECKING:
    from cep.batch.arrivals import Arrivals

_BY_EVENT = 1


@dataclass(frozen=True, slots=True)
class SingleRules:
    """The `on` rules of one stream."""

    kind: ClassVar[str] = "on"
    rules: tuple[RulePlan, ...]
    stream: str


class SingleOperator(Operator[RulePlan, SingleRules]):
    """Rules for which every event is decided alone; they keep nothing."""

    kind = "on"

    def takes(self, rule: Rule) -> bool:
        """True for rules with `on`."""
        return isinstance(rule.body, On)

    def plan(self, pack: Pack, rule: Rule, observed: bool) -> RulePlan:  # noqa: ARG002
        """The plan: one condition, and the fields that the alert shows."""
        body = rule.body
        assert isinstance(body, On)
        shown = [n.path for item in rule.emit for n in walk(item.value) if isinstance(n, FieldRef)]
        shown += [] if rule.by is None else rule.by.of(body.stream)
        form = AlertForm("event", (body.stream,))
        origin = pack.stream(body.stream).origin
        if isinstance(origin, QueryHits):
            form = AlertForm("hit", (origin.documents,))
            shown.append(("query",))  # the alert's id names it
        fields = {body.stream: tuple(dict.fromkeys(shown))}
        needs = Needs(({body.stream: body.condition},), (), fields, spread=True)
        return RulePlan(pack.name, pack.revision, rule, needs, form)

    def group(self, rules: Sequence[RulePlan], streams: Sequence[StreamPlan]) -> SingleRules:
        """The rules as they are; their space has one stream."""
        return SingleRules(tuple(rules), streams[0].stream)

    def advance(
        self, group: SingleRules, kept: Kept, events: Arrivals, context: BatchContext
    ) -> tuple[list[Decisions], Kept]:
        """The events that satisfy each rule's condition.

        Their order of decision is that of arrival, spelled out, since equal keys may lie in several shards.
        """
        feed = context.plan.feed(group.stream)
        found = []
        with paused():
            for rule in group.rules:
                hits = _hits(rule, events)
                if len(hits):
                    found.append(_decisions(rule, group.stream, feed, events.chosen(hits)))
        return found, kept


def _decisions(rule: RulePlan, stream: str, feed: int, found: Arrivals) -> Decisions:
    """A decision for each event."""
    paths = () if rule.rule.by is None else rule.rule.by.of(stream)
    count = len(found.time)
    sources = [(part.table, *found.rows_of(number)) for number, part in enumerate(found.parts)]
    columns = EventColumns(count, sources)
    return Decisions(
        (rule,),
        np.zeros(count, np.int64),
        np.arange(1, count + 1),
        found.time,
        [columns.key(path) for path in paths],
        _orders(columns, feed, rule.alerts.kind == "hit"),
        np.zeros(count, bool),
        np.arange(1, count + 1),
        np.zeros(count, np.int64),
        np.arange(count),
        columns,
    )


def _orders(columns: EventColumns, feed: int, hits: bool) -> pa.BinaryArray:
    """The sort keys of the events; those that are hits, at last by their query."""
    begins: dict[tuple[object, object], bytes] = {}
    orders = []
    for came in zip(columns.column(BATCH), columns.column(ORIGIN), columns.column(OFFSET), strict=True):
        batch, origin, offset = came
        begin = begins.get((batch, origin))
        if begin is None:
            # -1 ends the origin, so that a name sorts before its continuations.
            begin = begins[batch, origin] = decided((_BY_EVENT, batch, feed, *origin.encode(), -1))
        orders.append(begin + decided((offset,)))
    if hits:
        queries = columns.values(("query",))
        orders = [
            order + decided((*str(query).encode("utf-8", "surrogatepass"), -1))
            for order, query in zip(orders, queries, strict=True)
        ]
    return pa.array(orders, pa.binary())


def _hits(rule: RulePlan, events: Arrivals) -> npt.NDArray[np.int64]:
    """The events that satisfy the rule's condition, in order; under a plan without it none does."""
    found = np.zeros(len(events.time), bool)
    for number, part in enumerate(events.parts):
        slots = part.layout.slots.get(rule.identity)
        if slots is not None and part.stream in slots[0][0]:
            where, rows = events.rows_of(number)
            found[where] = part.predicates.true_of(slots[0][0][part.stream], rows)
    return np.flatnonzero(found)


SINGLE = SingleOperator()
