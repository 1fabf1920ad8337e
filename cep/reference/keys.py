"""The keys of events, and which events are one."""

from __future__ import annotations

from collections.abc import Iterable

from cep.reference.alternatives import Event
from cep.reference.runs import Key
from rules.typed import By


def labels(by: By | None, event: Event) -> Key:
    """The fields of a key in an event, by the names that alerts show."""
    if by is None:
        return ()
    return tuple(zip(by.names, map(event.get, by.of(event.stream)), strict=True))


def distinct(by: By | None, events: Iterable[Event]) -> list[Event]:
    """Redelivered events count once; the same id with another time or key is a new event."""
    seen: dict[object, Event] = {}
    for event in events:
        seen.setdefault((event.stream, event.id, event.time, labels(by, event)), event)
    return list(seen.values())
