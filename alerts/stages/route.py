"""The alerts that a receiver gets."""

from __future__ import annotations

from collections.abc import Sequence
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

    def __call__(self, coming: Sequence[Outgoing], _memory: object, _now: int, /) -> Passing[Outgoing]:
        """Those of its rules and severities."""
        rules, severities = self.route.rules, frozenset(self.route.severities)
        if rules is None:
            return Passing([one for one in coming if one.alert.severity in severities])
        return Passing(
            [one for one in coming if one.alert.severity in severities and one.alert.rule in rules]
        )
