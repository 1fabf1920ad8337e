"""CEP0305: a condition that is the same for every event."""

from __future__ import annotations

from collections.abc import Iterator

from rules import typed
from rules.checks.subject import Subject, warning
from rules.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every condition that was worked out to a constant."""
    for rule in subject.pack.rules:
        for part in typed.walk(rule.body):
            for found in (getattr(part, "condition", None), getattr(part, "having", None)):
                if isinstance(found, typed.Literal):
                    always = "always" if found.value is True else "never"
                    yield warning("CEP0305", f"this condition is {always} true", found.span)
