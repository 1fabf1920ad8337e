"""Alerts on their way from the outbox to one receiver, as the stages to a receiver pass them on."""

from __future__ import annotations

from dataclasses import dataclass

from alerts.arrow_columns import Ints
from alerts.raised_columns import Bools, RaisedColumns


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Alerts, a row each: their `numbers` in the outbox; `due_at`, wall clock in ns, is when delivery is
    first attempted."""

    numbers: Ints
    alerts: RaisedColumns
    due_at: Ints

    def __len__(self) -> int:
        return len(self.numbers)

    def where(self, mask: Bools) -> Outgoing:
        """Some of them."""
        return Outgoing(self.numbers[mask], self.alerts.where(mask), self.due_at[mask])
