"""The stages between the outbox and one receiver. They run in the transaction that takes the alerts in."""

from __future__ import annotations

from alerts.routing import Route
from alerts.stages.outgoing import Outgoing
from alerts.stages.route import Routed
from alerts.stages.stage import Stage


def stages_to(route: Route) -> tuple[Stage[Outgoing, None], ...]:
    """The stages to the receiver of a route, in their order. None of them keeps anything."""
    return (Routed(route),)
