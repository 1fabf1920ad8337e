"""CEP0321: last events without `within` are state for ever, once for every key that was ever seen."""

from __future__ import annotations

from collections.abc import Iterator

from rules import typed
from rules.checks.subject import Subject, hint
from rules.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A hint for every window of last events that no time bounds."""
    for rule in subject.pack.rules:
        match rule.body:
            case typed.Over(window=typed.LastEvents(events, None)):
                yield hint(
                    "CEP0321",
                    f"a key keeps its last {events:,} events for ever: the state grows with every key",
                    rule.body.span,
                    help_=f"add a time behind which they do not count: `last {events} events within 30 days`",
                )
            case _:
                pass
