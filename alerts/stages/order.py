"""Alerts of a batch in their documented order (docs/alerts.md), whichever shards decided them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter
from typing import ClassVar

from alerts.raised import Raised
from alerts.raised_columns import RaisedColumns
from alerts.stages.stage import Passing


def in_order(raised: Iterable[Raised]) -> list[Raised]:
    """The alerts by time, rule name (then pack), key values, order of decision, and id: alerts.ranks."""
    return sorted(raised, key=itemgetter(0))


@dataclass(frozen=True, slots=True)
class Order:
    """Puts alerts in order. Keeps nothing."""

    name: ClassVar[str] = "order"

    def __call__(self, coming: RaisedColumns, _memory: object, _now: int, /) -> Passing[RaisedColumns]:
        """All of them."""
        return Passing(coming.in_order())
