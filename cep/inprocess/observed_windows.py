"""The windows of a test as the reference judges them over the events that came: what each held, and why it
raised an alert or none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from alerts.notation import json_value
from cep.expressions.scalar import evaluate
from cep.reference.alternatives import Alternative, Event
from cep.reference.keys import labels
from cep.reference.runs import Key, Scope, TextPredicate
from cep.reference.windows.aggregates import Surroundings
from cep.reference.windows.judged import Judged, Revision, windows
from rules.testing import Arrival, Happening
from rules.testing.story import Kind
from rules.typed import Over, Pack, Rule


@dataclass(frozen=True, slots=True)
class WindowsSeen:
    """A rule over windows and the events of its stream, in order of time; `arrival` tells whose an event is.

    `text` evaluates the pack's text conditions.
    """

    pack: Pack
    rule: Rule
    body: Over
    arrival: Callable[[Event], Arrival]
    text: TextPredicate

    def story(self, events: Sequence[Event], watermark: int) -> Iterator[Happening]:
        """Every event that the window's condition was asked of; then every window, as often as it was judged,
        and those that are open."""
        for event in events:
            key = labels(self.rule.by, event)
            if event.time <= watermark and None not in dict(key).values():
                yield self._tried(event, key)
        around = Surroundings(self.pack.stream(self.body.stream).step, self.text)
        yield from map(self._judged, windows([Revision(self.rule)], events, watermark, around))

    def _tried(self, event: Event, key: Key) -> Happening:
        scope = Scope(Alternative(), event, [event], None, self.text, dict(key))
        return Happening(
            "took" if scope.holds(self.body.condition) else "tried",
            self.rule.name,
            self._shown(key),
            event.time,
            node=self.body,
            event=self.arrival(event),
            value=lambda expression: evaluate(expression, scope),
        )

    def _judged(self, one: Judged) -> Happening:
        seen, view = one.seen, one.seen.of.view
        return Happening(
            _kind(one),
            one.rule.name,
            self._shown(seen.key_),
            seen.of.time,
            node=self.body,
            event=None if seen.of.at is None else self.arrival(seen.of.at),
            taken=tuple((seen.around.step, self.arrival(event)) for event in view.events),
            value=partial(evaluate, scope=seen),
            window=(view.start, view.end),
        )

    def _shown(self, key: Key) -> Key:
        types = () if self.rule.by is None else self.rule.by.types
        return tuple((name, json_value(value, of)) for (name, value), of in zip(key, types, strict=True))


def _kind(one: Judged) -> Kind:
    if one.open:
        return "waiting"
    if one.raised:
        return "matched"
    return "repeated" if one.holds else "refused"
