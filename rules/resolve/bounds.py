"""Bounds are compulsory: every step after the first, and every open loop, ends its waiting some time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from rules import syntax, typed
from rules.resolve.findings import Findings
from rules.source import Span


def check_bounds(pattern: typed.Sequence, within: syntax.Within | None, findings: Findings) -> None:
    """Report what may wait for ever, bounds of nothing, and bounds that no match can keep."""
    if within is None:
        unbounded = first_unbounded(pattern)
        if unbounded is not None:
            help_ = "add `within 1 hour` to the rule (or `within unbounded`), or `gap` or `for` to the step"
            note = "nothing ends its waiting"
            findings.error("CEP0401", "a step may wait for ever", unbounded, note=note, help_=help_)
        return
    for absent in _absences(pattern):
        if absent.duration is None and within.duration is None:
            message = "this `absent` never ends: the rule is `within unbounded`"
            findings.error("CEP0401", message, absent.span, help_="write `absent S[...] for d`")
    if within.duration is None:
        return
    if within.duration.value == 0:
        findings.error(
            "CEP0402",
            "`within` nothing there is no match",
            within.duration.span,
            help_="give it a length: `within 10 minutes`",
        )
        return
    _check_middle(pattern, within.duration, findings)


def first_unbounded(pattern: typed.Sequence) -> Span | None:
    """The first place of a pattern that has no bound of its own; None: a run ends without `within`, too."""
    return next(_unbounded(pattern, True), None)


def has_deadline(pattern: typed.Sequence, within: int | None) -> bool:
    """True if a run can time out: by `within`, or by a gap."""
    if within is not None:
        return True
    return any(getattr(part, "gap", None) is not None for part in typed.walk(pattern))


def _check_middle(pattern: typed.Sequence, within: syntax.Duration, findings: Findings) -> None:
    """An `absent` between two steps takes its time, which must leave some of `within`."""
    waited = 0
    taken = False
    for at, (_, element) in enumerate(pattern.elements):
        if not isinstance(element, typed.Absent):
            taken = taken or takes(element)
            continue
        follows = any(takes(e) for _, e in pattern.elements[at + 1 :])
        if taken and follows:
            waited += element.duration or 0
            if waited >= within.value:
                message = "no match can come in time: the next step is looked for when `within` is over"
                note = f"`within` is `{within.span.text}`"
                findings.error("CEP0413", message, element.span, note=note, help_="make `within` longer")
                return


def takes(element: typed.Element) -> bool:
    """True if the element can take an event."""
    return any(isinstance(part, typed.Step) for part in typed.walk(element))


def _absences(pattern: typed.Sequence) -> Iterator[typed.Absent]:
    return (part for part in typed.walk(pattern) if isinstance(part, typed.Absent))


def _unbounded(pattern: typed.Sequence, first: bool) -> Iterator[Span]:
    """The places of what has no bound of its own; `first`: the first event of a run may be here."""
    final = len(pattern.elements) - 1
    for at, (_, element) in enumerate(pattern.elements):
        match element:
            case typed.Unless():
                if at == final:
                    yield element.span  # decided by the next event, which may never come
            case typed.Absent():
                if element.duration is None:
                    yield element.span
            case typed.Step():
                if element.gap is None and (not first or element.quantifier.most is None):
                    yield element.span
            case typed.Group() | typed.Either() | typed.AnyOrder():
                if element.gap is None:
                    yield from _unbounded_group(element, first)
            case _:
                assert_never(element)
        first = first and not takes(element)


def _unbounded_group(element: typed.Group | typed.Either | typed.AnyOrder, first: bool) -> Iterator[Span]:
    first = first and element.quantifier.single
    match element:
        case typed.Group():
            yield from _unbounded(element.body, first)
        case typed.Either():
            for branch in element.branches:
                yield from _unbounded(branch, first)
        case typed.AnyOrder():
            taking = sum(any(takes(e) for _, e in operand.elements) for operand in element.operands)
            for operand in element.operands:
                yield from _unbounded(operand, first and taking == 1)
        case _:
            assert_never(element)
