"""CEP0307: runs that nothing ends are state for ever, once for every key that was ever seen."""

from __future__ import annotations

from collections.abc import Iterator

from rules import syntax, typed
from rules.checks.subject import Subject, warning
from rules.diagnostics import Diagnostic
from rules.resolve.bounds import first_unbounded


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every pattern without `within` in which some step waits without a bound of its own."""
    for rule in subject.pack.rules:
        if not isinstance(rule.body, typed.Match) or rule.body.within is not None:
            continue
        waits = first_unbounded(rule.body.pattern)
        if waits is not None:
            yield warning(
                "CEP0307",
                f"runs of rule `{rule.name}` may wait for ever: its state grows with every key",
                waits,
                note="nothing ends its waiting",
                help_=f"add `within`, or a `gap`; `limit {rule.body.limit:,} runs` bounds one key only",
                labels=((subject.name_of(syntax.Rule, rule.name), "in this rule"),),
            )
