"""CEP0236: a `like` whose wildcards are those of file names and search boxes."""

from __future__ import annotations

from collections.abc import Iterator

from rules import typed
from rules.checks.subject import Subject, warning
from rules.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every pattern with `*` and without `%`, which is true of hardly any text."""
    for rule in subject.pack.rules:
        for part in typed.walk(rule):
            if isinstance(part, typed.Like) and "*" in part.pattern and "%" not in part.pattern:
                meant = part.pattern.replace("*", "%")
                help_ = f'write `like "{meant}"`: `%` is any characters, `_` any single one'
                yield warning("CEP0236", "`*` stands for itself in `like`", part.span, help_=help_)
