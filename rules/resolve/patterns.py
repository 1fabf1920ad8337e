"""Patterns: steps bound to names in order, conditions typed with what they may see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import assert_never, cast

from rules import syntax, typed
from rules.diagnostics import Label
from rules.resolve.declared import Declared, StreamInfo
from rules.resolve.expression import condition
from rules.resolve.quantifiers import Loop, loop_of
from rules.resolve.scope import Bound, Scope
from rules.resolve.signs import check_signs
from rules.resolve.sources import info_of
from rules.source import Span


@dataclass(frozen=True, slots=True)
class Resolved:
    """A typed pattern; its steps as conditions after it see them; its streams, in order of declaration."""

    pattern: typed.Sequence
    steps: dict[str, Bound]
    streams: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a step name was given, and in which branches of which `|` groups."""

    span: Span
    branches: tuple[tuple[int, int], ...]
    stream: str


@dataclass(slots=True)
class _Walk:
    """The state of one pass over a pattern."""

    declared: Declared
    rule: str
    names: frozenset[str]
    visible: dict[str, Bound] = field(default_factory=dict)
    places: dict[str, list[_Place]] = field(default_factory=dict)
    streams: set[str] = field(default_factory=set)
    branches: tuple[tuple[int, int], ...] = ()
    repeating: int = 0


def resolve_pattern(node: syntax.Sequence, rule: str, declared: Declared) -> Resolved:
    """The typed pattern. What could not be resolved has its finding and is left out."""
    walk = _Walk(declared, rule, frozenset(_step_names(node)))
    check_signs(node, declared.findings)
    pattern = _sequence(node, walk)
    streams = tuple(name for name in declared.streams if name in walk.streams)
    return Resolved(pattern, walk.visible, streams)


def _step_names(node: syntax.Sequence) -> Iterator[str]:
    for element in node.elements:
        if isinstance(element, syntax.Step):
            yield (element.name or element.source.stream).text
        elif isinstance(element, syntax.Group):
            for branch in element.branches:
                yield from _step_names(branch)


def _sequence(node: syntax.Sequence, walk: _Walk) -> typed.Sequence:
    elements: list[tuple[typed.Sign, typed.Element]] = []
    signs = ("->", *(cast(typed.Sign, sign.text) for sign in node.signs))
    for sign, element in zip(signs, node.elements, strict=True):
        elements.append((sign, _element(element, walk)))
    return typed.Sequence(tuple(elements), node.span)


def _element(node: syntax.Element, walk: _Walk) -> typed.Element:
    match node:
        case syntax.Step():
            return _step(node, walk)
        case syntax.Unless():
            return typed.Unless(_guard(node.source, walk, "`not`"), node.span)
        case syntax.Absent():
            if node.duration is not None and node.duration.value == 0:
                message = "`absent ... for` must be longer than nothing"
                walk.declared.findings.error(
                    "CEP0402", message, node.duration.span, help_="give it a length: `for 10 minutes`"
                )
            duration = None if node.duration is None else node.duration.value
            return typed.Absent(_guard(node.source, walk, "`absent`"), duration, node.span)
        case syntax.Group():
            return _group(node, walk)
        case _:
            assert_never(node)


def _step(node: syntax.Step, walk: _Walk) -> typed.Step:
    findings = walk.declared.findings
    source = _source(node.source, walk)
    name = node.name or node.source.stream
    loop = loop_of(node.quantifiers, node.modifiers, findings)
    again = _place(name, source.name, walk)
    repeated = again or not loop.quantifier.single
    walk.visible[name.text] = Bound(name.text, source, repeated or walk.repeating > 0)
    subject = f"step `{name.text}`"
    checked = _condition(node.source, source, walk, subject, name.text)
    walk.visible[name.text] = Bound(name.text, source, repeated)
    until = None if loop.until is None else _guard(loop.until, walk, "`until`")
    return typed.Step(name.text, source.name, checked, loop.quantifier, until, loop.gap, node.span)


def _place(name: syntax.Name, stream: str, walk: _Walk) -> bool:
    """Note where a step name stands; whether it stood before it, so that it names several events.

    Its steps must be of one stream (docs/decisions/0007).
    """
    again = False
    for place in walk.places.get(name.text, ()):
        again = again or not _apart(place.branches, walk.branches)
        if place.stream != stream:
            labels = (Label(place.span, "first used here"),)
            message = f"step `{name.text}` has different streams"
            help_ = f"give one of them another name, such as `{name.text}2: {stream}`"
            walk.declared.findings.error("CEP0411", message, name.span, labels=labels, help_=help_)
            break
    walk.places.setdefault(name.text, []).append(_Place(name.span, walk.branches, stream))
    return again


def _apart(one: tuple[tuple[int, int], ...], other: tuple[tuple[int, int], ...]) -> bool:
    """True if two places are in different branches of one `|`, so that only one of them is taken."""
    for (group, branch), (other_group, other_branch) in zip(one, other, strict=False):
        if group != other_group:
            return False
        if branch != other_branch:
            return True
    return False


def _group(node: syntax.Group, walk: _Walk) -> typed.Element:
    loop = loop_of(node.quantifiers, node.modifiers, walk.declared.findings)
    repeats = not loop.quantifier.single
    before = dict(walk.visible)
    walk.repeating += repeats
    branches, bound = _branches(node, walk)
    walk.repeating -= repeats
    walk.visible = before
    for name, step in bound.items():
        walk.visible[name] = Bound(name, step.source, step.repeated or repeats)
    until = None if loop.until is None else _guard(loop.until, walk, "`until`")
    return _built(node, tuple(branches), loop, until)


def _branches(node: syntax.Group, walk: _Walk) -> tuple[list[typed.Sequence], dict[str, Bound]]:
    """Every branch resolved on its own, and the steps that they bind together."""
    before = walk.visible
    outer = walk.branches
    alternative = bool(node.bars) and node.bars[0].text == "|"
    branches: list[typed.Sequence] = []
    bound: dict[str, Bound] = {}
    for number, branch in enumerate(node.branches):
        walk.visible = dict(before)
        walk.branches = (*outer, (node.span.start, number)) if alternative else outer
        branches.append(_sequence(branch, walk))
        for name, step in walk.visible.items():
            if before.get(name) is step:
                continue
            repeated = step.repeated or (name in bound and bound[name].repeated)
            bound[name] = Bound(name, step.source, repeated)
    walk.branches = outer
    return branches, bound


def _built(
    node: syntax.Group, branches: tuple[typed.Sequence, ...], loop: Loop, until: typed.Guard | None
) -> typed.Element:
    if not node.bars:
        return typed.Group(branches[0], loop.quantifier, until, loop.gap, node.span)
    kind = typed.Either if node.bars[0].text == "|" else typed.AnyOrder
    return kind(branches, loop.quantifier, until, loop.gap, node.span)


def _guard(node: syntax.Source, walk: _Walk, subject: str) -> typed.Guard:
    source = _source(node, walk)
    return typed.Guard(source.name, _condition(node, source, walk, subject, None), node.span)


def _source(node: syntax.Source, walk: _Walk) -> StreamInfo:
    source = info_of(node, walk.declared)
    walk.streams.add(source.name)
    return source


def _condition(
    node: syntax.Source, source: StreamInfo, walk: _Walk, subject: str, own: str | None
) -> typed.Expression | None:
    if node.condition is None:
        return None
    scope = Scope(
        walk.declared,
        subject,
        candidate=source,
        steps=walk.visible,
        all_steps=walk.names,
        own=own,
        in_pattern=True,
    )
    return condition(node.condition, scope)
