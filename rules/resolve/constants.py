"""Constant expressions worked out: `-5`, `3 * 1000`, what a `let` stands for."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import assert_never

from rules import typed
from rules.typed import Literal
from rules.types import ListOf, Scalar

_LONGEST = 2**63
_COMPARE: dict[str, Callable[[object, object], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,  # type: ignore[dict-item]  # both sides have one ordered type
    "<=": operator.le,  # type: ignore[dict-item]
    ">": operator.gt,  # type: ignore[dict-item]
    ">=": operator.ge,  # type: ignore[dict-item]
}


def folded(node: typed.Expression) -> typed.Expression:
    """The node, as a literal where all its operands are literals; calls stay as they are."""
    match node:
        case Literal() | typed.Call() | typed.Like() | typed.Search() | typed.TextMatch():
            return node
        case typed.FieldRef() | typed.KeyRef() | typed.StepRef() | typed.PrevRef() | typed.Aggregate():
            return node
        case _ if all(isinstance(part, Literal) for part in typed.parts(node)):
            return Literal(_value(node), node.type, node.span)
        case _:
            return node


def _of(node: typed.Expression) -> object:
    assert isinstance(node, Literal)
    return node.value


Operation = (
    typed.Negate | typed.Arithmetic | typed.Compare | typed.Logical | typed.Not | typed.IsNull | typed.In
    | typed.Choose | typed.Convert
)  # fmt: skip


def _value(node: Operation) -> object:
    match node:
        case typed.Negate():
            return _fitting(-_number(node.operand), node.type) if _of(node.operand) is not None else None
        case typed.Arithmetic():
            return _arithmetic(node)
        case typed.Compare():
            left, right = _of(node.left), _of(node.right)
            return None if left is None or right is None else _COMPARE[node.operator](left, right)
        case typed.Logical():
            return _logical(node.operator, [_of(o) for o in node.operands])
        case typed.Not():
            value = _of(node.operand)
            return None if value is None else not value
        case typed.IsNull():
            return (_of(node.operand) is None) is not node.negated
        case typed.In():
            return _among(_of(node.operand), [_of(i) for i in node.items], node.negated)
        case typed.Choose():
            return _of(node.yes) if _of(node.test) is True else _of(node.no)
        case typed.Convert():
            return _of(node.operand)
        case _:
            assert_never(node)


def _number(node: typed.Expression) -> int | float:
    value = _of(node)
    assert isinstance(value, int | float)
    return value


def _arithmetic(node: typed.Arithmetic) -> object:
    if _of(node.left) is None or _of(node.right) is None:
        return None
    left, right = _number(node.left), _number(node.right)
    match node.operator:
        case "+":
            value = left + right
        case "-":
            value = left - right
        case "*":
            value = left * right
        case "/" if right == 0:
            return None
        case "/":
            value = left / right
        case "%" if right == 0:
            return None
        case "%" if isinstance(left, int) and isinstance(right, int):
            value = abs(left) % abs(right) * (1 if left >= 0 else -1)
        case "%":
            value = math.fmod(left, right)
        case _:
            assert_never(node.operator)
    return _fitting(value, node.type)


def _fitting(value: int | float, type_: object) -> int | float | None:
    """The value in its type, null where it does not fit: overflow and NaN are null."""
    if type_ is Scalar.DOUBLE:
        return float(value) if math.isfinite(value) else None
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        value = math.floor(abs(value) + 0.5) * (1 if value >= 0 else -1)
    return value if -_LONGEST <= value < _LONGEST else None


def _logical(word: str, values: list[object]) -> bool | None:
    deciding = word == "or"
    if deciding in values:
        return deciding
    return None if None in values else not deciding


def _among(value: object, items: list[object], negated: bool) -> bool | None:
    if not items:
        return negated
    if value is None:
        return None
    if any(i is not None and i == value for i in items):
        return not negated
    return None if None in items else negated


def listed(items: list[typed.Expression]) -> Literal | None:
    """A list of constants of one type as one literal; None where some item is no constant."""
    if not all(isinstance(i, Literal) for i in items):
        return None
    values = tuple(_of(i) for i in items)
    return Literal(values, ListOf(items[0].type), items[0].span.to(items[-1].span))
