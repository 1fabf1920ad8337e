"""CEP0301: a pattern or window without `by` lives in one shard, whatever the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from rules import syntax, typed
from rules.checks.subject import Subject, warning
from rules.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every rule with a pattern or a window and no key."""
    for rule in subject.pack.rules:
        if not isinstance(rule.body, typed.On) and rule.by is None:
            yield warning(
                "CEP0301",
                f"rule `{rule.name}` has no `by`: all its events go through one shard",
                subject.name_of(syntax.Rule, rule.name),
                help_="add `by` with the fields that the events of one match or window share",
            )
