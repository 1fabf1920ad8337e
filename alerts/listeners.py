"""Who hears of a delivery: the metrics of attempts, and the sentences that somebody should see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from alerts.receivers.receiver import Outcome


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt, as the metrics see it: seconds it took, and seconds since the alert was recorded."""

    receiver: str
    alert: str
    outcome: Outcome
    number: int
    seconds: float
    age: float


@dataclass(frozen=True, slots=True)
class Listeners:
    """Functions that a dispatcher calls, from its thread.

    `attempted` after every attempt; `report` with a sentence whenever somebody should look: a receiver that
    wants no more, an alert given up, an outbox that cannot be read or written; `held` with receiver and
    reason, of `alerts.stages.candidate.REASONS`, for what is held back.
    """

    attempted: Callable[[Attempt], None] = lambda _: None
    report: Callable[[str], None] = lambda _: None
    held: Callable[[str, str], None] = lambda _receiver, _reason: None
