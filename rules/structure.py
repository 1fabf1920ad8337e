"""A hash of all that a rule's live runs depend on: a pack may change all else under them.

It covers steps, signs, quantifiers, keys, bounds, windows, registers, and the definitions of the
rule's streams and tables, from the normalised text, never from compiled tables. The constants of conditions
are not in it, nor are severity, summary and outputs that the registers can give. Of a window those of
`having` are not in it; those that choose its events, or that it aggregates, are. A rule with `on` has no
runs; its structure is its stream and its key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import assert_never

from rules import typed

VERSION = 1
"""Raised when the form hashed here changes: all runs of all rules then begin anew."""

Json = object


def with_structures(pack: typed.Pack) -> typed.Pack:
    """The pack with every rule's structure filled in."""
    known = _Known({s.name: s for s in pack.streams}, {t.name: t for t in pack.tables})
    return replace(pack, rules=tuple(replace(r, structure=_structure(r, known)) for r in pack.rules))


@dataclass(frozen=True, slots=True)
class _Known:
    """The streams and tables of a pack by name."""

    streams: Mapping[str, typed.Stream]
    tables: Mapping[str, typed.Table]


def _structure(rule: typed.Rule, known: _Known) -> str:
    """16 hexadecimal digits of SHA-256 over a canonical JSON."""
    text = json.dumps(_normal(rule, known), separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _normal(rule: typed.Rule, pack: _Known) -> Json:
    body = rule.body
    found: dict[str, Json] = {
        "version": VERSION,
        "streams": [_stream(pack.streams[name]) for name in rule.streams],
        "by": None if rule.by is None else [rule.by.names, [str(t) for t in rule.by.types], rule.by.paths],
    }
    match body:
        case typed.On():
            return found
        case typed.Match():
            found |= _match(rule, body)
        case typed.Over():
            found |= _over(rule, body)
        case _:
            assert_never(body)
    tables = {part.table for part in typed.walk(rule) if isinstance(part, typed.Lookup)}
    if tables:
        found["tables"] = [_table(pack.tables[name]) for name in sorted(tables)]
    return found


def _match(rule: typed.Rule, body: typed.Match) -> dict[str, Json]:
    return {
        "pattern": _sequence(body.pattern),
        "within": body.within,
        "having": _condition(body.having),
        "skip": [body.skip.to, body.skip.step],
        "timeout": body.on_timeout is not None,
        "limit": body.limit,
        "registers": sorted(
            _registers(body.pattern, body.having, *(o.value for o in (*rule.emit, *(body.on_timeout or ()))))
        ),
    }


def _over(rule: typed.Rule, body: typed.Over) -> dict[str, Json]:
    window = [type(body.window).__name__, [getattr(body.window, f.name) for f in fields(body.window)]]
    return {
        "window": window,
        "limit": body.limit if isinstance(body.window, typed.AtEachEvent) else None,
        "filter": None if body.condition is None else _whole(body.condition),
        "having": _condition(body.having),
        "registers": sorted(_registers(body.having, *(o.value for o in rule.emit))),
    }


def _whole(node: typed.Expression) -> Json:
    """An expression with its constants: the text of it that equal expressions share."""
    match node:
        case typed.Literal():
            return ["literal", str(node.type), _constant(node.value)]
        case typed.Like() | typed.Search():
            return [*_shape(node), node.pattern, *map(_whole, _operands(node))]
        case typed.TextMatch():
            return [*_shape(node), node.query]
        case _:
            return [*_shape(node), *map(_whole, _operands(node))]


def _shape(node: typed.Expression) -> list[Json]:
    return [type(node).__name__, *_own(node)]


def _constant(value: object) -> Json:
    return list(map(_constant, value)) if isinstance(value, tuple) else [type(value).__name__, str(value)]


def _stream(stream: typed.Stream) -> Json:
    found: list[Json] = [
        stream.name, _fields(stream.fields), stream.id, stream.time, stream.lateness, stream.idle
    ]  # fmt: skip
    if stream.corrected is not None:
        found.append(["corrected", stream.corrected.sent, stream.corrected.received])
    match stream.origin:
        case typed.Fed():
            pass
        case typed.QueryHits(documents, queries):
            found.append(["hits", documents, queries])
        case typed.Derived(maker):
            found.append(["derived", maker])
        case _:
            assert_never(stream.origin)
    return found


def _table(table: typed.Table) -> Json:
    return [table.name, table.key, _fields(table.fields), table.time]


def _fields(declared: Sequence[typed.Field]) -> Json:
    return [[f.name, str(f.type), f.nullable, f.analyser, *["secret"] * f.secret] for f in declared]


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
            return [*_shape(node), *(_expression(p) for p in _operands(node))]


_PLAIN = ("operator", "negated", "path", "name", "step", "table", "which", "offset", "function", "parameter")


def _own(node: typed.Expression) -> Iterator[Json]:
    yield str(node.type)
    for name in _PLAIN:
        if name in node.__dataclass_fields__:
            yield [name, getattr(node, name)]


def _operands(node: typed.Expression) -> Iterator[typed.Expression]:
    return (p for p in typed.parts(node) if isinstance(p, typed.Expression))


def _registers(*nodes: typed.Sequence | typed.Expression | None) -> set[str]:
    """The values that must be kept of steps and of windows for conditions, `having` and `emit`."""
    found: set[str] = set()
    for part in (part for node in nodes if node is not None for part in typed.walk(node)):
        match part:
            case typed.StepRef():
                found.add(json.dumps([part.step, part.path, part.which, part.offset]))
            case typed.Aggregate():
                found.add(json.dumps([part.step, part.path, part.function, part.parameter]))
            case typed.WindowAggregate():
                argument = None if part.argument is None else _whole(part.argument)
                kept = [part.function, argument, part.parameter, part.which, part.offset]
                found.add(json.dumps(kept))
            case typed.PrevRef():
                found.add(json.dumps(["prev", part.path, part.offset]))
            case _:
                pass
    return found
