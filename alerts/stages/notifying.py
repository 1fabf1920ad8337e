"""The stages between the deliveries of one receiver and its notifications, in their order."""

from __future__ import annotations

from collections.abc import Mapping

from alerts.grouping import Grouping, Manner
from alerts.settings import Settings
from alerts.stages.candidate import Candidate, Hold, Stage, first_hold
from alerts.stages.group import Group
from alerts.stages.inhibit import Inhibit, Inhibitors
from alerts.stages.mute import Mute
from alerts.stages.throttle import Throttle


class Notifying:
    """The stages of one receiver: mute, inhibit, group, throttle. With `apart` no notification is about
    alerts of several rules or keys."""

    def __init__(
        self,
        receiver: str,
        settings: Settings,
        inhibitors: Inhibitors,
        of_way: Mapping[int, Grouping],
        *,
        apart: bool = False,
    ) -> None:
        self.manner = settings.manners.get(receiver, Manner())
        self.mute = Mute(receiver, settings.mute_times)
        self.inhibit = Inhibit(inhibitors)
        self.group = Group(self.manner.grouping, of_way, apart=apart, by_key=self.manner.by_key)
        self.throttle = Throttle(self.manner, self.group)
        self.all: tuple[Stage, ...] = (self.mute, self.inhibit, self.group, self.throttle)

    @property
    def make(self) -> bool:
        """True if it is settled before an attempt which alerts go out together."""
        return self.group.any or self.manner.rate is not None

    def __call__(self, one: Candidate, now: int) -> Hold | None:
        """The word of the first stage that holds a candidate back; None if all let it through."""
        return first_hold(self.all, one, now)

    def still(self, one: Candidate, now: int) -> Hold | None:
        """The word of those stages that are asked again of what waited in a group, when that goes out."""
        return first_hold((self.mute, self.inhibit), one, now)
