"""The other engine: docs/language.md, its patterns, windows and time, read aloud over plain lists.

It exists to be compared with. It keeps whole events, tries every alternative, forgets nothing and knows
neither tables, batches nor state; where it and the compiled automaton differ, one of them misreads the page.

    hits          documents and the standing queries that are true of them
    alternatives  what has happened to a run, what it waits for, and how its alternatives stand to one another
    pattern       the alternatives that a pattern opens
    runs          one rule over one key's events
    keys          the keys of events
    windows       rules over windows
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from alerts.notation import json_value
from cep.events import MAX_TIME, hit_id
from cep.expressions.held import value_at
from cep.reference.alternatives import Alternative, Event
from cep.reference.keys import distinct, labels
from cep.reference.runs import (
    Decided,
    HitLookup,
    Matcher,
    Scope,
    TextPredicate,
    TooManyAlternativesError,
    emitted,
)
from cep.reference.windows.aggregates import Surroundings
from cep.reference.windows.judged import Revision, judged
from rules.typed import Match, On, Over, Pack, QueryHits, Rule, Stream
from rules.types import Type

__all__ = ["Decided", "HitLookup", "TextPredicate", "TooManyAlternativesError", "decided"]


def decided(
    pack: Pack,
    arrivals: Iterable[tuple[str, str, Mapping[str, object]]],
    watermark: int = MAX_TIME,
    text: TextPredicate | None = None,
    hits: HitLookup | None = None,
) -> list[Decided]:
    """All alerts of a pack once the watermark has come there, before suppression, in the order of delivery.

    What took the same events in the same steps is one alert, the one decided first.

    `arrivals` are (stream, id, values) in order of arrival, late ones left out; events above the watermark
    wait. MAX_TIME drains. `text` evaluates `matches` conditions, `hits` percolates documents.

    Raises TooManyAlternativesError.
    """
    events: list[Event] = []
    for stream, id_, values in arrivals:
        time = value_at(values, pack.stream(stream).time)
        assert isinstance(time, int)
        if time <= watermark:
            events.append(Event(stream, id_, time, values, len(events)))
            events += _hits_of(pack, events[-1], hits)
    events.sort(key=lambda event: (event.time, event.place))
    first: dict[object, Decided] = {}
    for rule in pack.rules:
        for one in _of_rule(pack, rule, events, watermark, text):
            first.setdefault((one.rule, one.kind, one.taken, one.window), one)
    types = {rule.name: () if rule.by is None else rule.by.types for rule in pack.rules}
    return sorted(first.values(), key=lambda a: (a.time, a.rule, _in_order(a.key, types[a.rule]), a.rank))


def _hits_of(pack: Pack, document: Event, lookup: HitLookup | None) -> Iterable[Event]:
    """The hits of an event, right behind it."""
    place = document.place
    for stream in pack.streams:
        if isinstance(stream.origin, QueryHits) and stream.origin.documents == document.stream:
            assert lookup is not None
            for hit in lookup(stream.name, document.values, document.time):
                place += 1
                id_ = hit_id(document.id, str(hit["query"]))
                yield Event(stream.name, id_, document.time, {**document.values, **hit}, place)


def _in_order(key: Iterable[tuple[str, object]], types: Iterable[Type]) -> list[tuple[object, ...]]:
    """Keys sort by their values as alerts show them: decimals and times as text."""
    shown = (json_value(value, type_) for (_, value), type_ in zip(key, types, strict=True))
    return [(False,) if value is None else (True, value) for value in shown]


def _of_rule(
    pack: Pack, rule: Rule, events: list[Event], watermark: int, text: TextPredicate | None
) -> Iterable[Decided]:
    match rule.body:
        case On(stream):
            mine = [event for event in events if event.stream == stream]
            yield from _of_events(rule, pack.stream(stream), rule.body, distinct(None, mine), text)
        case Match(streams=streams):
            mine = [event for event in events if event.stream in streams]
            since = mine[0].time if mine else MAX_TIME
            keys: dict[tuple[tuple[str, object], ...], list[Event]] = {}
            for event in distinct(rule.by, mine):
                key = labels(rule.by, event)
                if None not in dict(key).values():
                    of_key = keys.setdefault(key, [])
                    of_key.append(replace(event, index=len(of_key)))
            for key, of_key in keys.items():
                yield from Matcher(rule, rule.body, key, of_key, since, text).run(watermark)
        case Over(stream):
            mine = [event for event in events if event.stream == stream]
            around = Surroundings(pack.stream(stream).step, text)
            yield from judged([Revision(rule)], mine, watermark, around)
        case _:
            assert_never(rule.body)


def _of_events(
    rule: Rule, stream: Stream, body: On, events: list[Event], text: TextPredicate | None
) -> Iterable[Decided]:
    hits = isinstance(stream.origin, QueryHits)
    for event in events:
        key = labels(rule.by, event)
        scope = Scope(Alternative(), event, [event], None, text, dict(key))
        if scope.holds(body.condition):
            taken = ((stream.step, (event.id,)),)
            emit = emitted(rule.emit, scope)
            query = str(event.values["query"]) if hits else None
            kind = "hit" if hits else "event"
            places = ((stream.step, (event.place,)),)
            yield Decided(rule.name, kind, key, event.time, taken, emit, (1, event.place), query, places)
