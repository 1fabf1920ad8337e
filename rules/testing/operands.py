"""The value of each operand of a condition, and its place in the text.

An operator's value stands under its sign, that of everything else under its first character, as in the
assertions of Groovy and pytest. What is written as a constant needs no telling.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import assert_never

from rules.grammar.lexical import NUMBER, STRING
from rules.instants import DURATION
from rules.source import Span
from rules.testing.compare import Notation
from rules.testing.values import written_as
from rules.typed import (
    Aggregate,
    Arithmetic,
    Call,
    Choose,
    Compare,
    Convert,
    Expression,
    FieldRef,
    In,
    IsNull,
    KeyRef,
    Like,
    Literal,
    Logical,
    Lookup,
    Negate,
    Not,
    PrevRef,
    Search,
    StepRef,
    TextMatch,
    WindowAggregate,
)
from rules.types import ListOf, Scalar

Value = Callable[[Expression], object]
"""What an expression came to, None for null and unknown."""

LONGEST = 40
"""Characters of a value that are shown."""

_COMMENT = re.compile(r"#[^\n]*")
_PLAIN = re.compile(rf"-?\s*(?:{DURATION}|{NUMBER})|{STRING}|true|false|null")


@dataclass(frozen=True, slots=True)
class Operand:
    """A value as text, and the character of the file under which it belongs."""

    place: int
    text: str


def operands(condition: Expression, value: Value, notation: Notation) -> list[Operand]:
    """The condition's operands, itself among them, by place; a branch not chosen is left out."""
    found = dict(_placed(condition, value))
    return [Operand(place, _shown(found[place], value, notation)) for place in sorted(found)]


def _shown(node: Expression, value: Value, notation: Notation) -> str:
    got = value(node)
    if got is None and node.type is Scalar.BOOLEAN and not isinstance(node, _REFERENCES):
        return "unknown"
    if isinstance(node, Literal) and isinstance(node.type, ListOf) and isinstance(got, tuple):
        items = (written_as(item, node.type.element, notation) for item in got)
        return _cut(f"({', '.join(items)})")
    return _cut(written_as(got, node.type, notation))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


_REFERENCES = (FieldRef, KeyRef, StepRef, PrevRef, Aggregate, WindowAggregate, Lookup, Literal)


def _placed(node: Expression, value: Value) -> Iterator[tuple[int, Expression]]:
    """Places and expressions, those that are shown."""
    match node:
        case Literal():
            if not _PLAIN.fullmatch(node.span.text):
                yield node.span.start, node  # a `let`, or the value of a constant expression
        case FieldRef() | KeyRef() | StepRef() | PrevRef() | Aggregate() | WindowAggregate():
            yield node.span.start, node
        case Lookup(_, key):
            yield node.span.start, node
            yield from _placed(key, value)
        case Convert(operand):
            yield from _placed(operand, value)
        case Negate(operand) | Not(operand):
            yield node.span.start, node
            yield from _placed(operand, value)
        case Arithmetic(operator, left, right) | Compare(operator, left, right):
            yield _sign(re.escape(operator), left.span.end, right.span.start, node.span), node
            yield from _placed(left, value)
            yield from _placed(right, value)
        case Logical(operator, operands):
            yield from _chain(node, operator, operands, value)
        case IsNull(operand) | In(operand) | Like(operand) | Search(operand):
            yield _sign(_WORDS[type(node)], operand.span.end, node.span.end, node.span), node
            yield from _placed(operand, value)
            if isinstance(node, In):
                for item in _items(node):
                    yield from _placed(item, value)
        case TextMatch(path):
            field = Span(node.span.file, node.span.start, node.span.start)
            yield node.span.start, FieldRef(path, Scalar.TEXT, field)
            yield _sign(r"matches\b", node.span.start, node.span.end, node.span), node
        case Choose(test, yes, no):
            yield _sign(r"\?", test.span.end, yes.span.start, node.span), node
            yield from _placed(test, value)
            yield from _placed(yes if value(test) is True else no, value)
        case Call(_, arguments):
            yield node.span.start, node
            for argument in arguments:
                yield from _placed(argument, value)
        case _:
            assert_never(node)


_WORDS = {IsNull: r"is\b", In: r"(?:not\s+)?in\b", Like: r"(?:not\s+)?like\b", Search: "=~"}


def _items(node: In) -> Iterator[Expression]:
    """The items; those of a `let`, which share a place, as one list."""
    lists: dict[Span, list[object]] = {}
    for item in node.items:
        if isinstance(item, Literal):
            lists.setdefault(item.span, []).append(item.value)
    for item in node.items:
        values = lists.get(item.span, [])
        if not isinstance(item, Literal) or len(values) == 1:
            yield item
        elif values:
            yield Literal(tuple(values), ListOf(item.type), item.span)
            lists[item.span] = []


def _chain(
    node: Logical, operator: str, operands: tuple[Expression, ...], value: Value
) -> Iterator[tuple[int, Expression]]:
    first, second = operands[:2]
    if is_range(node):
        assert isinstance(first, Compare)
        assert isinstance(second, Compare)
        between = _sign(r"(?:not\s+)?between\b", first.left.span.end, first.right.span.start, node.span)
        yield between, node
        for part in (first.left, first.right, second.right):
            yield from _placed(part, value)
        return
    yield _sign(rf"{operator}\b", first.span.end, second.span.start, node.span), node
    for operand in operands:
        yield from _placed(operand, value)


def is_range(node: Logical) -> bool:
    """True if it is `x between low and high`: two comparisons of one operand."""
    match node.operands:
        case (Compare(left=low), Compare(left=high)):
            return low.span == high.span
        case _:
            return False


def _sign(pattern: str, start: int, end: int, around: Span) -> int:
    """Where a sign stands between two places of a file, comments aside."""
    text = _COMMENT.sub(lambda comment: " " * len(comment[0]), around.file.text[start:end])
    found = re.search(pattern, text)
    return start + found.start() if found else around.start
