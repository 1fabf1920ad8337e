"""The layout of expressions.

What does not fit on a line is broken at its loosest operators, each at the beginning of a line; inside
brackets, one item a line; a list of plain values fills its lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from rules.format.document import LINE, NOTHING, SPACE, TIGHT, Document, group, joined, nest, wrap
from rules.format.tokens import Tokens
from rules.syntax import (
    Between,
    Binary,
    Bracketed,
    Call,
    Chain,
    Conditional,
    Constant,
    Dotted,
    Duration,
    Expression,
    Lookup,
    NullTest,
    Number,
    Predicate,
    String,
    Unary,
)

INDENT = 2


def expression(node: Expression, tokens: Tokens) -> Document:
    """The layout of an expression, which is what comes next."""
    lead = tokens.lead()  # outside of the groups: a comment before an expression need not break it
    body = _expression(node, tokens)
    return body if lead is NOTHING else joined(lead, body)


def condition(node: Expression, tokens: Tokens) -> Document:
    """A condition in brackets of its own: if these are broken, so is what `and` or `or` joins."""
    if not isinstance(node, Chain):
        return expression(node, tokens)
    return joined(tokens.lead(), _chain(node, tokens))


def hanging(node: Expression, tokens: Tokens) -> Document:
    """An expression behind a word or a sign; where it is broken it is indented, but for brackets."""
    item = expression(node, tokens)
    return item if isinstance(node, Bracketed | Call | Lookup) else nest(INDENT, item)


def listed(parts: Sequence[Document], plain: bool) -> Document:
    """The items of a list, their commas with them: one a line, or if they are plain as many as fit."""
    if not parts:
        return NOTHING
    if plain:
        return joined(parts[0], *(wrap(part) for part in parts[1:]))
    lines = [parts[0]]
    for part in parts[1:]:
        lines += (LINE, part)
    return joined(*lines)


def _expression(node: Expression, tokens: Tokens) -> Document:
    match node:
        case Number() | String() | Constant() | Dotted():
            return tokens.leaf(node.span)
        case Duration():
            return tokens.leaf(node.span, SPACE)
        case Bracketed():
            return _bracketed("(", node.items, ")", tokens)
        case Call():
            return joined(tokens.leaf(node.function.span), _bracketed("(", node.arguments, ")", tokens))
        case Lookup():
            key = joined(tokens.leaf(node.table.span), _bracketed("[", (node.key,), "]", tokens))
            path = []
            for name in node.path:
                path += [tokens.take("."), tokens.leaf(name.span)]
            return joined(key, *path)
        case Unary(operator="-"):
            return joined(tokens.take("-"), expression(node.operand, tokens))
        case Unary():
            return joined(tokens.take("not"), SPACE, expression(node.operand, tokens))
        case Binary():
            left = expression(node.left, tokens)
            operator = tokens.take(node.operator)
            return group(left, nest(INDENT, LINE, operator, SPACE, expression(node.right, tokens)))
        case Chain():
            return group(_chain(node, tokens))
        case Between():
            return _between(node, tokens)
        case Predicate():
            return _predicate(node, tokens)
        case NullTest():
            words = ("is", "not", "null") if node.negated else ("is", "null")
            return joined(expression(node.operand, tokens), SPACE, tokens.words(*words))
        case Conditional():
            test = expression(node.test, tokens)
            yes = joined(LINE, tokens.take("?"), SPACE, expression(node.yes, tokens))
            no = joined(LINE, tokens.take(":"), SPACE, expression(node.no, tokens))
            return group(test, nest(INDENT, yes, no))
        case _:
            assert_never(node)


def _chain(node: Chain, tokens: Tokens) -> Document:
    parts = [expression(node.operands[0], tokens)]
    for operand in node.operands[1:]:
        operator = tokens.take(node.operator)
        parts += (LINE, operator, SPACE, hanging(operand, tokens))
    return joined(*parts)


def _between(node: Between, tokens: Tokens) -> Document:
    operand = expression(node.operand, tokens)
    word = tokens.words("not", "between") if node.negated else tokens.take("between")
    low = joined(LINE, word, SPACE, expression(node.low, tokens))
    high = joined(LINE, tokens.take("and"), SPACE, expression(node.high, tokens))
    return group(operand, nest(INDENT, low, high))


def _predicate(node: Predicate, tokens: Tokens) -> Document:
    operand = expression(node.operand, tokens)
    word = tokens.words("not", node.operator) if node.negated else tokens.take(node.operator)
    argument = expression(node.argument, tokens)
    if isinstance(node.argument, Bracketed | Call):
        return joined(operand, SPACE, word, SPACE, argument)
    return group(operand, nest(INDENT, LINE, word, SPACE, argument))


def _bracketed(opening: str, items: Sequence[Expression], closing: str, tokens: Tokens) -> Document:
    begin = tokens.take(opening)
    parts = []
    for place, item in enumerate(items):
        part = expression(item, tokens)
        parts.append(part if place == len(items) - 1 else joined(part, tokens.comma()))
    content = listed(parts, all(_plain(item) for item in items))
    return enclosed(begin, content, closing, tokens)


def enclosed(
    begin: Document, content: Document, closing: str, tokens: Tokens, edge: Document = TIGHT
) -> Document:
    """The content of brackets, indented if it is broken; `edge` is inside of the brackets at both ends."""
    last = tokens.lead()
    if content is NOTHING and last is NOTHING:
        return joined(begin, tokens.take(closing))
    return group(begin, nest(INDENT, edge, content, last), edge, tokens.take(closing))


def _plain(item: Expression) -> bool:
    match item:
        case Number() | String() | Constant() | Duration():
            return True
        case Unary(operator="-"):
            return _plain(item.operand)
        case _:
            return False
