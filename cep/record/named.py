"""The fields of streams that hold what alerts name: by the same name, by `by`, or emitted as they came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from alerts.sought import Fields
from cep.record.steps import origin_of, streams_of_steps
from rules.typed import FieldRef, KeyRef, On, Pack, Path, Rule, StepRef


def fields_of(packs: Iterable[Pack]) -> dict[str, Fields]:
    """By stream, for every name that an alert of these packs may have in its key or emit."""
    found: dict[str, dict[str, dict[Path, None]]] = {}
    for pack in packs:
        for stream in pack.streams:
            for one in stream.fields:
                found.setdefault(stream.name, {}).setdefault(one.name, {})[one.name,] = None
        for rule in pack.rules:
            for name, stream_name, path in _named(pack, rule):
                found.setdefault(stream_name, {}).setdefault(name, {})[path] = None
    return {stream: {name: tuple(paths) for name, paths in names.items()} for stream, names in found.items()}


def _named(pack: Pack, rule: Rule) -> Iterator[tuple[str, str, Path]]:
    """Names of a rule's alerts, each with a stream and the path of a field there."""
    keys: dict[str, list[tuple[str, Path]]] = {}
    for stream, paths in rule.by.paths if rule.by is not None else ():
        assert rule.by is not None
        for name, path in zip(rule.by.names, paths, strict=True):
            keys.setdefault(name, []).append((origin_of(pack, stream).stream, path))
    yield from ((name, *place) for name, places in keys.items() for place in places)
    steps: dict[str, list[str]] = {}
    for step, stream in streams_of_steps(pack, rule):
        steps.setdefault(step, []).append(origin_of(pack, stream).stream)
    for emit in rule.emit:
        match emit.value:
            case FieldRef(path=path) if isinstance(rule.body, On):
                yield emit.name, origin_of(pack, rule.body.stream).stream, path
            case StepRef(step=step, path=path):
                yield from ((emit.name, stream, path) for stream in steps.get(step, ()))
            case KeyRef(name=name):
                yield from ((emit.name, *place) for place in keys.get(name, ()))
