"""The events of an alert, from the record: for its page and for `cep alerts`.

The alert has the ids of its events and its batch, the rule at its revision their streams and how far back
they may lie. Where the rule's text is gone, every stream is looked through.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from cep.buckets import store_errors
from cep.errors import JobError
from cep.events import MIN_TIME, document_of
from cep.job.shipping import packs
from cep.job.state_folder.folder import StateFolder
from cep.record.finding import IN_BUCKET, Limits, Look, RecordedEvent, Sought, look_for
from cep.record.layout import day_of, folder_of, streams_in
from cep.record.steps import Origin, Traced, traced

if TYPE_CHECKING:
    from alerts.outbox.stored import StoredAlert
    from cep.files import AnyPath
    from rules.typed import Pack, Rule


@dataclass(frozen=True, slots=True)
class TakenEvent:
    """An event that an alert lists: its step, its id, and what the record has of it; None: nothing."""

    step: str
    id: str
    event: RecordedEvent | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """The events of an alert, in the order in which it lists them. `missing` is a sentence that says why the
    record has not all of them; empty where it has."""

    events: tuple[TakenEvent, ...]
    missing: str


def events_of(folder: StateFolder, stored: StoredAlert, limits: Limits | None = None) -> Evidence:
    """The events of an alert of the job with this state.

    It takes about a second at most; nothing is written. Safe from any thread, beside a job that runs.
    """
    taken = [(str(step), str(id_)) for step, ids in _steps(stored.alert) for id_ in ids]
    if not taken:
        return Evidence((), "")
    if limits is None:
        limits = Limits() if folder.bucket is None else IN_BUCKET
    try:
        rule = _rule(folder, stored.alert)
        of = Traced({}, None) if rule is None else traced(*rule)
        looks = _looks(folder.record, stored, of, limits)
    except OSError as error:
        nothing = tuple(TakenEvent(step, id_, None) for step, id_ in taken)
        return Evidence(nothing, f"the record cannot be read: {error.strerror} ({error.filename})")
    found = tuple(
        TakenEvent(step, id_, _chosen(_known(step, id_, of, looks), of, stored)) for step, id_ in taken
    )
    lost = sum(one.event is None for one in found)
    return Evidence(found, _why(lost, looks) if lost else "")


def _steps(alert: Mapping[str, object]) -> list[tuple[str, list[str]]]:
    return list(cast("Mapping[str, list[str]]", alert["events"]).items())


def _looks(record: AnyPath, stored: StoredAlert, of: Traced, limits: Limits) -> dict[AnyPath, Look]:
    """A look for each stream, in its folder. Raises OSError."""
    wanted: dict[AnyPath, set[str]] = {}
    for step, ids in _steps(stored.alert):
        for folder, hits in _folders(record, step, of):
            wanted.setdefault(folder, set()).update(document_of(one) if hits else one for one in ids)
    share = limits.shared(max(1, len(wanted)))
    earliest = None if of.reach is None else max(MIN_TIME, stored.time - of.reach)
    day = day_of(stored.recorded_at)
    return {
        folder: look_for(folder, Sought(ids, stored.batch, day, earliest, stored.time), share)
        for folder, ids in wanted.items()
    }


def _folders(record: AnyPath, step: str, of: Traced) -> Iterator[tuple[AnyPath, bool]]:
    """The folders that may hold a step's events, and whether they are documents of its hits."""
    origins = of.steps.get(step)
    if origins is None:
        yield from ((folder, hits) for folder in streams_in(record) for hits in (False, True))
        return
    for origin in origins:
        yield folder_of(record, origin.stream), origin.hits


def _known(step: str, id_: str, of: Traced, looks: Mapping[AnyPath, Look]) -> list[RecordedEvent]:
    """All that was found of an id that a step took, in order of arrival."""
    origins = of.steps.get(step, (Origin("", False), Origin("", True)))
    return [
        event
        for origin in origins
        for look in looks.values()
        for event in look.found.get(document_of(id_) if origin.hits else id_, ())
        if origin.stream in ("", event.stream)
    ]


def _chosen(events: list[RecordedEvent], of: Traced, stored: StoredAlert) -> RecordedEvent | None:
    """The first to arrive of those that have the alert's key, as an id may have come with two."""
    key = cast("Mapping[str, object]", stored.alert["key"])
    fitting = [one for one in events if of.fits(one.stream, one.fields, key)]
    return next(iter(fitting or events), None)


def _why(lost: int, looks: Mapping[AnyPath, Look]) -> str:
    """The reason why so many events were not found."""
    them = "1 event is" if lost == 1 else f"{lost:,} events are"
    days = [look.oldest for look in looks.values() if look.oldest is not None]
    if not days:
        return f"{them} not shown: nothing of these streams is recorded ([record] keep in job.toml)"
    if any(look.limited for look in looks.values()):
        return f"{them} not shown: too much came between them and the alert to look through"
    unreadable = sum(look.unreadable for look in looks.values())
    also = f"; {unreadable:,} of its files cannot be read" if unreadable else ""
    return f"{them} not shown: the record, which begins on {min(days)}, does not have them{also}"


def _rule(folder: StateFolder, alert: Mapping[str, object]) -> tuple[Pack, Rule] | None:
    """The rule that raised an alert, with its pack, as they were; None where the text is gone. Raises OSError
    where a store does not answer."""
    pack = _pack(folder.packs, str(alert["revision"]))
    if pack is None:
        return None
    return next(((pack, rule) for rule in pack.rules if rule.name == alert["rule"]), None)


@lru_cache(maxsize=16)
def _pack(folder: AnyPath, revision: str) -> Pack | None:
    try:
        with store_errors(folder):
            return packs.load(folder, revision)
    except JobError:
        return None
