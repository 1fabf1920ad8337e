"""`let` declarations -> constants, in whatever order they name one another."""

from __future__ import annotations

from collections.abc import Sequence

from rules import syntax, typed
from rules.resolve.declared import Declared
from rules.resolve.expression import expression
from rules.resolve.ordering import in_order
from rules.resolve.scope import Scope


def declare_lets(nodes: Sequence[syntax.Let], declared: Declared) -> None:
    """Add every constant to what is declared; one that could not be evaluated as None."""
    by_name = {node.name.text: node for node in nodes}
    for node in _in_order(by_name, declared):
        declared.constants[node.name.text] = _constant(node, declared)


def _in_order(by_name: dict[str, syntax.Let], declared: Declared) -> list[syntax.Let]:
    """Each after those that it names; those that name themselves are reported and left out."""
    found = in_order({name: _names(node.value) for name, node in by_name.items()})
    for circle in found.circles:
        message = f"constant `{circle[0]}` depends on itself"
        declared.findings.error(
            "CEP0231",
            message,
            by_name[circle[0]].name.span,
            help_="give one of the constants a value of its own",
        )
    declared.constants.update(dict.fromkeys(found.left))
    return [by_name[name] for name in found.ordered]


def _names(node: object) -> set[str]:
    """All bare names of an expression."""
    return {
        part.names[0].text
        for part in typed.walk(node)
        if isinstance(part, syntax.Dotted) and len(part.names) == 1
    }


def _constant(node: syntax.Let, declared: Declared) -> typed.Literal | None:
    scope = Scope(declared, f"constant `{node.name.text}`")
    found = expression(node.value, scope)
    if found is None or isinstance(found, typed.Literal):
        return found
    message = f"{scope.subject} must be evaluated before anything runs"
    declared.findings.error(
        "CEP0226", message, node.value.span, help_="write a constant, or an expression of constants"
    )
    return None
