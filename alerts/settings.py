"""Settings of all that comes between a delivery and its notification, of all receivers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from alerts.grouping import Manner
from alerts.inhibiting import Inhibition
from alerts.mute_times import MuteTime
from alerts.routing import Branches


@dataclass(frozen=True, slots=True)
class Settings:
    """`manners` by receiver; one that is not there is told of each alert at once. `branches` are the routes,
    whose groupings go before those of receivers."""

    manners: Mapping[str, Manner] = field(default_factory=dict)
    mute_times: Sequence[MuteTime] = ()
    inhibitions: Sequence[Inhibition] = ()
    branches: Branches | None = None
