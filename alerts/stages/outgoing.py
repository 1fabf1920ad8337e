"""An alert on its way from the outbox to one receiver, as the stages to a receiver pass it on."""

from __future__ import annotations

from typing import NamedTuple

from alerts.raised import Raised


class Outgoing(NamedTuple):
    """`number` is the alert's in the outbox; delivery is first attempted at `due_at`, wall clock in ns."""

    number: int
    alert: Raised
    due_at: int
