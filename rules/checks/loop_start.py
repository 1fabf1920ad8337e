"""CEP0305: a loop that no event can begin, as its condition asks for events that it has already taken."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from decimal import Decimal

from rules import typed
from rules.checks.subject import Subject, warning
from rules.diagnostics import Diagnostic

_COMPARED = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every step whose condition is never true of its first event, when it has taken none."""
    for condition in subject.conditions:
        step = condition.owner
        if not isinstance(step, typed.Step) or condition.truth.certainty != "open":
            continue
        own = [
            part
            for part in typed.walk(condition.node)
            if isinstance(part, typed.Aggregate | typed.StepRef) and part.step == step.name
        ]
        if own and _never(condition.node, step.name, negated=False):
            value = "0" if _is_count(own[0]) else "null"
            yield warning(
                "CEP0305",
                f"no event can begin loop `{step.name}`: of the first one this condition is never true",
                condition.node.span,
                help_=f"let the first one in: `count({step.name}) == 0 or ...`",
                labels=((own[0].span, f"{value}, as there are none yet"),),
            )


def _never(node: typed.Expression, step: str, *, negated: bool) -> bool:
    """True if it is certain that the node, or its negation, is not true while the step has taken nothing."""
    match node:
        case typed.Literal():
            return node.value is None or node.value is negated
        case typed.Not():
            return _never(node.operand, step, negated=not negated)
        case typed.Logical():
            each = (_never(operand, step, negated=negated) for operand in node.operands)
            return any(each) if (node.operator == "and") is not negated else all(each)
        case typed.IsNull():
            return _null(node.operand, step) and node.negated is not negated
        case typed.Compare():
            return _null(node.left, step) or _null(node.right, step) or _miscounted(node, step, negated)
        case typed.In() | typed.Like() | typed.Search():
            return _null(node.operand, step)
        case typed.Choose():
            return all(_never(value, step, negated=negated) for value in (node.yes, node.no))
        case _:
            return _null(node, step)


def _null(node: typed.Expression, step: str) -> bool:
    """True if it is certain that the node is null while the step has taken nothing."""
    match node:
        case typed.Aggregate() | typed.StepRef():
            return node.step == step and not _is_count(node)
        case typed.Negate() | typed.Convert():
            return _null(node.operand, step)
        case typed.Arithmetic():
            return _null(node.left, step) or _null(node.right, step)
        case typed.Call():
            each = (_null(argument, step) for argument in node.arguments)
            return all(each) if node.function == "coalesce" else any(each)
        case typed.Choose():
            return _null(node.yes, step) and _null(node.no, step)
        case typed.Lookup():
            return _null(node.key, step)
        case _:
            return False


def _miscounted(node: typed.Compare, step: str, negated: bool) -> bool:
    """True if a comparison of the step's count with a constant is false, or its negation, of 0."""
    for sign, counted, other in (
        (node.operator, node.left, node.right),
        (_TURNED.get(node.operator, node.operator), node.right, node.left),
    ):
        counts = isinstance(counted, typed.Aggregate) and _is_count(counted) and counted.step == step
        if counts and isinstance(other, typed.Literal) and isinstance(other.value, int | float | Decimal):
            return bool(_COMPARED[sign](0, other.value)) is negated
    return False


def _is_count(node: typed.Aggregate | typed.StepRef) -> bool:
    return isinstance(node, typed.Aggregate) and node.function == "count"
