"""`on` rules: every event of a shard that satisfies the condition is an alert."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from alerts.raised import Raised
from cep.automata.plan import Plan, RulePlan, Space
from cep.expressions.held import python
from cep.matching.arrivals import Arrivals
from cep.matching.render import Decision, Renderer, Taken
from cep.routing.payload import BATCH, ID, OFFSET, ORIGIN

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
        renderer = Renderer(rule)
        paths = () if rule.rule.by is None else rule.rule.by.of(space.on)
        found = events.chosen(hits)
        for number, part in enumerate(found.parts):
            places, rows = found.rows_of(number)
            names = [name for name in part.table.column_names if name.startswith("f:")]
            table = part.table.select([ID, BATCH, OFFSET, ORIGIN, *names]).take(pa.array(rows))
            values = {tuple(name[2:].split(".")): python(table.column(name)) for name in names}
            ids, batches, offsets = (table.column(name).to_pylist() for name in (ID, BATCH, OFFSET))
            origins = table.column(ORIGIN).to_pylist()
            for row, time in enumerate(found.time[places].tolist()):
                # -1 ends the origin, so that a name sorts before its continuations.
                order = (_BY_EVENT, batches[row], feed, *origins[row].encode(), -1, offsets[row])
                key = tuple(values[path][row] for path in paths)
                taken = {0: [Taken(ids[row], values, row, 0)]}
                query = None
                if rule.documents is not None:
                    query = str(values[("query",)][row])
                    order = (*order, *query.encode("utf-8", "surrogatepass"), -1)
                raised.append(renderer.raised(Decision(time, key, taken, order, query=query)))
    return raised


def _hits(rule: RulePlan, events: Arrivals) -> npt.NDArray[np.int64]:
    """The events that satisfy the rule's condition, in order; those judged by a plan without it do not."""
    found = np.zeros(len(events.time), bool)
    for number, part in enumerate(events.parts):
        judged = part.layout.judged.get(rule.identity)
        if judged is not None and part.stream in judged[0][0]:
            where, rows = events.rows_of(number)
            found[where] = part.verdicts.true_of(judged[0][0][part.stream], rows)
    return np.flatnonzero(found)
