"""The two engines behind one shape: events in, decided alerts out.

Compiled     what the job runs (cep.inprocess.session)
Reference    the brute-force reading of docs/language.md (cep.reference), which keeps all events
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, assert_never, cast

from alerts.alert import Kind
from alerts.notation import json_value, timestamp
from alerts.raised import Apart, Raised
from alerts.raised_columns import RaisedColumns
from cep.counters import Counts, EventOutcome, StreamEvents
from cep.events import FILE, ID, MIN_TIME, OFFSET, TIME, Events
from cep.shard.render import RuleWriter
from rules.typed import Emit, Match, On, Over, Pack, Rule

if TYPE_CHECKING:
    from cep.batch.trace import Trace
    from cep.plan.plan import Plan
    from cep.reference import Decided
    from cep.resources.resource import Resources

Name = Literal["compiled", "reference"]
NAMES: tuple[Name, ...] = ("compiled", "reference")


class Engine(Protocol):
    """A pack over events, from an empty state."""

    @property
    def counts(self) -> Counts:
        """The counts so far."""

    def feed(self, events: Sequence[Events], watermark: int) -> RaisedColumns:
        """Take events, then let the watermark stand there; alerts in order, before suppression."""

    def finish(self) -> RaisedColumns:
        """The alerts that the engine has not given yet."""


def engine(
    name: Name, packs: Sequence[Pack], one_partition: bool, resources: Resources | None = None
) -> Engine:
    """An engine for packs that run together. Raises DiagnosticsError where it cannot run them.

    `one_partition`: the events' offsets rise over all streams together. `resources` are what the packs look
    up; None: the engine opens its own. The reference engine runs one pack, and reads what it looks up itself.
    """
    if name == "reference":
        (pack,) = packs
        return Reference(pack, one_partition)
    from cep.packs.compile import compile_plan

    return Compiled(compile_plan(packs), one_partition, resources=resources)


class Compiled:
    """The engine that the job runs."""

    def __init__(
        self,
        plan: Plan,
        one_partition: bool,
        trace: Trace | None = None,
        resources: Resources | None = None,
    ) -> None:
        from cep.batch.clock import BatchStart
        from cep.inprocess.session import Session
        from cep.shard.advance import MatchOptions

        start = BatchStart(one_partition=one_partition)
        self._session = Session(plan, 1, start, resources, MatchOptions(trace=trace))

    @property
    def counts(self) -> Counts:
        """The counts of classification and matching."""
        return self._session.counts

    def feed(self, events: Sequence[Events], watermark: int) -> RaisedColumns:
        """Classify, match and settle one batch."""
        return RaisedColumns.ordered(self._session.feed_parts(events, watermark))

    def finish(self) -> RaisedColumns:
        """Nothing: every batch gives its own."""
        return RaisedColumns.of(())


class Reference:
    """The engine that everything is compared with. It answers at the end."""

    def __init__(self, pack: Pack, one_partition: bool) -> None:
        from cep.reference.text_conditions import text_predicate

        self._counts = Counts()
        self._pack = pack
        self._text = text_predicate(pack)
        self._hits = None
        if pack.queries:
            from cep.reference.hits import hit_lookup

            self._hits = hit_lookup(pack)
        self._one_partition = one_partition
        self._ranks = {stream.name: rank for rank, stream in enumerate(pack.fed)}
        self._watermark = MIN_TIME
        self._arrivals: list[tuple[str, str, Mapping[str, object]]] = []
        self._seen: set[tuple[object, ...]] = set()

    @property
    def counts(self) -> Counts:
        """Events by stream: accepted, late, duplicate."""
        return self._counts

    def feed(self, events: Sequence[Events], watermark: int) -> RaisedColumns:
        """Keep the events that are not late, in order of arrival."""
        arrived: list[tuple[tuple[object, ...], str, str, Mapping[str, object]]] = []
        for part in events:
            for row in _rows(part):
                outcome: EventOutcome = "late" if row[TIME] < self._watermark else "accepted"
                self._counts[StreamEvents(part.stream, outcome)] += 1
                if outcome == "late":
                    continue
                name = (part.stream, row[ID], row[TIME])
                self._counts[StreamEvents(part.stream, "duplicate")] += name in self._seen
                self._seen.add(name)
                feed = 0 if self._one_partition else self._ranks[part.stream]
                place = (feed, "" if self._one_partition else (part.partition, row[FILE]), row[OFFSET])
                arrived.append((place, part.stream, row[ID], row))
        arrived.sort(key=lambda item: item[0])
        self._arrivals.extend(item[1:] for item in arrived)
        self._watermark = max(self._watermark, watermark)
        return RaisedColumns.of(())

    def finish(self) -> RaisedColumns:
        """Decide everything up to the watermark. Raises cep.reference.TooManyAlternativesError."""
        from cep.reference import decided

        found = decided(self._pack, self._arrivals, self._watermark, self._text, self._hits)
        pack = self._pack
        rules = {rule.name: rule for rule in pack.rules}
        writers = {name: RuleWriter(pack.name, pack.revision, rule) for name, rule in rules.items()}
        return RaisedColumns.of(
            [_raised(rules[one.rule], writers[one.rule], one, n) for n, one in enumerate(found)]
        )


def _rows(events: Events) -> list[dict[str, Any]]:
    """Rows as rules.types.Scalar says: times and durations are nanoseconds."""
    from cep.expressions.held import as_held, python

    names = events.table.column_names
    columns = (python(as_held(column)) for column in events.table.columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _raised(rule: Rule, writer: RuleWriter, one: Decided, number: int) -> Raised:
    """The alert of a decision of the reference engine; `number` is its place in order."""
    types = dict(zip(rule.by.names, rule.by.types, strict=True)) if rule.by is not None else {}
    key = {name: json_value(value, types[name]) for name, value in one.key}
    emitted = {item.name: item.value.type for item in _emits(rule, one.kind)}
    emit = {name: json_value(value, emitted[name]) for name, value in one.emit}
    events = [(step, list(ids)) for step, ids in one.events]
    window = None
    if one.window is not None:
        start, end, at = one.window
        window = [*map(timestamp, (start, end)), *([] if at is None else [at])]
    apart = Apart(one.query, window, one.approximate)
    return writer.raised(cast(Kind, one.kind), one.time, key, emit, events, (number,), apart)


def _emits(rule: Rule, kind: str) -> tuple[Emit, ...]:
    match rule.body:
        case Match(on_timeout=emitted) if kind == "timeout":
            return emitted or ()
        case On() | Match() | Over():
            return rule.emit
        case _:
            assert_never(rule.body)
