"""A test with the engine's trace on: what happened to its runs, with every expression as it was seen then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, assert_never

from cep.batch.trace import Record, TracedEvent
from cep.events import ID, OFFSET, TIME, Events
from cep.expressions.held import python
from cep.expressions.scalar import evaluate
from cep.plan.plan import HitStream, hit_streams
from cep.reference.alternatives import Alternative, Event
from cep.reference.runs import Scope, TextPredicate
from cep.resources.standing import StandingQueries
from rules.resolve.hits import HIT_FIELDS
from rules.source import Span
from rules.testing import Arrival, Happening, Value
from rules.typed import Guard, Match, On, Over, Pack, Rule, Step, walk

if TYPE_CHECKING:
    from cep.batch.trace import Trace
    from cep.resources.resource import Resources

Key = tuple[object, ...]


@dataclass(slots=True)
class Observed:
    """The events of one test as they came, and what the trace told of them in the end.

    `text` evaluates the pack's text conditions; `resources` are what the pack looks up.
    """

    pack: Pack
    rules: tuple[str, ...]
    text: TextPredicate
    resources: Resources
    _came: dict[tuple[str, str, int], tuple[Arrival, Event]] = field(default_factory=dict)
    _hits: list[HitStream] = field(init=False)

    def __post_init__(self) -> None:
        read = {name for rule in self.pack.rules if rule.name in self.rules for name in rule.streams}
        self._hits = [hits for hits in hit_streams(self.pack) if hits.stream.name in read]

    def note(self, events: Sequence[Events], arrivals: Sequence[Arrival], first: int) -> None:
        """Remember the events of a moment, numbered from `first` on; a redelivery is none."""
        for part in events:
            columns = (part.table.column(name).to_pylist() for name in (ID, TIME, OFFSET))
            for id_, time, number in zip(*columns, strict=True):
                arrival = arrivals[number - first]
                if not arrival.late:
                    self._note(arrival, part.stream, id_, time, number)
            for hits in self._hits:
                if hits.documents.name == part.stream:
                    self._note_hits(hits, part, arrivals, first)

    def _note(self, arrival: Arrival, stream: str, id_: str, time: int, number: int) -> None:
        event = Event(stream, id_, time, arrival.values, number)
        self._came.setdefault((stream, id_, time), (arrival, event))

    def _note_hits(self, hits: HitStream, part: Events, arrivals: Sequence[Arrival], first: int) -> None:
        """Hits come with their document, and are told of as events that came."""
        from cep.routing.hits import hits_of

        queries = self.resources.open(StandingQueries(hits))
        table = hits_of(hits, queries, part, hits.fields).events.table
        columns = (table.column(name).to_pylist() for name in (ID, TIME, OFFSET))
        own = {name: python(table.column(name)) for name in HIT_FIELDS}
        for row, (id_, time, number) in enumerate(zip(*columns, strict=True)):
            document = arrivals[number - first]
            if not document.late:
                values = {**document.values, **{name: column[row] for name, column in own.items()}}
                arrival = replace(document, stream=hits.stream.name, values=values, id=id_)
                self._note(arrival, hits.stream.name, id_, time, number)

    def story(self, trace: Trace, watermark: int) -> list[Happening]:
        """The story of the rules' runs, in order; of every event that an `on` rule saw; of windows."""
        rules = {rule.name: rule for rule in self.pack.rules if rule.name in self.rules}
        found: list[Happening] = []
        for rule in rules.values():
            match rule.body:
                case Match() as body:
                    telling = _Telling(rule, body, self._came, self.text)
                    records = [r for r in (*trace.records, *trace.waiting()) if r.rule == rule.name]
                    found.extend(map(telling.happening, records))
                case On() as body:
                    found.extend(self._of_events(rule, body, watermark))
                case Over() as body:
                    found.extend(self._of_windows(rule, body, watermark))
                case _:
                    assert_never(rule.body)
        return found

    def _of_windows(self, rule: Rule, body: Over, watermark: int) -> Iterator[Happening]:
        from cep.inprocess.observed_windows import WindowsSeen

        mine = sorted(
            (event for _, event in self._came.values() if event.stream == body.stream),
            key=lambda event: (event.time, event.place),
        )

        def arrival(event: Event) -> Arrival:
            return self._came[event.stream, event.id, event.time][0]

        yield from WindowsSeen(self.pack, rule, body, arrival, self.text).story(mine, watermark)

    def _of_events(self, rule: Rule, body: On, watermark: int) -> Iterator[Happening]:
        for arrival, event in sorted(self._came.values(), key=lambda pair: (pair[1].time, pair[1].place)):
            if event.stream != body.stream or event.time > watermark:
                continue
            value = _seen(Scope(Alternative(), event, [event], None, self.text, {}))
            holds = body.condition is None or value(body.condition) is True
            yield Happening(
                "matched" if holds else "tried",
                rule.name,
                (),
                event.time,
                node=body,
                event=arrival,
                value=value,
            )


class _Telling:
    """Turns the records of one rule into happenings."""

    def __init__(
        self,
        rule: Rule,
        body: Match,
        came: Mapping[tuple[str, str, int], tuple[Arrival, Event]],
        text: TextPredicate,
    ) -> None:
        self._rule, self._body, self._came, self._text = rule, body, came, text
        self._nodes: dict[Span, Step | Guard] = {
            node.span: node for node in walk(body.pattern) if isinstance(node, Step | Guard)
        }
        self._of_key: dict[Key, list[Event]] = {}
        self._indexed: dict[tuple[str, str, int], Event] = {}
        ordered = sorted((event for _, event in came.values()), key=lambda e: (e.time, e.place))
        for event in ordered:
            if event.stream in body.streams:
                events = self._of_key.setdefault(self._key(event), [])
                placed = replace(event, index=len(events))
                events.append(placed)
                self._indexed[event.stream, event.id, event.time] = placed

    def happening(self, record: Record) -> Happening:
        """The record with its typed node, its arrivals, and an evaluator."""
        taken = tuple((step, self._event(seen)) for step, seen in record.taken)
        candidate = None if record.event is None else self._event(record.event)
        known = candidate or (taken[0][1] if taken else None)
        key = () if known is None else self._key(known)
        names = {} if self._rule.by is None else dict(zip(self._rule.by.names, key, strict=False))
        events = self._of_key.get(key, [])
        # The condition was evaluated before the step took the event, which a loop's aggregates leave out.
        before = taken[:-1] if record.kind in ("began", "took") else taken
        scope = Scope(Alternative(before), candidate, events, self._body.within, self._text, names)
        return Happening(
            record.kind, record.rule, record.key, record.time, record.run, record.parent,
            None if record.place is None else self._nodes[record.place],
            None if record.event is None else self._arrival(record.event),
            tuple((step, self._arrival(seen)) for step, seen in record.taken),
            record.bound or "", record.failed or "", record.by, record.waits, record.until, _seen(scope),
        )  # fmt: skip

    def _event(self, seen: TracedEvent) -> Event:
        return self._indexed[seen.stream, seen.id, seen.time]

    def _arrival(self, seen: TracedEvent) -> Arrival:
        return self._came[seen.stream, seen.id, seen.time][0]

    def _key(self, event: Event) -> Key:
        by = self._rule.by
        return () if by is None else tuple(map(event.get, by.of(event.stream)))


def _seen(scope: Scope) -> Value:
    return lambda expression: evaluate(expression, scope)
