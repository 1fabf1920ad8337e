"""CEP0310: a negation beside an optional step guards more than it seems to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from rules import typed
from rules.checks.subject import Subject, warning
from rules.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every `not` right before or after what may take nothing."""
    for rule in subject.pack.rules:
        if not isinstance(rule.body, typed.Match):
            continue
        for part in typed.walk(rule.body.pattern):
            if isinstance(part, typed.Sequence):
                yield from _beside(part)


def _beside(sequence: typed.Sequence) -> Iterator[Diagnostic]:
    elements = [element for _, element in sequence.elements]
    for left, right in pairwise(elements):
        if isinstance(left, typed.Unless) and _optional(right):
            yield warning(
                "CEP0310",
                "this `not` stands before a step that may be left out",
                left.span,
                note="then it watches up to the step after that",
                help_="write the two ways as branches: `(a -> not x -> b | a -> c)`",
                labels=((right.span, "may take no event"),),
            )
        elif isinstance(right, typed.Unless) and _optional(left):
            yield warning(
                "CEP0310",
                "this `not` stands after a step that may be left out",
                right.span,
                note="then it watches from the step before that",
                help_="write the two ways as branches: `(a -> b -> not x -> c | a -> c)`",
                labels=((left.span, "may take no event"),),
            )


def _optional(element: typed.Element) -> bool:
    match element:
        case typed.Step() | typed.Group() | typed.Either() | typed.AnyOrder():
            return element.quantifier.least == 0
        case _:
            return False
