"""Alerts that nobody wants to be told of now, by a silence or at this time of the week.

Decided when a notification is about to be made, not when the alert is raised. So a silence that is taken back
frees what still waits, and one that is made in time holds back what was raised before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from alerts.gates import Gates
from alerts.matchers import Labels, Matchers
from alerts.mute_times import MuteTime
from alerts.notation import timestamp
from alerts.silences import Silence, reason_of
from alerts.stages.candidate import Candidate, Hold

_MINUTE = 60_000_000_000


@dataclass(frozen=True, slots=True)
class Muted:
    """The silence that holds an alert back, and until when; wall clock in ns."""

    silence: Silence
    until: int

    @property
    def reason(self) -> str:
        """The reason as the outbox keeps it."""
        return reason_of(self.silence.id)


class Silences:
    """Silences that are asked about one alert after another; what alerts of a rule share is asked once."""

    def __init__(self, all_: Sequence[Silence] = ()) -> None:
        self._all = all_
        self._of_rule: dict[tuple[str, str, str], tuple[list[tuple[Silence, Matchers]], Gates]] = {}
        self._asked: tuple[int, bool] | None = None  # a moment, and whether any is active then

    def any_active(self, now: int) -> bool:
        """True if there may be something to hold back at `now`."""
        if self._asked is None or self._asked[0] != now:  # many are asked about at one moment
            self._asked = now, any(one.active(now) for one in self._all)
        return self._asked[1]

    def mute(self, labels: Labels, now: int) -> Muted | None:
        """The silence that holds back an alert of these values at `now`: of several the one that ends last;
        None if it may be sent."""
        (pack,), (rule,), (severity,) = labels["pack"], labels["rule"], labels["severity"]
        known = self._of_rule.get((pack, rule, severity))
        if known is None:
            some = list(self._for_rule(labels))
            known = self._of_rule[pack, rule, severity] = some, Gates([rest for _, rest in some])
        possible = [known[0][place] for place in known[1].possible(labels)]
        found = [one for one, rest in possible if one.active(now) and rest.matches(labels)]
        if not found:
            return None
        last = max(found, key=lambda one: one.ends_at)
        return Muted(last, last.ends_at)

    def _for_rule(self, labels: Labels) -> Iterator[tuple[Silence, Matchers]]:
        """The silences that may hold back alerts of a rule, with what is to be asked of each alert."""
        for one in self._all:
            shared, rest = one.matchers.parted()
            if shared.matches(labels):
                yield one, rest


class Mute:
    """The stage of one receiver: silences first, then its mute times. `silences` is read anew meanwhile."""

    def __init__(self, receiver: str, times: Sequence[MuteTime] = ()) -> None:
        self.silences = Silences()
        self._times = [one for one in times if one.of(receiver)]
        self._held: list[MuteTime] = []
        self._asked = -1  # the minute at which `_held` was found: calendars change at whole ones

    def __call__(self, one: Candidate, now: int) -> Hold | None:
        """Hold back what is silenced or muted."""
        if self.silences.any_active(now) and (muted := self.silences.mute(one.labels, now)) is not None:
            who, until = muted.silence.who, timestamp(muted.until)
            said = f"mute: {muted.reason} of {who} holds it back until {until}"
            return Hold(muted.reason, said, muted.until)
        return self._at_this_time(one, now) if self._times else None

    def _at_this_time(self, one: Candidate, now: int) -> Hold | None:
        if now // _MINUTE != self._asked:
            self._held = [time for time in self._times if time.calendar.holds(now)]
            self._asked = now // _MINUTE
        for time in self._held:
            if time.matchers.matches(one.labels):
                until = time.calendar.until(now)
                said = f"mute: the mute time {time.name} holds it back until {timestamp(until)}"
                return Hold(f"mute {time.name}", said, until)
        return None
