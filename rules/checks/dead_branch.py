"""CEP0234: a branch of `|` that is never taken, because an earlier one takes all that it would."""

from __future__ import annotations

from collections.abc import Iterator

from rules import typed
from rules.checks.shapes import shape
from rules.checks.subject import Subject
from rules.checks.truth import implies
from rules.diagnostics import Diagnostic, Label


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every branch that goes on like an earlier one whose first step takes the same events."""
    streams = {stream.name: stream for stream in subject.pack.streams}
    for rule in subject.pack.rules:
        if not isinstance(rule.body, typed.Match) or _forks(rule.body.pattern):
            continue
        for part in typed.walk(rule.body.pattern):
            if isinstance(part, typed.Either):
                yield from _of(part, streams)


_COMPARED = 100
"""Earlier branches with the same rest that a branch is compared with."""


def _of(either: typed.Either, streams: dict[str, typed.Stream]) -> Iterator[Diagnostic]:
    alike: dict[object, list[tuple[typed.Sequence, typed.Step]]] = {}
    for later in either.branches:
        step = later.elements[0][1]
        if not isinstance(step, typed.Step) or step.stream not in streams:
            continue
        known = alike.setdefault(_plain(later, step), [])
        for earlier, first in known[:_COMPARED]:
            if _takes_all(first, step, streams):
                labels = (Label(earlier.span, "this branch is tried first"),)
                message = "this branch is never taken"
                help_ = "remove it, or put it first"
                yield Diagnostic("CEP0234", "warning", message, later.span, "", labels, help=help_)
                break
        known.append((later, step))


def _takes_all(first: typed.Step, second: typed.Step, streams: dict[str, typed.Stream]) -> bool:
    """True if a first step takes all that another would, where the branches are the same from there on."""
    if first.quantifier != typed.ONCE or first.until is not None:
        return shape(first.condition) == shape(second.condition)  # a loop could go on longer
    return implies(second.condition, first.condition, streams[first.stream])


def _plain(branch: typed.Sequence, first: typed.Step) -> object:
    """A branch but for the name and the condition of its first step."""
    loop = (first.stream, shape(first.quantifier), shape(first.until), first.gap)
    return loop, shape(branch.elements[1:])


def _forks(pattern: typed.Sequence) -> bool:
    """True if runs go on along every possibility, so that each branch may give matches of its own."""
    return any(
        (isinstance(part, typed.Quantifier) and part.mode == "each")
        or (isinstance(part, typed.Sequence) and any(sign == "~>" for sign, _ in part.elements))
        for part in typed.walk(pattern)
    )
