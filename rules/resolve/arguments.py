"""The arguments of calls: how many there are, and those that must be constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from rules import syntax, typed
from rules.resolve.scope import Scope
from rules.types import Scalar

Resolve = Callable[[syntax.Expression, Scope], typed.Expression | None]
"""Types an argument."""


def counted(node: syntax.Call, least: int, most: int, shown: str, scope: Scope) -> bool:
    """True if there are as many arguments as the function takes; else there is a finding."""
    if least <= len(node.arguments) <= most:
        return True
    wanted = f"{least}" if least == most else f"{least} to {most}" if most < 1000 else f"at least {least}"
    given = len(node.arguments)
    message = f"`{node.function.text}` takes {wanted} argument{'' if wanted == '1' else 's'}, not {given}"
    scope.findings.error("CEP0210", message, node.function.span, help_=f"write `{shown}`")
    return False


def bare(node: syntax.Expression) -> syntax.Expression:
    """The expression without the parentheses around it."""
    while isinstance(node, syntax.Bracketed) and len(node.items) == 1:
        node = node.items[0]
    return node


def fraction(node: syntax.Expression, scope: Scope, resolve: Resolve) -> float | None:
    """The second argument of `percentile`."""
    value = resolve(node, scope)
    if value is None:
        return None
    if isinstance(value, typed.Literal) and value.type in (Scalar.LONG, Scalar.DOUBLE):
        found = float(cast(float, value.value))
        if 0 <= found <= 1:
            return found
    message = "`percentile` needs a constant between 0 and 1"
    scope.findings.error("CEP0214", message, node.span, help_="the 99th percentile is 0.99")
    return None


def whole_number(node: syntax.Call, least: int, most: int, scope: Scope, resolve: Resolve) -> int | None:
    """The constant that is the second argument, or the least where there is none."""
    if len(node.arguments) == 1:
        return least
    value = resolve(node.arguments[1], scope)
    if value is None:
        return None
    found = value.value if isinstance(value, typed.Literal) and value.type is Scalar.LONG else None
    if isinstance(found, int) and least <= found <= most:
        return found
    message = f"`{node.function.text}` needs a whole number from {least} to {most:,}, as a constant"
    scope.findings.error(
        "CEP0214", message, node.arguments[1].span, help_="write the number itself, or a `let`"
    )
    return None


def zone_exists(name: str) -> bool:
    """True if there is a time zone of that name."""
    from zoneinfo import ZoneInfo  # only where a rule names a zone

    try:
        return name == "UTC" or bool(ZoneInfo(name).key)
    except (ValueError, OSError, KeyError):  # a bad key, a folder, no such zone
        return False
