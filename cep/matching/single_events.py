"""`on` rules: every event of a shard that satisfies the condition is an alert."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from alerts.raised import Raised
from alerts.ranks import decided
from cep.automata.plan import Plan, RulePlan, Space
from cep.matching.arrivals import Arrivals
from cep.matching.decisions import Decisions, EventColumns, Objects, objects
from cep.matching.render import renderer
from cep.routing.payload import BATCH, OFFSET, ORIGIN

_BY_EVENT = 1


def run_single(plan: Plan, space: Space, events: Arrivals) -> list[Raised]:
    """The alerts of the `on` rules of a stream for events in order of time.

    Their order of decision is that of arrival, spelled out, since equal keys may lie in several shards.
    """
    assert space.on is not None
    feed = plan.feed(space.on)
    raised: list[Raised] = []
    for rule in space.rules:
        hits = _hits(rule, events)
        if not len(hits):
            continue
        paths = () if rule.rule.by is None else rule.rule.by.of(space.on)
        found = events.chosen(hits)
        sources = [(part.table, *found.rows_of(number)) for number, part in enumerate(found.parts)]
        columns = EventColumns.of(len(hits), sources, (BATCH, OFFSET, ORIGIN))
        raised += renderer(rule).raised(
            Decisions(
                found.time,
                [columns.values(path) for path in paths],
                _orders(columns, feed, rule.documents is not None),
                np.zeros(len(hits), bool),
                np.arange(1, len(hits) + 1),
                np.zeros(len(hits), np.int64),
                np.arange(len(hits)),
                columns,
            )
        )
    return raised


def _orders(columns: EventColumns, feed: int, hits: bool) -> Objects:
    """What the events sort by; those that are hits, at last by their query."""
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
    return objects(orders)


def _hits(rule: RulePlan, events: Arrivals) -> npt.NDArray[np.int64]:
    """The events that satisfy the rule's condition, in order; those judged by a plan without it do not."""
    found = np.zeros(len(events.time), bool)
    for number, part in enumerate(events.parts):
        judged = part.layout.judged.get(rule.identity)
        if judged is not None and part.stream in judged[0][0]:
            where, rows = events.rows_of(number)
            found[where] = part.verdicts.true_of(judged[0][0][part.stream], rows)
    return np.flatnonzero(found)
