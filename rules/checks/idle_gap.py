"""CEP0304: a `gap` as long as `within` can never be what ends a run, nor one as long as `max` a session."""

from __future__ import annotations

from collections.abc import Iterator

from rules import typed
from rules.checks.subject import Subject, warning
from rules.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every step or group whose gap is not shorter than the rule's `within`; so of sessions."""
    for rule in subject.pack.rules:
        match rule.body:
            case typed.Over(window=typed.Session(silence, int(longest))) if silence >= longest:
                yield warning(
                    "CEP0304",
                    "this `gap` can never matter: it is not shorter than `max`",
                    rule.body.span,
                    help_="make it shorter, or remove `max`",
                )
        if not isinstance(rule.body, typed.Match) or rule.body.within is None:
            continue
        for part in typed.walk(rule.body.pattern):
            gap = getattr(part, "gap", None)
            if isinstance(part, typed.Step | typed.Group | typed.Either | typed.AnyOrder) and (
                gap is not None and gap >= rule.body.within
            ):
                yield warning(
                    "CEP0304",
                    "this `gap` can never matter: it is not shorter than `within`",
                    part.span,
                    help_="make it shorter, or remove it",
                )
