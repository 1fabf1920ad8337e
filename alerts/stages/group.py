"""Alerts that go out together: the first of a group wait a while for others, later ones for its interval.

As with Alertmanager: `wait` after the first alert of a group that nothing went out for lately, else
`interval` after what went out last.
"""

from __future__ import annotations

from collections.abc import Mapping

from alerts.grouping import Grouping, digest
from alerts.notation import timestamp
from alerts.receivers.notification import dedup_key
from alerts.stages.candidate import Candidate, Hold

_FORGET = 10_000


class Group:
    """The stage of one receiver. `of_way` has the grouping of routes, by their numbers in the outbox: they go
    before the receiver's own. With `apart` no group is about several rules or keys; with `by_key`, keys."""

    def __init__(
        self,
        grouping: Grouping | None = None,
        of_way: Mapping[int, Grouping] | None = None,
        *,
        apart: bool = False,
        by_key: bool = False,
    ) -> None:
        self._grouping = grouping
        self._of_way = of_way or {}
        self._apart = apart
        self._by_key = by_key
        self.opened: dict[str, int] = {}
        """When what waits goes out, by group; wall clock in ns."""
        self.quiet_until: dict[str, int] = {}
        """Until when a group is not told again, since it was told lately."""
        self._moment, self._written = 0, timestamp(0)

    @property
    def any(self) -> bool:
        """True if it may group."""
        return self._grouping is not None or bool(self._of_way)

    def together(self, one: Candidate) -> str:
        """A name of what alerts have to share to go out in one notification; empty: nothing."""
        if self._apart:
            return digest(dedup_key(one.labels.alert))
        return digest(str(one.labels.alert["key"])) if self._by_key else ""

    def __call__(self, one: Candidate, now: int) -> Hold | None:
        """Hold back what waits for its group; one that a person asked for goes by itself."""
        grouping = self._of(one)
        if grouping is None:
            return None
        one.group = group = self._named(one, grouping)
        moment = self.opened.get(group)
        if moment is None:
            quiet = self.quiet_until.get(group, 0)
            moment = quiet if one.due.recorded_at < quiet else one.due.recorded_at + grouping.wait
            self.opened[group] = moment
        if now >= moment:
            return None
        if self._moment != moment:  # many wait for one
            self._moment, self._written = moment, timestamp(moment)
        said = f"group: waits until {self._written} for others of {grouping.said(one.labels)}"
        return Hold("group", said, moment, group)

    def name(self, one: Candidate) -> str:
        """The name of a candidate's group; empty: it is in none."""
        return self._named(one, self._of(one)) if one.named is None else one.named

    def _named(self, one: Candidate, grouping: Grouping | None) -> str:
        if one.named is None:
            way = one.due.way if one.due.way in self._of_way else None
            values = () if grouping is None else grouping.values(one.labels)
            one.named = "" if grouping is None else digest(way, values, self.together(one))
        return one.named

    def _of(self, one: Candidate) -> Grouping | None:
        if one.due.asked_for:
            return None
        return self._of_way.get(one.due.way or 0, self._grouping)

    def interval(self, one: Candidate) -> int:
        """Nanoseconds for which a candidate's group is not told again."""
        grouping = self._of(one)
        return 0 if grouping is None else grouping.interval

    def told(self, group: str, quiet_until: int, now: int) -> None:
        """Take note that what waited in a group has gone out."""
        self.opened.pop(group, None)
        if len(self.quiet_until) > _FORGET:
            self.quiet_until = {name: end for name, end in self.quiet_until.items() if end > now}
        if quiet_until > now:
            self.quiet_until[group] = quiet_until
