"""CEP0314, where the pack requires it: a step's name that nothing but the alert's list of events uses."""

from __future__ import annotations

from collections.abc import Iterator

from rules import typed
from rules.checks.subject import Subject, warning
from rules.diagnostics import Diagnostic
from rules.source import Span


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every named step that no condition, output or `skip` names, and that needs no name.

    Of the steps of one stream only one can go without.
    """
    called = {
        s.name: s.origin.documents if isinstance(s.origin, typed.QueryHits) else s.name
        for s in subject.pack.streams
    }
    for rule in subject.pack.rules:
        if not isinstance(rule.body, typed.Match):
            continue
        used = {rule.body.skip.step}
        for part in typed.walk(rule):
            if isinstance(part, typed.StepRef | typed.Aggregate):
                used.add(part.step)
        steps = [part for part in typed.walk(rule.body.pattern) if isinstance(part, typed.Step)]
        taken = {step.name for step in steps}
        for step in steps:
            plain = called[step.stream]
            if step.name in used or plain in taken:
                continue
            taken.add(plain)
            yield warning(
                "CEP0314",
                f"nothing names step `{step.name}`",
                _name(step.span),
                help_=f"write `{plain}` alone: its events are then listed under the stream's name",
            )


def _name(step: Span) -> Span:
    """The name that a step begins with."""
    return Span(step.file, step.start, step.start + len(step.text.partition(":")[0].rstrip()))
