"""The layout of patterns: in an open rule one step a line, the sign before it, names in a column."""

from __future__ import annotations

from typing import assert_never

from rules.format.document import (
    LINE,
    SPACE,
    TIGHT,
    Blanks,
    Document,
    align,
    group,
    joined,
    nest,
)
from rules.format.expression import condition, enclosed
from rules.format.tokens import Tokens
from rules.syntax import Absent, Element, Group, Modifier, Quantifier, Sequence, Source, Step, Unless

_SIGN = 3
"""A sign and the blank after it."""


def pattern(node: Sequence, tokens: Tokens) -> Document:
    """A whole pattern: its lines are those of the clause; signs stand left of the steps."""
    widest = max((_label(element) for element in node.elements), default=0)
    parts = [_element(node.elements[0], widest, tokens)]
    for sign, element in zip(node.signs, node.elements[1:], strict=True):
        parts.append(nest(-_SIGN, LINE, tokens.lead(), tokens.take(sign.text)))
        parts += (SPACE, _element(element, widest, tokens))
    return align(*parts)


def source(node: Source, tokens: Tokens) -> Document:
    """`S[cond]`, `S matching Q[cond]`."""
    lead = tokens.lead()
    name = tokens.leaf(node.stream.span)
    if node.matching is not None:
        name = joined(name, SPACE, tokens.take("matching"), SPACE, tokens.leaf(node.matching.span))
    if node.condition is None:
        return joined(lead, name)
    begin = joined(name, tokens.take("["))
    return joined(lead, enclosed(begin, condition(node.condition, tokens), "]", tokens))


def _label(element: Element) -> int:
    """The width of a step's name with its colon; 0 without one."""
    match element:
        case Step(name=None) | Unless() | Absent() | Group():
            return 0
        case Step():
            assert element.name is not None
            return element.name.span.end - element.name.span.start + 1
        case _:
            assert_never(element)


def _element(node: Element, widest: int, tokens: Tokens) -> Document:
    match node:
        case Step():
            parts: list[Document] = []
            if node.name is not None:
                label = joined(tokens.leaf(node.name.span), tokens.take(":"))
                parts = [label, Blanks(max(widest - _label(node), 0) + 1, 1)]
            return joined(*parts, source(node.source, tokens), _suffixes(node, tokens))
        case Unless():
            return joined(tokens.take("not"), SPACE, source(node.source, tokens))
        case Absent():
            absent = joined(tokens.take("absent"), SPACE, source(node.source, tokens))
            if node.duration is None:
                return absent
            return joined(absent, SPACE, tokens.take("for"), SPACE, tokens.leaf(node.duration.span, SPACE))
        case Group():
            return _group(node, tokens)
        case _:
            assert_never(node)


def _group(node: Group, tokens: Tokens) -> Document:
    lead = tokens.lead()
    parts = [tokens.take("("), Blanks(1, 0), nest(2, _branch(node.branches[0], tokens))]
    for bar, branch in zip(node.bars, node.branches[1:], strict=True):
        parts += (LINE, tokens.take(bar.text), SPACE, nest(2, _branch(branch, tokens)))
    last = nest(2, tokens.lead())
    return joined(lead, align(group(*parts, last, TIGHT, tokens.take(")"))), _suffixes(node, tokens))


def _branch(node: Sequence, tokens: Tokens) -> Document:
    lead = tokens.lead()
    parts = [_element(node.elements[0], 0, tokens)]
    for sign, element in zip(node.signs, node.elements[1:], strict=True):
        parts += (LINE, tokens.take(sign.text), SPACE, _element(element, 0, tokens))
    return joined(lead, group(*parts))


def _suffixes(node: Step | Group, tokens: Tokens) -> Document:
    """Quantifiers and modifiers, in the order written; the first quantifier right after what it counts."""
    parts: list[Document] = []
    suffixes: list[Quantifier | Modifier] = [*node.quantifiers, *node.modifiers]
    for suffix in sorted(suffixes, key=lambda s: s.span.start):
        match suffix:
            case Quantifier():
                parts += [SPACE] if parts else []
                parts.append(tokens.leaf(suffix.span))
            case Modifier(until=None, gap=None):
                parts += (SPACE, tokens.leaf(suffix.span))
            case Modifier():
                parts += (SPACE, tokens.take(suffix.kind), SPACE, _of_modifier(suffix, tokens))
            case _:
                assert_never(suffix)
    return joined(*parts)


def _of_modifier(node: Modifier, tokens: Tokens) -> Document:
    if node.until is not None:
        return source(node.until, tokens)
    assert node.gap is not None
    return tokens.leaf(node.gap.span, SPACE)
