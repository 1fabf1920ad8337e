"""Mute times, inhibitions, groups and rates of a job file: their values, and what is wrong between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from alerts import calendars
from alerts.calendars import Calendar
from alerts.grouping import Grouping, Manner
from alerts.inhibiting import Inhibition
from alerts.matchers import Matchers
from alerts.mute_times import MuteTime
from alerts.routing import Branches
from alerts.settings import Settings
from cep.config.values import rate_of, zone_of
from rules.diagnostics import Diagnostic, in_order
from rules.instants import parse_duration
from rules.suggest import meant

if TYPE_CHECKING:
    from cep.config.job import Job
    from cep.config.places import KeyPath
    from cep.config.receiver_section import ReceiverSection
    from cep.config.shape import GivenInhibition, GivenRoute, JobFile, MuteTimeSection

_WITHOUT = ("group_wait", "group_interval")
_FIRST, _LATER = "30 seconds", "5 minutes"
"""The `group_wait` and `group_interval` of Alertmanager."""


def settings_of(shaped: JobFile, branches: Branches | None) -> Settings:
    """The settings between deliveries and notifications, of a file whose values are fine."""
    manners = {name: manner for name, one in shaped.receivers.items() if (manner := _manner(one)) != Manner()}
    inhibitions = tuple(_inhibition(n, one) for n, one in enumerate(shaped.inhibit, 1))
    return Settings(manners, tuple(map(_mute_time, shaped.mute_times)), inhibitions, branches)


def grouping_of(one: GivenRoute | ReceiverSection) -> Grouping | None:
    """The grouping of a route or a receiver; None: it has none."""
    if one.group_by is None:
        return None
    wait, interval = parse_duration(one.group_wait or _FIRST), parse_duration(one.group_interval or _LATER)
    return Grouping(tuple(one.group_by), wait, interval)


def _manner(one: ReceiverSection) -> Manner:
    rate = None if one.rate is None else rate_of(one.rate)
    return Manner(grouping_of(one), rate, one.order == "key")


def _mute_time(one: MuteTimeSection) -> MuteTime:
    calendar = Calendar(
        zone_of(one.zone),
        tuple(map(calendars.weekdays, one.weekdays)),
        tuple(map(calendars.days, one.days)),
        tuple(map(calendars.months, one.months)),
        tuple(map(calendars.hours, one.hours)),
    )
    receivers = None if one.receivers is None else frozenset(one.receivers)
    return MuteTime(one.name, calendar, Matchers.of(one.matchers), receivers)


def _inhibition(number: int, one: GivenInhibition) -> Inhibition:
    by, of = Matchers.of(one.by), Matchers.of(one.of)
    length = parse_duration(getattr(one, "for"))
    said = f"inhibition {number} of job.toml ({by} of {of})"
    return Inhibition(by, of, tuple(one.equal), length, said)


def check_notifying(job: Job, shaped: JobFile) -> list[Diagnostic]:
    """Errors for receivers that there are none of and names that come twice, warnings for what changes
    nothing, in order of place."""
    groups: tuple[tuple[KeyPath, GivenRoute | ReceiverSection], ...] = (
        *((("receivers", name), one) for name, one in shaped.receivers.items()),
        *((("routes", number), one) for number, one in enumerate(shaped.routes)),
    )
    found = [one for place, section in groups for one in _ungrouped(job, place, section)]
    return in_order([*found, *_mute_times(job, shaped), *_inhibitions(job, shaped)])


def _ungrouped(job: Job, place: KeyPath, one: GivenRoute | ReceiverSection) -> Iterator[Diagnostic]:
    for key in _WITHOUT:
        if one.group_by is None and getattr(one, key) is not None:
            yield Diagnostic(
                "CEP0743",
                "warning",
                f"`{key}` changes nothing without `group_by`: each alert goes by itself",
                job.places.key((*place, key)),
                help='write group_by = ["rule"], or remove it',
            )


def _mute_times(job: Job, shaped: JobFile) -> Iterator[Diagnostic]:
    names = [one.name for one in shaped.mute_times]
    known = [one.name for one in job.receivers]
    for number, one in enumerate(shaped.mute_times):
        place = ("mute_times", number)
        if one.name in names[:number]:
            said = f"there is a mute time `{one.name}` before this one"
            help_ = "give each a name of its own: it says why an alert was held back"
            yield Diagnostic("CEP0742", "error", said, job.places.value((*place, "name")), help=help_)
        for which, name in enumerate(one.receivers or ()):
            if name not in known:
                help_ = meant(name, known, "receivers") if known else f"write [receivers.{name}]"
                span = job.places.value((*place, "receivers", which))
                yield Diagnostic("CEP0742", "error", f"there is no receiver `{name}`", span, help=help_)
        if not (one.weekdays or one.days or one.months or one.hours):
            said = f"the mute time `{one.name}` holds at all times"
            help_ = 'write hours = ["22:00 to 06:00"] or weekdays; for once, `cep silences add`'
            yield Diagnostic("CEP0743", "warning", said, job.places.key(place), help=help_)


def _inhibitions(job: Job, shaped: JobFile) -> Iterator[Diagnostic]:
    given: list[GivenInhibition] = shaped.inhibit
    for number, one in enumerate(given):
        if set(one.by) >= set(one.of):
            said = "this holds back nothing: what fits `by` fits `of` as well"
            help_ = "let `of` name what `by` does not have, such as a lesser severity"
            yield Diagnostic("CEP0743", "warning", said, job.places.key(("inhibit", number)), help=help_)
