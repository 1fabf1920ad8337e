"""What comes between an alert and those it goes to, as `cep routes test` tells it: mute times, inhibitions,
groups and rates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from alerts.grouping import Grouping, Manner
from alerts.matchers import Labels
from alerts.notation import duration, timestamp

if TYPE_CHECKING:
    from cep.config import Job

Said = dict[str, Any]


def on_the_way(job: Job, alert: Mapping[str, Any], receivers: Sequence[str], now: int) -> Iterator[Said]:
    """A line for each thing that may hold the alert back on its way to these receivers at `now`, ns."""
    labels = Labels(alert)
    yield from _mute_times(job, labels, receivers, now)
    for one in job.settings.inhibitions:
        if one.of.matches(labels):
            equal = f" with equal {', '.join(one.equal)}" if one.equal else ""
            said = f"an alert of {one.by}{equal} holds it back for {duration(one.length)} of event time"
            yield {"what": one.said, "said": said}
    ways = _groupings(job, labels)
    for name in receivers:
        yield from _manner(name, job.settings.manners.get(name, Manner()), ways.get(name), labels)


def _mute_times(job: Job, labels: Labels, receivers: Sequence[str], now: int) -> Iterator[Said]:
    for one in job.settings.mute_times:
        to = [name for name in receivers if one.of(name)]
        if to and one.matchers.matches(labels):
            holds = one.calendar.holds(now)
            state = f"holds now, until {timestamp(one.calendar.until(now))}" if holds else "does not hold now"
            what = f"mute time {one.name} (to {', '.join(to)})"
            yield {"what": what, "said": state}


def _groupings(job: Job, labels: Labels) -> Mapping[str, Grouping]:
    """The groupings of the routes that lead to receivers."""
    if job.branches is None:
        return {}
    first = job.branches.receivers(job.branches.taken(labels))
    every = {name: job.branches.all[number - 1].grouping for name, number in first.items()}
    return {name: grouping for name, grouping in every.items() if grouping is not None}


def _manner(name: str, manner: Manner, of_route: Grouping | None, labels: Labels) -> Iterator[Said]:
    grouping = of_route or manner.grouping
    if grouping is not None:
        wait, interval = duration(grouping.wait), duration(grouping.interval)
        said = f"{grouping.said(labels)}; waits {wait} for others, then {interval} between notifications"
        yield {"what": f"group for {name}", "said": said}
    if manner.rate is not None:
        yield {"what": f"rate of {name}", "said": f"{manner.rate}; what is over it goes together"}
    if manner.by_key:
        yield {"what": f"order of {name}", "said": "one of its key after another"}
