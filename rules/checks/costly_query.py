"""CEP0315: text queries that have to look at more than the words they name."""

from __future__ import annotations

from collections.abc import Iterator

from rules import typed
from rules.checks.subject import Subject, hint
from rules.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A hint for every query with a part that is dear for every article, or for every new word."""
    for rule in subject.pack.rules:
        for part in typed.walk(rule):
            if isinstance(part, typed.TextMatch):
                from rules.checks.query_cost import reason_of  # only where a pack searches texts

                reason = reason_of(part.query)
                if reason is not None:
                    yield hint("CEP0315", f"this query is expensive: {reason[0]}", part.span, help_=reason[1])
