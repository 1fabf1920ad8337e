"""The alerts that a receiver gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from alerts.routing import Route
from alerts.stages.outgoing import Outgoing
from alerts.stages.stage import Passing


@dataclass(frozen=True, slots=True)
class Routed:
    """Lets through what a route takes. The rest is not held back: it is not for this receiver."""

    name: ClassVar[str] = "route"
    route: Route

    def __call__(self, coming: Outgoing, _memory: object, _now: int, /) -> Passing[Outgoing]:
        """Those of its rules and severities."""
        rules, severities = self.route.rules, frozenset(self.route.severities)
        taken = [
            one.severity in severities and (rules is None or one.rule in rules) for one in coming.alerts.rules
        ]
        return Passing(coming if all(taken) else coming.where(coming.alerts.of_rules(taken)))
