"""The stages between the outbox and one receiver. They run in the transaction that takes the alerts in."""

from __future__ import annotations

from collections.abc import Iterator

from alerts.routing import Branches, Route, Routes
from alerts.stages.outgoing import Outgoing
from alerts.stages.route import Routed, Way, branched
from alerts.stages.stage import Stage, through


def stages_to(route: Route) -> tuple[Stage[Outgoing, None], ...]:
    """The stages to the receiver of a route, in their order. None of them keeps anything."""
    return (Routed(route),)


def sent(coming: Outgoing, routes: Routes, now: int) -> Iterator[tuple[Way, Outgoing]]:
    """The alerts that each receiver gets, in order; of one receiver apart by the branch that led there."""
    if isinstance(routes, Branches):
        yield from branched(coming, routes)
        return
    for route in routes:
        yield Way(route.receiver, None), through(stages_to(route), coming, None, now).on
