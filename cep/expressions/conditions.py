"""Conditions taken apart: what depends on the candidate alone, and what names earlier events.

The first becomes one bit per event before the shuffle (`cep.routing.classify`), the second a program over a
run's registers (`cep.operators.patterns.compile.program`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, get_args

from rules.source import Span
from rules.typed import (
    Aggregate,
    Call,
    Expression,
    In,
    KeyRef,
    Logical,
    PrevRef,
    StepRef,
    walk,
)
from rules.types import ListOf

Identity = tuple[Any, ...]
"""An expression's content without its places in the text: equal for equal meanings."""


def identity(node: object) -> Identity:
    """The expression as nested tuples, spans left out, so that equal conditions are found by equality.

    Values carry their Python type: `1 == 1.0 == True` in Python, but not in the language.
    """
    content = []
    for f in fields(node):  # type: ignore[arg-type]
        value = getattr(node, f.name)
        if not isinstance(value, Span):
            content.append(_content(value))
    return (type(node).__name__, *content)


def _content(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(_content(item) for item in value)
    if hasattr(value, "__dataclass_fields__"):
        return identity(value)
    return (type(value).__name__, value)


def conjuncts(condition: Expression | None) -> tuple[Expression, ...]:
    """The operands of the outermost `and`s: the condition is true just when all of them are."""
    if condition is None:
        return ()
    if isinstance(condition, Logical) and condition.operator == "and":
        return tuple(part for operand in condition.operands for part in conjuncts(operand))
    return (condition,)


def conjunction(operands: Iterable[Expression]) -> Expression | None:
    """The `and` of the operands; None of none."""
    together = tuple(operands)
    if len(together) < 2:
        return together[0] if together else None
    return Logical("and", together, together[0].span.to(together[-1].span))


def names_earlier(expression: Expression) -> bool:
    """True if it names anything but the candidate: a step, an aggregate, `prev`, a key."""
    return any(isinstance(node, StepRef | PrevRef | Aggregate | KeyRef) for node in walk(expression))


def split(condition: Expression | None) -> tuple[Expression | None, Expression | None]:
    """The part over the candidate alone, and the rest: their conjunction is the condition."""
    alone = [part for part in conjuncts(condition) if not names_earlier(part)]
    rest = [part for part in conjuncts(condition) if names_earlier(part)]
    return conjunction(alone), conjunction(rest)


def references(expression: Expression) -> tuple[StepRef | PrevRef | Aggregate, ...]:
    """The references to earlier events in it, in the order of the text."""
    return tuple(n for n in walk(expression) if isinstance(n, StepRef | PrevRef | Aggregate))


def looks_into_list(node: In) -> bool:
    """True if it asks for a value in a list that is known only with the event: `"new" in tags`."""
    lists = any(isinstance(item.type, ListOf) for item in node.items)
    return lists and not isinstance(node.operand.type, ListOf)


def null_in_null_out(expression: Expression) -> bool:
    """True if the expression is null as soon as one of its references is."""
    return all(_is_strict(node) for node in walk(expression))


def _is_strict(node: object) -> bool:
    name = type(node).__name__
    if isinstance(node, Call):
        return node.function != "coalesce"
    if isinstance(node, In):  # whether a null list has a value is unknown
        return looks_into_list(node)
    return name not in {"Logical", "Not", "IsNull", "Choose", "TextMatch", "KeyRef"}


def rewritten(expression: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """The expression with every node for which `change` gives another one replaced by it, outermost first."""
    new = change(expression)
    if new is not None:
        return new
    content: dict[str, Any] = {f.name: getattr(expression, f.name) for f in fields(expression)}
    for name, value in content.items():
        if isinstance(value, _NODES):
            content[name] = rewritten(value, change)
        elif isinstance(value, tuple) and value and all(isinstance(item, _NODES) for item in value):
            content[name] = tuple(rewritten(item, change) for item in value)
    return type(expression)(**content)


_NODES = get_args(Expression)
