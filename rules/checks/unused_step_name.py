"""CEP0314, where the pack requires it: a step's name that nothing but the alert's list of events uses."""

from __future__ import annotations

from collections.abc import Iterator

from rules import typed
from rules.checks.subject import Subject, warning
from rules.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every named step that no condition, output or `skip` names."""
    for rule in subject.pack.rules:
        if not isinstance(rule.body, typed.Match):
            continue
        used = {rule.body.skip.step}
        for part in typed.walk(rule):
            if isinstance(part, typed.StepRef | typed.Aggregate):
                used.add(part.step)
        for part in typed.walk(rule.body.pattern):
            if isinstance(part, typed.Step) and part.name not in used and part.name != part.stream:
                yield warning(
                    "CEP0314",
                    f"nothing names step `{part.name}`",
                    part.span,
                    help_=f"write `{part.stream}` alone: its events are then listed under the stream's name",
                )
