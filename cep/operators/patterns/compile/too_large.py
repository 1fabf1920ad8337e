"""Patterns that are right and too large to run: found before they are built, and what made them so."""

from __future__ import annotations

from collections.abc import Iterator
from math import factorial

from cep.operators.patterns.compile.row_bounds import rows_of_states
from cep.operators.patterns.compile.size import MOST_STATES, MOST_TRANSITIONS, Counted, Size, counted
from cep.operators.patterns.compile.states import MOST_WATCHED, TooLargeError, automaton
from cep.operators.patterns.compile.too_many import TOO_MANY_STATES, TOO_MANY_VALUES
from rules.diagnostics import Diagnostic
from rules.typed import (
    Absent,
    AnyOrder,
    Either,
    Element,
    Group,
    Match,
    Sequence,
    Step,
    StepRef,
    Unless,
    walk,
)

MOST_TOGETHER = 1_000
"""Transitions of one state: all of them may be evaluated at an event, for every run of a key."""
MOST_ROWS = 10_000
"""Rows that the kernel keeps free for what one event may make of one alternative."""
MOST_VALUES = 1_000
"""Values before the last one that an alternative carries: each moves on with each event of its step."""
_WRITTEN_OUT = 10**15
_PLAIN = 50
"""Steps of which a pattern without groups is below every bound, also if each of them may be left out."""


def too_large(match: Match) -> Diagnostic | None:
    """The finding that a pattern is too large, at the part that makes it so; None: it is not."""
    found = _values(match)
    if found is not None:
        return found
    if _is_plain(match.pattern):
        return None
    count = counted(match.pattern)
    if count.size.exact and not count.size.fits:
        return _refused(match, count, count.size)
    try:
        machine = automaton(match)
    except TooLargeError as error:
        if error.watched > MOST_WATCHED:
            return _watched(match)
        return _refused(match, count, Size(error.states, error.transitions, exact=False))
    together = max(len(state.transitions) for state in machine.states)
    if together > MOST_TOGETHER:
        message = f"this pattern waits for {together:,} things at once, and may wait for {MOST_TOGETHER:,}"
        return _finding(match, count, message, _made_of(_part(match, count)))
    rows = max(rows_of_states(machine))
    if rows > MOST_ROWS:
        message = f"an event can make {rows:,} alternatives of one, and may make {MOST_ROWS:,}"
        help_ = f"leave out `each`, `any` or `~>`: {_made_of(_part(match, count))}"
        return _finding(match, count, message, help_)
    return None


def _finding(match: Match, count: Counted, message: str, help_: str) -> Diagnostic:
    span = match.pattern.span if count.part is None else count.part.span
    return Diagnostic(TOO_MANY_STATES, "error", message, span, help=help_)


def _refused(match: Match, count: Counted, size: Size) -> Diagnostic:
    more = "" if size.exact else "more than "
    if size.states > MOST_STATES:
        number = size.states if size.exact else MOST_STATES
        message = f"this pattern may be in {more}{_shown(number)} states, and {MOST_STATES:,} are the most"
        return _finding(match, count, message, _orders(_part(match, count)))
    number = size.transitions if size.exact else min(size.transitions, MOST_TRANSITIONS)
    message = (
        f"this pattern has {more}{_shown(number)} transitions from its {size.states:,} states, "
        f"and {MOST_TRANSITIONS:,} are the most"
    )
    return _finding(match, count, message, _made_of(_part(match, count)))


def _watched(match: Match) -> Diagnostic:
    message = f"this pattern watches guards in more than {MOST_WATCHED:,} places"
    help_ = "`not` behind steps that may be left out is watched with all that may follow: write two rules"
    return Diagnostic(TOO_MANY_STATES, "error", message, match.pattern.span, help=help_)


def _part(match: Match, count: Counted) -> Sequence | Element:
    return match.pattern if count.part is None else count.part


def _shown(number: int) -> str:
    """A number as people read it, also one of a hundred digits."""
    return f"{number:,}" if number < _WRITTEN_OUT else f"about 10^{len(str(number)) - 1}"


def _orders(part: Sequence | Element) -> str:
    """Help for too many states: `&`, and nothing else multiplies them."""
    groups = [one for one in walk(part) if isinstance(one, AnyOrder)]
    most = max((len(one.operands) for one in groups), default=0)
    said = f"`&` of {most} operands stands for {_shown(factorial(most))} orders"
    if len(groups) > 1:
        said = f"{len(groups)} groups with `&` stand for every order of their operands, up to {most} of them"
    return f"{said}: put operands that need not be in any order one after the other, or write two rules"


def _made_of(part: Sequence | Element) -> str:
    """Help for too many transitions: what made them, as far as can be said, and what to write instead."""
    optional = max((_row(one) for one in walk(part) if isinstance(one, Sequence)), default=0)
    branches = max((len(one.branches) for one in walk(part) if isinstance(one, Either)), default=0)
    operands = [one for one in walk(part) if isinstance(one, AnyOrder) and any(map(_passable, one.operands))]
    if operands:
        most = max(sum(map(_passable, one.operands)) for one in operands)
        return (
            f"{most} operands of `&` may take nothing, so that every choice of them is an order of its own: "
            "let operands take at least one event, or write two rules"
        )
    if max(optional, branches) < _FEW:
        return "loops that may take nothing stand in one another: `((a*)*)*` means what `a*` means"
    if optional >= branches:
        return (
            f"any of {optional} elements in a row may be left out, so that each goes on to all behind it: "
            "make some of them required, or write two rules"
        )
    return (
        f"each of {branches} branches may be followed by each: write those that differ by a value as one "
        "step, `s: STREAM[v in (1, 2)]`, or write two rules"
    )


_FEW = 8


def _row(sequence: Sequence) -> int:
    """The greatest number of elements in a row that may take nothing."""
    most = now = 0
    for _, element in sequence.elements:
        now = now + 1 if _optional(element) else 0
        most = max(most, now)
    return most


def _passable(sequence: Sequence) -> bool:
    return all(_optional(element) or isinstance(element, Unless) for _, element in sequence.elements)


def _optional(element: Element) -> bool:
    """True if an element may take nothing."""
    match element:
        case Unless() | Absent():
            return False
        case Step():
            return element.quantifier.least == 0
        case Group(body):
            return element.quantifier.least == 0 or _passable(body)
        case Either(branches):
            return element.quantifier.least == 0 or any(map(_passable, branches))
        case AnyOrder(operands):
            return element.quantifier.least == 0 or all(map(_passable, operands))


def _values(match: Match) -> Diagnostic | None:
    """Refuses a pattern whose conditions name too many values before the last one."""
    farthest: dict[tuple[str, tuple[str, ...]], StepRef] = {}
    for ref in _named(match):
        known = farthest.get((ref.step, ref.path))
        if known is None or ref.offset > known.offset:
            farthest[ref.step, ref.path] = ref
    total = sum(ref.offset for ref in farthest.values())
    if total <= MOST_VALUES:
        return None
    widest = max(farthest.values(), key=lambda ref: ref.offset)
    message = f"a run would carry {total:,} values before the last ones, and may carry {MOST_VALUES:,}"
    help_ = f"look less far back than `{widest.span.text}`; `avg`, `min` and `max` carry one value each"
    return Diagnostic(TOO_MANY_VALUES, "error", message, widest.span, help=help_)


def _named(match: Match) -> Iterator[StepRef]:
    """The values of steps that conditions name, counted from their last event."""
    for part in (*walk(match.pattern), *walk(match.having)):
        if isinstance(part, StepRef) and part.which == "last":
            yield part


def _is_plain(pattern: Sequence) -> bool:
    """True if a pattern is a short series of steps and guards, which has a few states for each of them."""
    elements = [element for _, element in pattern.elements]
    return len(elements) <= _PLAIN and all(isinstance(one, Step | Unless | Absent) for one in elements)
