"""CEP0316: a pattern that every event begins keeps as many runs as there are events."""

from __future__ import annotations

from collections.abc import Iterator

from rules import typed
from rules.checks.subject import Subject, hint
from rules.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A hint for every first step without a condition that waits for another event of its own stream.

    Not where the next event decides (`=>`), nor where another stream begins it: that one may be sparse.
    """
    for rule in subject.pack.rules:
        if not isinstance(rule.body, typed.Match):
            continue
        elements = rule.body.pattern.elements
        first = elements[0][1]
        if not isinstance(first, typed.Step) or first.condition is not None or len(elements) < 2:
            continue
        sign, second = elements[1]
        if sign == "=>" or not isinstance(second, typed.Step) or second.stream != first.stream:
            continue
        yield hint(
            "CEP0316",
            f"every event of `{first.stream}` begins a run of rule `{rule.name}`",
            first.span,
            help_="say in `[...]` which ones may begin it; state and time grow with their number",
        )
