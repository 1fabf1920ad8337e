"""Enough of TextMate's way of tokenising for our grammar, on Oniguruma, the engine that editors use.

Line by line: at each place the end of the open rule and its patterns are searched for; the leftmost match
is taken, the end first where they are equal (macromates.com/manual/en/language_grammars).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import onigurumacffi

Scope = tuple[int, int, str]
"""Offsets of a text and what they are; empty: nothing said."""


@cache
def _compiled(pattern: str) -> Any:
    return onigurumacffi.compile(pattern)


class Grammar:
    """A grammar in the form of a .tmLanguage.json file."""

    def __init__(self, grammar: dict[str, Any]) -> None:
        self._repository = grammar["repository"]
        self._top = {"patterns": grammar["patterns"]}

    def scopes(self, text: str) -> Iterator[Scope]:
        """The scopes of a text, in order."""
        stack = [self._top]
        offset = 0
        for line in text.splitlines(keepends=True):
            for start, end, scope in self._line(line, stack):
                yield offset + start, offset + end, scope
            offset += len(line)

    def _line(self, line: str, stack: list[dict[str, Any]]) -> Iterator[Scope]:
        at = 0
        while at <= len(line):
            best: tuple[Any, dict[str, Any], bool] | None = None
            if "end" in stack[-1]:
                found = _compiled(stack[-1]["end"]).search(line, at)
                best = (found, stack[-1], True) if found else None
            for rule in self._flat(stack[-1]["patterns"]):
                found = _compiled(rule.get("match") or rule["begin"]).search(line, at)
                if found and (best is None or found.start() < best[0].start()):
                    best = (found, rule, False)
            if best is None:
                return
            found, rule, ends = best
            names = rule.get("endCaptures") if ends else rule.get("captures") or rule.get("beginCaptures")
            for group, named in (names or {}).items():
                start, end = found.span(int(group))
                if start < end:
                    yield start, end, named["name"]
            assert ends or found.end() > at or "begin" in rule, "a pattern that matches nothing"
            if ends:
                stack.pop()
            elif "begin" in rule:
                stack.append(rule)
            at = found.end()

    def _flat(self, patterns: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for pattern in patterns:
            if "include" in pattern:
                yield from self._flat(self._repository[pattern["include"][1:]]["patterns"])
            else:
                yield pattern
