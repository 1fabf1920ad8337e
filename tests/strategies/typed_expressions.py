"""Random well-typed expressions over every type, and edits that put an operand of a wrong type into them.

Unlike `random_expressions`, whose values two engines compare, these are only read and typed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from hypothesis import strategies as st

STREAM = """stream e {
  id_: string  at: timestamp  k: string  s: string?  n: long  m: long?  x: double  p: decimal  q: decimal?
  f: boolean  took: duration  tags: list<string>  nums: list<long>  days: list<timestamp>
  d: { os: string  v: long?  w: { price: decimal  seen: timestamp? } }
  items: list<{ sku: string  price: decimal? }>
  id id_  time at
}
"""
_LEAVES: dict[str, tuple[str, ...]] = {
    "long": ("n", "m", "d.v", "3", "it.n", "length(tags)"),
    "double": ("x", "2.5", "double(p)", "1e3"),
    "decimal": ("p", "q", "d.w.price", "decimal(x)"),
    "string": ("k", "s", "d.os", '"a"', "it.d.os"),
    "boolean": ("f", "true", "(k is null)", "(tags is not null)"),
    "timestamp": ("at", "d.w.seen"),
    "duration": ("took", "30s", "5 minutes"),
    "strings": ("tags", "items.sku", '("a", "b")'),
}
_ORDERED = ("long", "double", "decimal", "string", "timestamp", "duration")
_RECORD = "d"
"""What fits nowhere but beside `is null`."""


@dataclass(frozen=True, slots=True)
class Node:
    """An expression: text with its operands between, and for each operand what would be wrong there."""

    texts: tuple[str, ...]
    operands: tuple[Node, ...] = ()
    wrong: tuple[tuple[str, ...], ...] = ()


def written(node: Node) -> str:
    """The expression's text."""
    pieces = [node.texts[0]]
    for operand, text in zip(node.operands, node.texts[1:], strict=True):
        pieces += [written(operand), text]
    return "".join(pieces)


def edits(node: Node) -> Iterator[tuple[str, int, int]]:
    """The texts with one operand replaced by a wrong one, each with the place of what holds the operand."""
    for place, operand in enumerate(node.operands):
        before = _upto(node, place)
        after = written(node)[len(before) + len(written(operand)) :]
        for wrong in node.wrong[place]:
            text = before + wrong + after
            yield text, 0, len(text)
        for text, start, end in edits(operand):
            yield before + text + after, len(before) + start, len(before) + end


def _upto(node: Node, place: int) -> str:
    """The node's text before an operand."""
    pieces = [node.texts[0]]
    for number in range(place):
        pieces += [written(node.operands[number]), node.texts[number + 1]]
    return "".join(pieces)


_Slot = tuple[str, tuple[str, ...]]


def _built(template: str, *slots: _Slot, depth: int) -> st.SearchStrategy[Node]:
    texts = tuple(template.split("{}"))
    wrong = tuple(wrong for _, wrong in slots)
    operands = st.tuples(*(of(type_, depth) for type_, _ in slots))
    return operands.map(lambda found: Node(texts, found, wrong))


def _forms(type_: str) -> Iterator[tuple[str, tuple[_Slot, ...]]]:
    """The forms in which a value of the type is made of others."""
    same: _Slot = (type_, (_RECORD, "days"))
    truth: _Slot = ("boolean", ("n", "k", "took"))
    yield "({} ? {} : {})", (truth, same, same)
    yield "coalesce({}, {})", (same, same)
    number = (_RECORD, "k", "tags", "at", "f")
    match type_:
        case "long":
            for operator in "+-*%":
                yield f"({{}} {operator} {{}})", (("long", number), ("long", number))
            yield "abs({})", (("long", number),)
            yield "length({})", (("string", ("n", "took", _RECORD)),)
            yield "length({})", (("strings", ("n", "took", _RECORD)),)
            yield "hour({})", (("timestamp", ("n", "took", "tags")),)
        case "double":
            for operator in "+-*/":
                yield f"({{}} {operator} {{}})", (("double", number), ("long", number))
            yield "({} / {})", (("duration", ("k", "f")), ("duration", ("k", "f", "p")))
            yield "round({}, 2)", (("double", number),)
        case "decimal":
            for operator in "+-*/%":
                yield f"({{}} {operator} {{}})", (("decimal", number), ("decimal", (*number, "x")))
            yield "({} * 0.25)", (("decimal", number),)
            yield "(-{})", (("decimal", ("k", "at", "f")),)
        case "string":
            yield "lower({})", (("string", ("n", "f", "tags")),)
            yield "substr({}, {})", (("string", ("n", "f")), ("long", ("x", "k", "p")))
        case "timestamp":
            yield "({} + {})", (("timestamp", ("k", "n")), ("duration", ("n", "k", "at")))
            yield "({} - {})", (("timestamp", ("n", "k")), ("duration", ("n", "f")))
        case "duration":
            yield "({} - {})", (("timestamp", ("n", "k", "f")), ("timestamp", ("n", "k", "f")))
            yield "({} * {})", (("duration", ("k", "f", "at")), ("long", ("k", "p", "took")))
            yield "({} + {})", (("duration", ("n", "k")), ("duration", ("n", "k")))
        case "boolean":
            yield from _conditions()
        case _:
            pass


def _conditions() -> Iterator[tuple[str, tuple[_Slot, ...]]]:
    truth: _Slot = ("boolean", ("n", "k", "tags", "d"))
    yield "({} and {})", (truth, truth)
    yield "({} or {})", (truth, truth)
    yield "(not {})", (truth,)
    for type_ in _ORDERED:
        other = "k" if type_ not in ("string", "timestamp") else "n"
        side: _Slot = (type_, (_RECORD, other, "nums"))
        yield "({} < {})", (side, side)
        yield "({} == {})", (side, side)
        yield "({} in ({}, {}))", (side, side, side)
        yield "({} between {} and {})", (side, side, side)
    yield "({} in tags)", (("string", ("n", "took", "f")),)
    yield "({} in nums)", (("long", ("x", "k", "p")),)
    yield "({} in items.price)", (("decimal", ("x", "k", "f")),)
    yield "({} == {})", (("strings", ("nums", "k", "n")), ("strings", ("nums", "k", "n")))
    yield '({} like "a%")', (("string", ("n", "tags", "f")),)


@cache
def of(type_: str, depth: int) -> st.SearchStrategy[Node]:
    """Expressions of a type, so deep at most."""
    leaf = st.sampled_from([Node((text,)) for text in _LEAVES[type_]])
    if not depth:
        return leaf
    return st.one_of(leaf, *(_built(template, *slots, depth=depth - 1) for template, slots in _forms(type_)))


EXPRESSIONS = st.sampled_from(list(_LEAVES)).flatmap(lambda type_: of(type_, 2))
"""Expressions of every type."""
