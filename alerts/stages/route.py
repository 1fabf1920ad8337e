"""The alerts that a receiver gets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from alerts.matchers import Labels
from alerts.raised_columns import BODY, RaisedColumns
from alerts.routing import Branches, Route
from alerts.stages.outgoing import Outgoing
from alerts.stages.stage import Passing


@dataclass(frozen=True, slots=True)
class Routed:
    """Lets through what a route takes. The rest is not held back: it is not for this receiver."""

    name: ClassVar[str] = "route"
    route: Route

    def __call__(self, coming: Outgoing, _memory: object, _now: int, /) -> Passing[Outgoing]:
        """Those of its rules and severities."""
        taken = [self.route.takes(one.rule, one.severity) for one in coming.alerts.rules]
        return Passing(coming if all(taken) else coming.where(coming.alerts.of_rules(taken)))


class Way(NamedTuple):
    """The reason that alerts go to a receiver: the branch of that number, or None for its own route."""

    receiver: str
    branch: int | None


def branched(coming: Outgoing, branches: Branches) -> Iterator[tuple[Way, Outgoing]]:
    """The alerts by their ways, in order."""
    if not len(coming):
        return
    kinds: dict[tuple[int, ...], int] = {}
    of_each = np.array([kinds.setdefault(one, len(kinds)) for one in _taken(coming.alerts, branches)])
    if branches.of_a_rule:
        of_each = of_each[coming.alerts.rule]
    of_way: dict[Way, list[int]] = {}
    for taken, kind in kinds.items():
        for receiver, number in branches.receivers(taken).items():
            of_way.setdefault(Way(receiver, number), []).append(kind)
    for way, some in sorted(of_way.items()):
        mask = np.isin(of_each, some)
        if mask.any():
            yield way, coming.where(mask)


def _taken(alerts: RaisedColumns, branches: Branches) -> Sequence[tuple[int, ...]]:
    """The branches that each alert takes, or each rule, where all alerts of a rule take the same."""
    if not branches.of_a_rule:
        return [branches.taken(Labels(json.loads(body))) for body in alerts.texts.texts(BODY)]
    named = ({"pack": one.pack, "rule": one.rule, "severity": one.severity} for one in alerts.rules)
    return [branches.taken(Labels(one)) for one in named]
