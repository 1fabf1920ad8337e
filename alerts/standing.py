"""The standing of a receiver: whether it is attempted, and since when not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["closed", "open", "paused"]
Shown = Literal["closed", "open", "half-open", "paused"]
SHOWN: tuple[Shown, ...] = ("closed", "open", "half-open", "paused")


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a receiver's breaker; moments are wall clock in ns.

    closed: everything is attempted. open: nothing, but one attempt at `probe_at`. paused: the same, where
    there is a `probe_at`, and else nothing before a person resumes. `reason` says in words why it is not
    closed, `since_at` since when. `failing_since_at` is when it began to fail and nothing else; None: it does
    not, or not for long.
    """

    state: State = "closed"
    reason: str = ""
    since_at: int | None = None
    probe_at: int | None = None
    failing_since_at: int | None = None

    def shown(self, now: int) -> Shown:
        """The state as people see it: half-open is an open one of which an attempt finds out."""
        half = self.state == "open" and self.probe_at is not None and self.probe_at <= now
        return "half-open" if half else self.state
