"""When to leave a receiver alone: a circuit breaker, and a pause for one that fails for days.

M. Nygard, "Release It!", 2018, 5.2. It opens when several alerts in a row get no answer, or when most
attempts of a while fail, of several alerts: one alert that a receiver cannot digest does not make it. Single
attempts then find out whether the receiver is back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from alerts.receivers.receiver import Outcome
from alerts.standing import Standing, State

_SECOND = 1_000_000_000
_OUTAGE = 5  # attempts to find out, without an answer: then what piled up goes at once when it is back
_MOST = 100  # attempts that are remembered


@dataclass(frozen=True, slots=True)
class Trip:
    """When it opens: after `unanswered` different alerts without an answer, or when of at least `attempts`
    within `window` seconds the `share` failed, of at least as many different alerts. When it pauses: after
    `pause` seconds in which at least `attempts` failed and none did not."""

    unanswered: int = 3
    window: float = 60.0
    attempts: int = 10
    share: float = 0.5
    pause: float = 5 * 86_400.0
    shown: float = 60.0
    """Seconds of failures only before it is told since when."""


class Breaker:
    """The breaker of one receiver. `pause` gives the nanoseconds to the n-th attempt to find out, `rarely`
    those between attempts while it is paused."""

    def __init__(self, pause: Callable[[int], int], rarely: int, trip: Trip | None = None) -> None:
        self.standing = Standing()
        self.recovered = False
        """Whether the receiver has answered after an outage, and what waits for it should go now."""
        self._pause = pause
        self._rarely = rarely
        self._trip = trip or Trip()
        self._recent: deque[tuple[int, int, bool]] = deque(maxlen=_MOST)  # moment, alert, whether it failed
        self._unanswered: set[int] = set()
        self._probes = 0
        self._failing_since: int | None = None
        self._failures = 0

    def take_up(self, standing: Standing) -> None:
        """Begins where a program before ended. Raises nothing; an open one finds out at once."""
        self.standing = standing
        self._failing_since = standing.failing_since_at
        self._failures = 0 if standing.failing_since_at is None else self._trip.attempts
        self._probes = 0 if self.closed else _OUTAGE

    @property
    def closed(self) -> bool:
        """True if everything may be attempted."""
        return self.standing.state == "closed"

    @property
    def paused(self) -> bool:
        """True if it is paused."""
        return self.standing.state == "paused"

    @property
    def shut(self) -> bool:
        """True if nothing is attempted before a person resumes."""
        return self.paused and self.standing.probe_at is None

    def resume(self) -> None:
        """Closes: a person says so."""
        self._close()
        self.recovered = True
        self._failing_since, self._failures = None, 0

    def note(self, alert: int, outcome: Outcome, now: int) -> None:
        """Takes in the outcome of an attempt."""
        match outcome.result:
            case "gone":
                self._move("paused", f"it wants no more: {outcome.detail}", now, None)
            case "delivered":
                self._remember(alert, now, failed=False)
                self._failing_since, self._failures = None, 0
                if not self.shut:  # of an attempt that was under way when another got 410
                    self._answered()
            case "rejected" | "unreachable":
                self._failed(alert, outcome, now)
            case "refused":
                pass  # it says nothing of the receiver
        since = self._failing_since
        long = since is not None and now - since >= self._trip.shown * _SECOND
        self.standing = replace(self.standing, failing_since_at=since if long else None)

    def _failed(self, alert: int, outcome: Outcome, now: int) -> None:
        self._failing_since = now if self._failing_since is None else self._failing_since
        self._failures += 1
        if outcome.retry_after is None:  # what is asked for is no failure to answer for
            self._remember(alert, now, failed=True)
        if outcome.result == "unreachable":
            self._unanswered.add(alert)
        elif len(self._unanswered) >= self._trip.unanswered:
            self._answered()
        else:
            self._unanswered.clear()
        if self.shut:
            return
        if self.paused:
            self.standing = replace(self.standing, probe_at=now + self._rarely)
        elif self._days(now):
            self._move(
                "paused", f"nothing but failures for days, the last: {outcome.detail}", now, self._rarely
            )
        elif not self.closed or self._trips(now):
            self._probes += 1
            self._move("open", outcome.detail, now, self._pause(self._probes))

    def _answered(self) -> None:
        """It is there: an outage is over."""
        self.recovered = self.recovered or self._probes >= _OUTAGE or self.paused
        self._close()

    def _close(self) -> None:
        if not self.closed:
            self.standing = Standing()
            self._recent.clear()
        self._unanswered.clear()
        self._probes = 0

    def _move(self, state: State, reason: str, now: int, probe: int | None) -> None:
        since = self.standing.since_at if self.standing.state == state else now
        self.standing = Standing(state, reason, since, None if probe is None else now + probe)

    def _remember(self, alert: int, now: int, *, failed: bool) -> None:
        self._recent.append((now, alert, failed))

    def _trips(self, now: int) -> bool:
        trip = self._trip
        if len(self._unanswered) >= trip.unanswered:
            return True
        begin = now - int(trip.window * _SECOND)
        recent = [(alert, failed) for moment, alert, failed in self._recent if moment > begin]
        failures = [alert for alert, failed in recent if failed]
        return (
            len(recent) >= trip.attempts
            and len(failures) >= trip.share * len(recent)
            and len(set(failures)) >= trip.unanswered
        )

    def _days(self, now: int) -> bool:
        since = self._failing_since
        return (
            since is not None
            and now - since >= self._trip.pause * _SECOND
            and self._failures >= self._trip.attempts
        )
