"""A pattern as an indented tree: every step, group and guard on a line of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from cep.explanation.wording import duration, guarded, often
from rules.typed import Absent, AnyOrder, Either, Element, Group, Sequence, Sign, Step, Unless

_INDENT = "  "
_SIGNS: dict[Sign, str] = {"->": "later", "=>": "as the very next event", "~>": "every later"}


def tree(pattern: Sequence) -> Iterator[str]:
    """The lines of the tree."""
    yield from _sequence(pattern, 0)


def _sequence(sequence: Sequence, depth: int) -> Iterator[str]:
    for number, (sign, element) in enumerate(sequence.elements):
        before = "first" if number == 0 else _SIGNS[sign]
        yield from _element(element, before, depth)


def _element(element: Element, before: str, depth: int) -> Iterator[str]:
    pad = _INDENT * depth
    match element:
        case Step(name=name, stream=stream):
            shown = f"`{name}`: {stream}" if name != stream else stream
            yield f"{pad}{before}: {shown}{_loop(element)}"
        case Unless():
            yield f"{pad}{before}, not: {guarded(element.guard)}"
        case Absent():
            how_long = "until `within` is over" if element.duration is None else duration(element.duration)
            yield f"{pad}{before}, absent for {how_long}: {guarded(element.guard)}"
        case Group():
            yield f"{pad}{before}, a group{_loop(element)}"
            yield from _sequence(element.body, depth + 1)
        case Either():
            yield f"{pad}{before}, one of{_loop(element)}"
            yield from _parts("branch", element.branches, depth)
        case AnyOrder():
            yield f"{pad}{before}, all of, in any order{_loop(element)}"
            yield from _parts("part", element.operands, depth)
        case _:
            assert_never(element)


def _parts(word: str, sequences: tuple[Sequence, ...], depth: int) -> Iterator[str]:
    for number, sequence in enumerate(sequences, 1):
        yield f"{_INDENT * (depth + 1)}{word} {number}"
        yield from _sequence(sequence, depth + 2)


def _loop(element: Step | Group | Either | AnyOrder) -> str:
    parts = [often(element.quantifier)]
    if element.gap is not None:
        parts.append(f"less than {duration(element.gap)} after the event before")
    if element.until is not None:
        parts.append(f"until {guarded(element.until)}")
    said = ", ".join(part for part in parts if part)
    return f", {said}" if said else ""
