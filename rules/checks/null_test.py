"""CEP0235: `is null` of a value that is never null."""

from __future__ import annotations

from collections.abc import Iterator

from rules import typed
from rules.checks.subject import Subject, warning
from rules.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every null test in a larger condition that the declaration of its field decides."""
    for condition in subject.conditions:
        for part in condition.truth.parts:
            if not isinstance(part.node, typed.IsNull) or part.because:
                continue
            tested = part.node.operand.span.text
            message = f"`{tested}` is never null, so this is {part.certainty} true"
            yield warning("CEP0235", message, part.node.span, help_="remove the test, or declare it with `?`")
