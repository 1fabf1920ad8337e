"""What a rule's waiting runs depend on, as a hash: a pack may change all else under them.

engine.md, Packs: steps, signs, quantifiers, keys, bounds, registers, and the definitions of the rule's
streams, from the normalised text, never from compiled tables. The constants of conditions are not in it,
nor are severity, summary and outputs that the registers can give. A rule with `on` has no runs; its
structure is its stream and its key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from rules import typed

VERSION = 1
"""Raised when the form hashed here changes: all runs of all rules then begin anew."""

Json = object


def with_structures(pack: typed.Pack) -> typed.Pack:
    """The pack with every rule's structure filled in."""
    streams = {s.name: s for s in pack.streams}
    return replace(pack, rules=tuple(replace(r, structure=_structure(r, streams)) for r in pack.rules))


def structure(rule: typed.Rule, streams: Iterable[typed.Stream]) -> str:
    """The structure hash of a rule: 16 hexadecimal digits of SHA-256 over a canonical JSON."""
    return _structure(rule, {s.name: s for s in streams})


def _structure(rule: typed.Rule, streams: dict[str, typed.Stream]) -> str:
    text = json.dumps(_normal(rule, streams), separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _normal(rule: typed.Rule, streams: dict[str, typed.Stream]) -> Json:
    body = rule.body
    names = (body.stream,) if isinstance(body, typed.On) else body.streams
    found: dict[str, Json] = {
        "version": VERSION,
        "streams": [_stream(streams[name]) for name in names],
        "by": None if rule.by is None else [rule.by.names, [str(t) for t in rule.by.types], rule.by.paths],
    }
    if isinstance(body, typed.On):
        return found
    found["pattern"] = _sequence(body.pattern)
    found["within"] = body.within
    found["having"] = None if body.having is None else _expression(body.having)
    found["skip"] = [body.skip.to, body.skip.step]
    found["timeout"] = body.on_timeout is not None
    found["limit"] = body.limit
    found["registers"] = sorted(_registers(rule, body))
    return found


def _stream(stream: typed.Stream) -> Json:
    fields = [[f.name, str(f.type), f.nullable, f.analyser] for f in stream.fields]
    return [stream.name, fields, stream.id, stream.time, stream.lateness, stream.idle]


def _sequence(sequence: typed.Sequence) -> Json:
    signs = ["", *(sign for sign, _ in sequence.elements[1:])]
    return [[sign, _element(e)] for sign, (_, e) in zip(signs, sequence.elements, strict=True)]


def _element(element: typed.Element) -> Json:
    match element:
        case typed.Step():
            tested = [element.name, element.stream, _condition(element.condition)]
            return ["step", *tested, *_loop(element)]
        case typed.Unless():
            return ["not", _guard(element.guard)]
        case typed.Absent():
            return ["absent", _guard(element.guard), element.duration]
        case typed.Group():
            return ["group", _sequence(element.body), *_loop(element)]
        case typed.Either():
            return ["either", [_sequence(b) for b in element.branches], *_loop(element)]
        case typed.AnyOrder():
            return ["any order", [_sequence(o) for o in element.operands], *_loop(element)]
        case _:
            assert_never(element)


def _loop(element: typed.Step | typed.Group | typed.Either | typed.AnyOrder) -> list[Json]:
    q = element.quantifier
    until = None if element.until is None else _guard(element.until)
    return [[q.least, q.most, q.mode, q.own], until, element.gap]


def _guard(guard: typed.Guard) -> Json:
    return [guard.stream, _condition(guard.condition)]


def _condition(condition: typed.Expression | None) -> Json:
    return None if condition is None else _expression(condition)


def _expression(node: typed.Expression) -> Json:
    """The shape of an expression: references and operators; a literal is only its type."""
    match node:
        case typed.Literal():
            return ["literal", str(node.type)]
        case typed.In() if all(isinstance(i, typed.Literal) for i in node.items):
            return ["in", node.negated, _expression(node.operand)]
        case typed.Like() | typed.Search():
            return [type(node).__name__, getattr(node, "negated", False), _expression(node.operand)]
        case typed.TextMatch():
            return ["matches", node.path]
        case _:
            return [type(node).__name__, *_own(node), *(_expression(p) for p in _operands(node))]


_PLAIN = ("operator", "negated", "path", "name", "step", "which", "offset", "function", "parameter")


def _own(node: typed.Expression) -> Iterator[Json]:
    yield str(node.type)
    for name in _PLAIN:
        if name in node.__dataclass_fields__:
            yield [name, getattr(node, name)]


def _operands(node: typed.Expression) -> Iterator[typed.Expression]:
    return (p for p in typed.parts(node) if isinstance(p, typed.Expression))


def _registers(rule: typed.Rule, body: typed.Match) -> set[str]:
    """What a run must keep of its steps for conditions, `having` and `emit`."""
    outputs: Sequence[typed.Emit] = (*rule.emit, *(body.on_timeout or ()))
    nodes: list[object] = [body.pattern, body.having, *(o.value for o in outputs)]
    found: set[str] = set()
    for node in nodes:
        if node is None:
            continue
        for part in typed.walk(node):
            match part:
                case typed.StepRef():
                    found.add(json.dumps([part.step, part.path, part.which, part.offset]))
                case typed.Aggregate():
                    found.add(json.dumps([part.step, part.path, part.function, part.parameter]))
                case typed.PrevRef():
                    found.add(json.dumps(["prev", part.path, part.offset]))
                case _:
                    pass
    return found
