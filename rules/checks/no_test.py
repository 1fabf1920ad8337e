"""CEP0313, where the pack requires it: a rule that no test names."""

from __future__ import annotations

from collections.abc import Iterator

from rules import syntax
from rules.checks.subject import Subject, warning
from rules.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every rule that no `test` block is about by name; `test *` names none."""
    tested = {
        name.text for block in subject.blocks() if isinstance(block, syntax.TestBlock) for name in block.rules
    }
    for rule in subject.pack.rules:
        if rule.name not in tested:
            yield warning(
                "CEP0313",
                f"rule `{rule.name}` has no test",
                subject.name_of(syntax.Rule, rule.name),
                help_=f'add `test {rule.name} "..." {{ ... }}`',
            )
