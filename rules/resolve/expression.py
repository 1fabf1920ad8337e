"""Untyped expressions -> typed ones: names become references, operands are widened, types are checked.

`None` stands for an expression that has its diagnostic already; nothing that only follows from it is
reported.
"""

from __future__ import annotations

from decimal import Decimal
from typing import assert_never

from rules import syntax, typed
from rules.resolve.calls import call, counts_events
from rules.resolve.constants import folded, listed
from rules.resolve.convert import agreeing, as_instant, exact, widen, widens
from rules.resolve.operators import arithmetic, between, choose, compare, membership, negate
from rules.resolve.references import names_nothing, reference
from rules.resolve.scope import Scope
from rules.resolve.tables import lookup
from rules.resolve.texts import like, search, text_match
from rules.suggest import did_you_mean, is_null
from rules.types import STRINGS, ListOf, Scalar, Type, kind_of


def expression(node: syntax.Expression, scope: Scope) -> typed.Expression | None:
    """The typed expression, constants in it evaluated."""
    result = _expression(node, scope)
    return None if result is None else folded(result)


def condition(node: syntax.Expression, scope: Scope) -> typed.Expression | None:
    """A typed expression that is true, false or unknown."""
    return _boolean(node, scope, "a condition")


def expected(node: syntax.Expression, to: Type, scope: Scope) -> typed.Expression | None:
    """A typed expression of a given type, widened to it."""
    found = expression(node, scope)
    if found is None:
        return None
    if to is Scalar.TIMESTAMP and isinstance(found, typed.Literal) and found.type is Scalar.STRING:
        return as_instant(found, scope.findings)
    if to is Scalar.DECIMAL:
        found = exact(found)
    if widens(found.type, to):
        return widen(found, to)
    message, note = f"{scope.subject} needs {kind_of(to)} here", f"this is {kind_of(found.type)}"
    scope.findings.error("CEP0211", message, node.span, note=note, help_=f"give it {kind_of(to)}")
    return None


def _expression(node: syntax.Expression, scope: Scope) -> typed.Expression | None:
    match node:
        case syntax.Number(value=int()):
            return typed.Literal(node.value, Scalar.LONG, node.span)
        case syntax.Number():
            written = Decimal(node.span.text.replace("_", ""))
            return typed.Literal(node.value, Scalar.DOUBLE, node.span, written)
        case syntax.String():
            return typed.Literal(node.value, Scalar.STRING, node.span)
        case syntax.Constant():
            return typed.Literal(node.value, Scalar.NULL if node.value is None else Scalar.BOOLEAN, node.span)
        case syntax.Duration():
            return typed.Literal(node.value, Scalar.DURATION, node.span)
        case syntax.Dotted():
            return reference(node, scope)
        case syntax.Bracketed():
            return _bracketed(node, scope)
        case syntax.Call():
            return call(node, scope, expression)
        case syntax.Lookup():
            return lookup(node, expression(node.key, scope), scope)
        case syntax.Unary(operator="not"):
            operand = _boolean(node.operand, scope, "`not`")
            return None if operand is None else typed.Not(operand, node.span)
        case syntax.Unary():
            return negate(expression(node.operand, scope), node, scope)
        case syntax.Binary(operator="+" | "-" | "*" | "/" | "%"):
            return arithmetic(expression(node.left, scope), expression(node.right, scope), node, scope)
        case syntax.Binary():
            if counts_events(node, scope):
                return None
            left = _compared(node.left, scope)
            if left is not None and left.type in STRINGS and _quotes_missing(node.right, scope):
                return None
            return compare(left, _compared(node.right, scope), node, scope)
        case syntax.Chain():
            operands = [_boolean(o, scope, f"`{node.operator}`", _either(node, o)) for o in node.operands]
            known = tuple(o for o in operands if o is not None)
            return typed.Logical(node.operator, known, node.span) if len(known) == len(operands) else None
        case syntax.Between():
            parts = [expression(o, scope) for o in (node.operand, node.low, node.high)]
            return between(parts, node, scope)
        case syntax.NullTest():
            tested = expression(node.operand, scope)
            return None if tested is None else typed.IsNull(tested, node.negated, node.span)
        case syntax.Predicate():
            return _predicate(node, scope)
        case syntax.Conditional():
            test = _boolean(node.test, scope, "what stands before `?`")
            yes, no = expression(node.yes, scope), expression(node.no, scope)
            return choose(test, yes, no, node, scope)
        case _:
            assert_never(node)


def _compared(node: syntax.Expression, scope: Scope) -> typed.Expression | None:
    """One side of a comparison; `NULL`, `None` and the like are null, with which nothing is compared."""
    if is_null(names_nothing(node, scope)):
        return typed.Literal(None, Scalar.NULL, node.span)
    return expression(node, scope)


def _quotes_missing(node: syntax.Expression, scope: Scope) -> bool:
    """True if `node`, compared with a string, is a word that names nothing nor looks like a name.

    Adds a finding if so.
    """
    name, source = names_nothing(node, scope), scope.candidate
    if not name or source is None or did_you_mean(name, (*source.fields, *scope.declared.constants)):
        return False
    message = f"stream `{source.name}` has no field `{name}`"
    scope.findings.error("CEP0202", message, node.span, help_=f'a string stands in quotes: `"{name}"`')
    return True


def _either(node: syntax.Chain, operand: syntax.Expression) -> str:
    """The help for `a == 1 or 2`: that the operand belongs into a list beside the first one's value."""
    first = node.operands[0]
    if node.operator != "or" or not isinstance(operand, syntax.String | syntax.Number):
        return ""
    if not isinstance(first, syntax.Binary) or first.operator != "==":
        return ""
    return f"write `{first.left.span.text} in ({first.right.span.text}, {operand.span.text})`"


def _boolean(node: syntax.Expression, scope: Scope, what: str, help_: str = "") -> typed.Expression | None:
    found = expression(node, scope)
    if found is None or found.type is Scalar.BOOLEAN:
        return found
    if found.type is Scalar.NULL:
        return widen(found, Scalar.BOOLEAN)
    if what == "a condition" and isinstance(node, syntax.Number):
        help_ = f"a number of events stands behind the step: `{{{node.span.text}}}`"
    message = f"{what} is true or false, but this is {kind_of(found.type)}"
    scope.findings.error("CEP0209", message, node.span, help_=help_ or "compare it with something")
    return None


def _bracketed(node: syntax.Bracketed, scope: Scope) -> typed.Expression | None:
    if len(node.items) == 1:
        return expression(node.items[0], scope)
    return constant_list(node, scope)


def constant_list(node: syntax.Bracketed, scope: Scope) -> typed.Literal | None:
    """A list of constants of one type; a list among its items gives its own items."""
    items: list[typed.Expression] = []
    for item in node.items:
        found = expression(item, scope)
        if found is None:
            return None
        if not isinstance(found, typed.Literal):
            message = "a list holds constants, but after `in`"
            scope.findings.error(
                "CEP0232", message, item.span, help_="compare one by one: `kind == a or kind == b`"
            )
            return None
        items.extend(spread(found))
    agreed = agreeing(items, scope.findings)
    if isinstance(agreed, list):
        return listed(agreed, node.span)
    if agreed is not None:
        message = f"{scope.subject} lists {items[0].type} and {agreed} values"
        scope.findings.error("CEP0207", message, node.span, help_="list values of one type")
    return None


def _predicate(node: syntax.Predicate, scope: Scope) -> typed.Expression | None:
    operand = expression(node.operand, scope)
    match node.operator:
        case "in":
            return membership(operand, _items(node.argument, scope), node, scope)
        case "like":
            return like(operand, expression(node.argument, scope), node, scope)
        case "=~":
            return search(operand, expression(node.argument, scope), node, scope)
        case "matches":
            return text_match(operand, node, scope)


def _items(node: syntax.Expression, scope: Scope) -> list[typed.Expression] | None:
    """The operand of `in`: a list, a `let` that is one, or a single value."""
    nodes = node.items if isinstance(node, syntax.Bracketed) else (node,)
    found = [expression(item, scope) for item in nodes]
    items: list[typed.Expression] = []
    for item in found:
        if item is None:
            return None
        items.extend(spread(item))
    return items


def spread(item: typed.Expression) -> list[typed.Expression]:
    """The values of a constant list as literals; anything else alone."""
    if not (isinstance(item, typed.Literal) and isinstance(item.type, ListOf)):
        return [item]
    assert isinstance(item.value, tuple)
    element = item.type.element
    return [typed.Literal(v, Scalar.NULL if v is None else element, item.span) for v in item.value]
