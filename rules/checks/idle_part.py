"""CEP0233: a part of a condition that decides nothing, in the light of the parts before it."""

from __future__ import annotations

from collections.abc import Iterator

from rules import typed
from rules.checks.subject import Subject
from rules.checks.truth import Certain
from rules.diagnostics import Diagnostic, Label


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every comparison that is always or never true where it stands."""
    for condition in subject.conditions:
        for part in condition.truth.parts:
            if not isinstance(part.node, typed.IsNull):
                yield _finding(part)


def _finding(part: Certain) -> Diagnostic:
    if part.because:
        message = f"this is {part.certainty} true here"
        labels = tuple(Label(span, "because of this") for span in dict.fromkeys(part.because))
    else:
        message, labels = f"this is {part.certainty} true", ()
    help_ = "remove it, or mend the comparison that was meant otherwise"
    return Diagnostic("CEP0233", "warning", message, part.node.span, labels=labels, help=help_)
