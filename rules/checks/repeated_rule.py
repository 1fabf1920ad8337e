"""CEP0308, CEP0309: a rule that says what another says, and one whose every alert has a twin."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rules import syntax, typed
from rules.checks.shapes import conjuncts, shape
from rules.checks.subject import Subject, hint, warning
from rules.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for a rule with the body and key of an earlier one, a hint for one within another."""
    first: dict[object, typed.Rule] = {}
    for rule in subject.pack.rules:
        same = first.setdefault((shape(rule.body), shape(rule.by)), rule)
        if same is not rule:
            yield warning(
                "CEP0308",
                f"rule `{rule.name}` says the same as rule `{same.name}`",
                subject.name_of(syntax.Rule, rule.name),
                help_="remove one of the two",
                labels=((subject.name_of(syntax.Rule, same.name), "said first here"),),
            )
    yield from _shadowed(subject)


def _shadowed(subject: Subject) -> Iterator[Diagnostic]:
    """Rules of single events that ask for all that another asks for and more, equally severe."""

    def alike(rule: typed.Rule) -> str:
        assert isinstance(rule.body, typed.On)
        return repr((rule.body.stream, rule.severity, shape(rule.by)))

    single = sorted((r for r in subject.pack.rules if isinstance(r.body, typed.On)), key=alike)
    for _, group in groupby(single, alike):
        asked = [(rule, conjuncts(getattr(rule.body, "condition", None))) for rule in group]
        for rule, conditions in asked:
            wider = next((other for other, fewer in asked if fewer < conditions), None)
            if wider is not None:
                yield hint(
                    "CEP0309",
                    f"whenever rule `{rule.name}` raises an alert, so does rule `{wider.name}`, "
                    "which is as severe",
                    subject.name_of(syntax.Rule, rule.name),
                    help_="give them different severities, or exclude one from the other",
                    labels=((subject.name_of(syntax.Rule, wider.name), "the wider rule"),),
                )
