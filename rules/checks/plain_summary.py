"""CEP0311: a summary without a name in it reads the same for every alert."""

from __future__ import annotations

from collections.abc import Iterator

from rules.checks.subject import Subject, hint
from rules.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A hint for every summary that names nothing although the rule emits something."""
    for rule in subject.pack.rules:
        if rule.summary is not None and not rule.summary.names and rule.emit:
            name = rule.emit[0].name
            yield hint(
                "CEP0311",
                "this summary names nothing that is emitted: it is the same for every alert",
                rule.summary.span,
                help_=f"say whom it is about, such as `{{{name}}}`",
            )
