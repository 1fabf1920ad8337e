"""A test block as an engine takes it: complete events, and the watermark after them.

Every `at` and `expect at` moves the watermark to its time, so an event that a test gives is matched
at once. Events that are not late may then share one step: nothing was decided between them that the
step would not decide in the same order (docs/language.md, Tests, and Time).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from rules.instants import GREATEST, span_of_time
from rules.typed import Expected, Given, MoveWatermark, Pack, Path, Stream, Test
from rules.types import ListOf, Record, Scalar, Type

NEVER = -(2**63) + 1
"""The watermark before the first `at`."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event with a value for every declared field, in the stream's types; records are dicts.

    `time` is its event time in nanoseconds since 1970, `id` the value of the id field (None without
    one), `late` whether the watermark already stood beyond its time, `ahead` whether its time is further
    ahead of the `at` than its stream's `future` lets it be: then it is malformed.
    """

    stream: str
    values: dict[str, object]
    time: int
    id: object
    late: bool
    given: Given
    ahead: bool = False


@dataclass(frozen=True, slots=True)
class Moment:
    """Events that arrive together, in order of arrival, and the watermark after them."""

    arrivals: tuple[Arrival, ...]
    watermark: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """The moments of a test, in order. `problems` says what the test's author cannot have meant."""

    moments: tuple[Moment, ...]
    problems: tuple[str, ...]

    def arrivals(self) -> Iterator[Arrival]:
        """All events, in order of arrival."""
        for moment in self.moments:
            yield from moment.arrivals


def timeline(pack: Pack, test: Test) -> Timeline:
    """The timeline of a test. Streams of its events are streams of the pack."""
    filling = _Filling(pack, test)
    moments: list[Moment] = []
    waiting: list[Arrival] = []
    problems: list[str] = []
    watermark = NEVER

    def settle() -> None:
        if watermark != NEVER:
            moments.append(Moment(tuple(waiting), watermark))
            waiting.clear()

    for item in test.timeline:
        match item:
            case Expected(at=None):
                continue
            case Given(late=True):
                # It finds the watermark at the time of its own `at`.
                watermark = max(watermark, item.at)
                settle()
                arrival = filling.complete(item, watermark)
                if not arrival.late:
                    problems.append(
                        f"the event of line {item.span.line} is not late: "
                        "its event time is not before the time at which it arrives"
                    )
                waiting.append(arrival)
                settle()
            case Given():
                arrival = filling.complete(item, watermark)
                if arrival.ahead != item.future:
                    problems.append(_not_as_said(arrival, pack.stream(item.stream)))
                if arrival.late:
                    settle()
                waiting.append(arrival)
                watermark = max(watermark, item.at)
                if arrival.late:
                    settle()
            case MoveWatermark() | Expected():
                watermark = max(watermark, item.at if item.at is not None else watermark)
    if waiting or not moments or moments[-1].watermark < watermark:
        settle()
    return Timeline(tuple(moments), tuple(problems))


def _not_as_said(arrival: Arrival, stream: Stream) -> str:
    """The mistake of an event that is ahead of the clock and not said to be, or the other way round."""
    line = arrival.given.span.line
    future = span_of_time(stream.furthest_ahead)
    if arrival.ahead:
        return (
            f"the event of line {line} is more than {future} ahead of its `at`, and a job refuses it "
            f"(`future` of {stream.name}): give it a later `at`, or show that: `at T future {stream.name}`"
        )
    return (
        f"the event of line {line} is not too far in the future: its event time is not more than {future} "
        f"(`future` of {stream.name}) after its `at`"
    )


@dataclass(slots=True)
class _Filling:
    """Completes the events of one test; ids left out are counted per stream, past those that are given."""

    pack: Pack
    test: Test
    taken: dict[str, set[object]] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for item in self.test.timeline:
            if isinstance(item, Given):
                stream = self.pack.stream(item.stream)
                given = _at(dict(item.values), stream.id) if stream.id is not None else None
                self.taken.setdefault(item.stream, set()).add(given)

    def complete(self, given: Given, watermark: int) -> Arrival:
        """The event with all its fields. `watermark` is where it stands when the event arrives."""
        stream = self.pack.stream(given.stream)
        said = dict(given.values)
        values = {f.name: _completed(said, f.name, f.type, f.nullable) for f in stream.fields}
        time = _at(said, stream.time)
        if not isinstance(time, int):
            # A late event that does not say when it happened did so just before it was too late.
            time = min(given.at, watermark - 1) if given.late else given.at
            if given.future:
                time = min(given.at + stream.furthest_ahead + 1, GREATEST)
            _put(values, stream.time, time)
        identity = _at(said, stream.id) if stream.id is not None else None
        if stream.id is not None and identity is None:
            identity = self._next_id(stream, stream.id)
            _put(values, stream.id, identity)
        ahead = time - given.at > stream.furthest_ahead
        return Arrival(given.stream, values, time, identity, time < watermark, given, ahead)

    def _next_id(self, stream: Stream, path: Path) -> object:
        taken = self.taken[stream.name]
        while True:
            number = self.numbers[stream.name] = self.numbers.get(stream.name, 0) + 1
            candidate = _numbered(_type_at(stream, path), stream.name, number)
            if candidate not in taken:
                return candidate


def _completed(said: dict[str, object], name: str, type_: Type, nullable: bool) -> object:
    """The value that the test gives a field; where it gives none, null or a default of the type."""
    if name in said:
        return _filled(said[name], type_)
    return None if nullable else default(type_)


def _filled(value: object, type_: Type) -> object:
    """A value whose records, also those in lists, have all their fields."""
    match type_, value:
        case Record(fields, nullable), _ if value is not None:
            inner = _as_dict(value)
            return {name: _completed(inner, name, part, name in nullable) for name, part in fields}
        case ListOf(element), list() | tuple():
            return tuple(_filled(item, element) for item in value)
        case _:
            return value


def default(type_: Type) -> object:
    """The value of a required field that a test leaves out: empty, zero, false, 1970-01-01T00:00Z."""
    match type_:
        case ListOf():
            return ()
        case Record(fields, nullable):
            return {name: None if name in nullable else default(part) for name, part in fields}
        case Scalar():
            return _DEFAULTS[type_]


_DEFAULTS: dict[Scalar, object] = {
    Scalar.STRING: "",
    Scalar.TEXT: "",
    Scalar.LONG: 0,
    Scalar.DOUBLE: 0.0,
    Scalar.DECIMAL: Decimal(0),
    Scalar.BOOLEAN: False,
    Scalar.TIMESTAMP: 0,
    Scalar.DURATION: 0,
    Scalar.NULL: None,
}


def _numbered(type_: Type, stream: str, number: int) -> object:
    match type_:
        case Scalar.LONG | Scalar.TIMESTAMP | Scalar.DURATION:
            return number
        case Scalar.DOUBLE:
            return float(number)
        case Scalar.DECIMAL:
            return Decimal(number)
        case _:
            return f"{stream}-{number}"


def _as_dict(value: object) -> dict[str, object]:
    """A record's fields; the front end writes records as mappings or as pairs."""
    return dict(value)  # type: ignore[call-overload, no-any-return]


def _type_at(stream: Stream, path: Path) -> Type:
    type_ = stream.field(path[0]).type
    for name in path[1:]:
        type_ = dict(type_.fields)[name] if isinstance(type_, Record) else Scalar.NULL
    return type_


def _at(values: dict[str, object], path: Path) -> object:
    value: object = values
    for name in path:
        if value is None:
            return None
        value = _as_dict(value).get(name)
    return value


def _put(values: dict[str, object], path: Path, value: object) -> None:
    for name in path[:-1]:
        inner = values[name]
        values[name] = values = {} if inner is None else _as_dict(inner)
    values[path[-1]] = value
