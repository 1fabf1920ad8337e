"""CEP0312, where the pack requires it: a rule whose severity nobody decided."""

from __future__ import annotations

from collections.abc import Iterator

from rules import syntax
from rules.checks.subject import Subject, warning
from rules.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every rule without `severity`."""
    for block in subject.blocks():
        if isinstance(block, syntax.Rule) and not any(isinstance(c, syntax.Severity) for c in block.clauses):
            yield warning(
                "CEP0312",
                f"rule `{block.name.text}` says no `severity`",
                block.name.span,
                help_="add one; without it alerts are `medium`",
            )
