"""CEP0317: a step name that occurs again stands for the events of all its steps together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rules import typed
from rules.checks.subject import Subject, warning
from rules.diagnostics import Diagnostic

_Branches = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """A step, and in which branches of which `|` it stands."""

    step: typed.Step
    branches: _Branches


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every step whose name was given before, where both may take events of one match."""
    for rule in subject.pack.rules:
        if not isinstance(rule.body, typed.Match):
            continue
        places: dict[str, list[_Place]] = {}
        for place in _steps(rule.body.pattern, ()):
            name = place.step.name
            first = next((p for p in places.get(name, ()) if not _apart(p.branches, place.branches)), None)
            places.setdefault(name, []).append(place)
            if first is not None:
                yield warning(
                    "CEP0317",
                    f"step name `{name}` occurs again: it stands for the events of both steps together",
                    place.step.span,
                    help_=f"give one of them a name of its own, such as `{name}2: {place.step.stream}`",
                    labels=((first.step.span, "first used here"),),
                )


def _steps(sequence: typed.Sequence, branches: _Branches) -> Iterator[_Place]:
    for _, element in sequence.elements:
        match element:
            case typed.Step():
                yield _Place(element, branches)
            case typed.Group():
                yield from _steps(element.body, branches)
            case typed.AnyOrder():
                for operand in element.operands:
                    yield from _steps(operand, branches)
            case typed.Either():
                for number, branch in enumerate(element.branches):
                    yield from _steps(branch, (*branches, (element.span.start, number)))
            case typed.Unless() | typed.Absent():
                pass


def _apart(one: _Branches, other: _Branches) -> bool:
    """True if two places are in different branches of one `|`."""
    mine = dict(one)
    return any(group in mine and mine[group] != branch for group, branch in other)
