"""Guards that a run came past: for coverage, from the steps that took an event.

A `not` stands in a sequence, an `until` at a loop: a match came past them if one of the steps there took an
event. An `absent` that comes first is looked for when a step behind it takes the run's first event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from rules.source import Span
from rules.typed import Absent, AnyOrder, Either, Element, Group, Guard, Sequence, Step, Unless, walk


def came_past(pattern: Sequence) -> Iterator[tuple[Guard, frozenset[str]]]:
    """The guards of `not` and `until`, each with the names of the steps that show it."""
    for node in walk(pattern):
        match node:
            case Sequence(elements):
                for _, element in elements:
                    if isinstance(element, Unless):
                        yield element.guard, _names(node)
            case Step() | Group() | Either() | AnyOrder() if node.until is not None:
                yield node.until, _names(node)


def looks_back(pattern: Sequence) -> dict[Span, tuple[Guard, ...]]:
    """By step, if it takes a run's first event: what was to be absent before."""
    return dict(_of_sequence(pattern, ()))


def _of_sequence(sequence: Sequence, before: tuple[Guard, ...]) -> Iterator[tuple[Span, tuple[Guard, ...]]]:
    for _, element in sequence.elements:
        if isinstance(element, Absent):
            before = (*before, element.guard)
        else:
            yield from _of_element(element, before)


def _of_element(element: Element, before: tuple[Guard, ...]) -> Iterator[tuple[Span, tuple[Guard, ...]]]:
    match element:
        case Step(span=span):
            yield span, before
        case Group(body):
            yield from _of_sequence(body, before)
        case Either(branches):
            for branch in branches:
                yield from _of_sequence(branch, before)
        case AnyOrder(operands):
            alone = [operand.elements[0][1] for operand in operands if len(operand.elements) == 1]
            together = (*before, *(one.guard for one in alone if isinstance(one, Absent)))
            for operand in operands:
                yield from _of_sequence(operand, together)
        case Unless() | Absent():
            return
        case _:
            assert_never(element)


def _names(node: Sequence | Element) -> frozenset[str]:
    return frozenset(step.name for step in walk(node) if isinstance(step, Step))
