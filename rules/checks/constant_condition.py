"""CEP0305: a condition that is the same for every event: a step that takes none, or each."""

from __future__ import annotations

from collections.abc import Iterator

from rules import typed
from rules.checks.conditions import Condition
from rules.checks.subject import Subject
from rules.diagnostics import Diagnostic, Label


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every condition that is certain before there is an event."""
    for condition in subject.conditions:
        certainty = condition.truth.certainty
        if certainty == "open":
            continue
        message = f"this condition is {certainty} true" + (_so(condition) if certainty == "never" else "")
        places = dict.fromkeys(span for span in condition.truth.because if span != condition.node.span)
        labels = tuple(Label(span, "this") for span in places)
        help_ = (
            "remove it"
            if certainty == "always"
            else "mend the comparison that was meant otherwise, often `or` for `and`"
        )
        yield Diagnostic("CEP0305", "warning", message, condition.node.span, "", labels, help=help_)


def _so(condition: Condition) -> str:
    """The consequence of a condition that is never true, in words."""
    match condition.owner:
        case typed.Step(name=name):
            return f", so step `{name}` never takes an event"
        case typed.On():
            return f", so rule `{condition.rule.name}` raises no alert"
        case _:
            return ""
