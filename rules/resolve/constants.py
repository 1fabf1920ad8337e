"""Constant expressions evaluated: `-5`, `3 * 1000`, what a `let` stands for."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import Decimal
from typing import assert_never

from rules import typed
from rules.decimals import EXACT, fitting, is_exact
from rules.source import Span
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
        case typed.WindowAggregate() | typed.Lookup():
            return node
        case typed.FieldRef() | typed.KeyRef() | typed.StepRef() | typed.PrevRef() | typed.Aggregate():
            return node
        case _ if all(isinstance(part, Literal) for part in typed.parts(node)):
            return Literal(_value(node), node.type, node.span, _exact(node))
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


def _number(node: typed.Expression) -> int | float | Decimal:
    value = _of(node)
    assert isinstance(value, int | float | Decimal)
    return value


def _exact(node: Operation) -> Decimal | None:
    """The exact value of a double, where it is known of all that it was computed from."""
    if node.type is not Scalar.DOUBLE or not isinstance(node, typed.Negate | typed.Arithmetic):
        return None
    operands = [part.exact for part in typed.parts(node) if isinstance(part, Literal)]
    known = [value for value in operands if value is not None]
    if len(known) < len(operands):
        return None
    if isinstance(node, typed.Negate):
        return -known[0]
    result = _decimal(node.operator, known[0], known[1])
    return result if result is not None and is_exact(result) and _undone(node, known, result) else None


def _undone(node: typed.Arithmetic, sides: list[Decimal], result: Decimal) -> bool:
    """True if a quotient ends: multiplied by the divisor it is the dividend again."""
    return node.operator != "/" or EXACT.multiply(result, sides[1]) == sides[0]


def _decimal(operator: str, left: Decimal, right: Decimal) -> Decimal | None:
    match operator:
        case "+":
            return EXACT.add(left, right)
        case "-":
            return EXACT.subtract(left, right)
        case "*":
            return EXACT.multiply(left, right)
        case _ if right == 0:
            return None
        case "/":
            return EXACT.divide(left, right)
        case _:
            return EXACT.remainder(left, right)


def _arithmetic(node: typed.Arithmetic) -> object:
    if _of(node.left) is None or _of(node.right) is None:
        return None
    left, right = _number(node.left), _number(node.right)
    if isinstance(left, Decimal) and isinstance(right, Decimal):
        result = _decimal(node.operator, left, right)
        return None if result is None else fitting(result)
    assert not isinstance(left, Decimal)
    assert not isinstance(right, Decimal)
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


def _fitting(value: int | float | Decimal, type_: object) -> int | float | Decimal | None:
    """The value in its type, null where it does not fit: overflow and NaN are null."""
    if isinstance(value, Decimal):
        return fitting(value)
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


def listed(items: list[typed.Expression], span: Span) -> Literal:
    """Constants of one type as one literal."""
    return Literal(tuple(_of(i) for i in items), ListOf(items[0].type if items else Scalar.NULL), span)
