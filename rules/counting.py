"""Comparisons of `count()` as patterns: the least number of events, and the pattern that matches as many."""

from __future__ import annotations

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}
_MOST = 1_000_000


def least_count(operator: str, number: object, *, turned: bool = False) -> int | None:
    """The least count for which `count() OPERATOR number` becomes true; `turned`: the number stands first.

    None where it is true of few events, or where a step could not take as many.
    """
    if turned:
        operator = _TURNED.get(operator, "")
    if isinstance(number, bool) or not isinstance(number, int) or operator not in (">", ">=", "=="):
        return None
    least = number + 1 if operator == ">" else number
    return least if 0 < least <= _MOST else None


def as_pattern(source: str, least: int | None, time: str = "5 minutes") -> str:
    """The pattern over a stream, with its condition in brackets, that takes so many events in that time."""
    return f"`match a: {source}{{{least or 3}}}  within {time}`"
