"""The streams of a rule's steps, their keys, and how far back from its alert a rule's events may lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from rules.typed import (
    Absent,
    AnyOrder,
    Either,
    Element,
    Group,
    Hopping,
    LastEvents,
    Match,
    On,
    Over,
    Pack,
    QueryHits,
    Rule,
    Sequence,
    Session,
    Sliding,
    Step,
    Tumbling,
    Unless,
)

_DAY = 86_400_000_000_000
Keys = Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]
"""By stream, the names of the key, each with the path of its value in an event."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The stream that a step's events are recorded under; with `hits`: as the documents of its hits."""

    stream: str
    hits: bool


@dataclass(frozen=True, slots=True)
class Traced:
    """A rule's events: the origins of each step, and the greatest time from an event to the alert in ns; None
    where nothing bounds it. `keys` are the names and paths of the key, by stream."""

    steps: Mapping[str, tuple[Origin, ...]]
    reach: int | None
    keys: Keys = field(default_factory=dict)

    def fits(self, stream: str, fields: Mapping[str, object], key: Mapping[str, object]) -> bool:
        """False if an event has another key than the alert, as far as its own fields tell."""
        paths = self.keys.get(stream, ())
        return all(_at(fields, path, key[name]) == key[name] for name, path in paths if name in key)


def _at(fields: Mapping[str, object], path: tuple[str, ...], default: object) -> object:
    """The value at a path; the default where it is none of the event's own."""
    value: object = fields
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return default
        value = value[name]
    return value


def traced(pack: Pack, rule: Rule) -> Traced:
    """A rule of a pack."""
    named: dict[str, list[Origin]] = {}
    for name, stream in streams_of_steps(pack, rule):
        origin = origin_of(pack, stream)
        if origin not in named.setdefault(name, []):
            named[name].append(origin)
    keys = {}
    for stream, paths in rule.by.paths if rule.by is not None else ():
        assert rule.by is not None
        keys[origin_of(pack, stream).stream] = tuple(zip(rule.by.names, paths, strict=True))
    return Traced({name: tuple(found) for name, found in named.items()}, _reach(rule), keys)


def origin_of(pack: Pack, name: str) -> Origin:
    origin = pack.stream(name).origin
    return Origin(origin.documents, True) if isinstance(origin, QueryHits) else Origin(name, False)


def streams_of_steps(pack: Pack, rule: Rule) -> Iterator[tuple[str, str]]:
    """The names under which an alert lists events, each with a stream of them."""
    match rule.body:
        case On(stream=stream) | Over(stream=stream):
            yield pack.stream(stream).step, stream
        case Match(pattern=pattern):
            yield from ((step.name, step.stream) for step in _elements(pattern) if isinstance(step, Step))
        case _:
            assert_never(rule.body)


def _elements(sequence: Sequence) -> Iterator[Element]:
    for _, element in sequence.elements:
        yield element
        match element:
            case Step() | Unless() | Absent():
                pass
            case Either(branches=inner) | AnyOrder(operands=inner):
                for one in inner:
                    yield from _elements(one)
            case Group(body=body):
                yield from _elements(body)
            case _:
                assert_never(element)


def _reach(rule: Rule) -> int | None:
    match rule.body:
        case On():
            return 0
        case Match(within=within, pattern=pattern):
            if within is None:
                return None
            waits = [one.duration or 0 for one in _elements(pattern) if isinstance(one, Absent)]
            return within + sum(waits)
        case Over(window=window):
            match window:
                case Tumbling(size=size) | Hopping(size=size):
                    return size + _DAY  # a zone's days may be longer, by what its clocks are set back
                case Sliding(size=size):
                    return size
                case Session(gap=gap, longest=longest):
                    return None if longest is None else longest + gap
                case LastEvents(within=within):
                    return within
                case _:
                    assert_never(window)
        case _:
            assert_never(rule.body)
