"""Alerts that nobody wants to be told of now: decided when one is about to be sent, not when it is raised.

So a silence that is taken back frees what still waits, and one that is made in time holds back what was
raised before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from alerts.matchers import Labels
from alerts.silences import Silence


@dataclass(frozen=True, slots=True)
class Muted:
    """The silence that holds an alert back, and until when; wall clock in ns."""

    silence: Silence
    until: int

    @property
    def reason(self) -> str:
        """The reason as the outbox keeps it."""
        return reason_of(self.silence.id)


def reason_of(silence: str) -> str:
    """The reason of what the silence of this id holds back."""
    return f"silence {silence}"


def mute(labels: Labels, silences: Sequence[Silence], now: int) -> Muted | None:
    """The silence that holds back an alert of these values at `now`: of several the one that ends last; None
    if it may be sent."""
    found = [one for one in silences if one.silences(labels, now)]
    if not found:
        return None
    last = max(found, key=lambda one: one.ends_at)
    return Muted(last, last.ends_at)
