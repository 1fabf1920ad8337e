"""Typed nodes without their places, so that what says the same compares equal."""

from __future__ import annotations

from rules import typed
from rules.source import Span

Shape = tuple[object, ...]


def shape(node: object) -> object:
    """A value that is equal for nodes of equal content, wherever they stand."""
    if type(node) is typed.Literal:  # of which a condition may list many
        return (typed.Literal, type(node.value), node.value, node.type, node.exact)
    if isinstance(node, tuple):
        return tuple(shape(item) for item in node)
    fields = getattr(node, "__dataclass_fields__", None)
    if fields is None:
        # 1, 1.0 and true are equal in Python and not in a rule
        return (type(node), node)
    values = (getattr(node, name) for name in fields)
    return (type(node), *(shape(value) for value in values if not isinstance(value, Span)))


def conjuncts(condition: typed.Expression | None) -> frozenset[object]:
    """The shapes of the conditions that must all hold; none: always true."""
    if condition is None:
        return frozenset()
    if isinstance(condition, typed.Logical) and condition.operator == "and":
        return frozenset().union(*(conjuncts(operand) for operand in condition.operands))
    return frozenset({shape(condition)})
