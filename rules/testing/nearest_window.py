"""The window that came nearest to an alert that a test expected in vain: as it stood, and what it lacked.

Of the windows under the expected key it is one that was judged at the expected time, else one that was open
then or at the end; of several the one of whose `having` most is true, then the one with most events.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rules.source import Span
from rules.testing.compare import Notation, Seen
from rules.testing.drawing import drawn
from rules.testing.operands import operands
from rules.testing.run import Result
from rules.testing.story import Happening, Story
from rules.testing.timeline import Arrival
from rules.testing.values import clock, written, written_as
from rules.typed import (
    AtEachEvent,
    Compare,
    Expected,
    Expression,
    Logical,
    Over,
    WindowAggregate,
    walk,
)
from rules.types import Scalar

MOST = 20
"""Ids of events that are listed."""
_MORE = {">": "more than", ">=": "at least", "<": "less than", "<=": "at most", "==": "", "!=": "other than"}


def nearest_of(windows: Sequence[Happening], expected: Expected) -> Happening:
    """The one of some windows that came nearest."""
    return max(windows, key=lambda seen: _rank(seen, expected))


def _rank(seen: Happening, expected: Expected) -> tuple[int, ...]:
    assert seen.window is not None
    start, end = seen.window
    at_its_time = expected.at is not None and seen.time == expected.at
    around = expected.at is None or start <= expected.at <= end
    body = _body(seen)
    true = sum(_value(seen, part) is True for part in conjuncts(body.having))
    return seen.kind != "matched", at_its_time, around, true, len(seen.taken), seen.time


def of_window(seen: Happening, result: Result, notation: Notation) -> Iterator[str]:
    """Lines about a window that raised no alert, or not the one that was expected."""
    yield f"nearest: {_held(seen, notation)}"
    body, at = _body(seen), clock(seen.time, notation)
    match seen.kind:
        case "matched":
            yield f"  at {at} it raised its alert, which stands above"
        case "repeated" if isinstance(body.window, AtEachEvent):
            yield f"  at {at} its `having` is true, as at the event before: it raises when it becomes so"
        case "repeated":
            yield f"  at {at} its `having` is true, but this window has raised its alert before"
        case "waiting":
            moments = result.timeline.moments
            over = clock(moments[-1].watermark, notation) if moments else "its beginning"
            yield f"  the test ends at {over}, and the window is judged at {at}; until then it holds:"
        case _:
            yield f"  at {at} its `having` was not true:"
    yield from _drawing(body, seen, notation)
    if seen.kind in ("refused", "waiting"):
        yield from _needed(seen, body, notation)


def of_alert(alert: Seen, story: Story, notation: Notation) -> Iterator[str]:
    """Lines about the window that raised an alert that a test did not expect so; none of other rules."""
    for seen in story:
        if seen.kind == "matched" and seen.window and _raised(seen, alert):
            yield f"the alert at {clock(seen.time, notation)}: {_held(seen, notation)}"
            yield from _drawing(_body(seen), seen, notation)
            return


def _raised(seen: Happening, alert: Seen) -> bool:
    if (seen.rule, seen.time, dict(seen.key)) != (alert.rule, alert.time, alert.alert["key"]):
        return False
    listed = alert.alert["events"]
    assert isinstance(listed, dict)
    of_step = [ids for ids in listed.values() if ids]
    held = [arrival.id for _, arrival in seen.taken if arrival.id is not None]
    return not of_step or not held or of_step == [held[-len(of_step[0]) :]]


def _body(seen: Happening) -> Over:
    assert isinstance(seen.node, Over)
    return seen.node


def _value(seen: Happening, expression: Expression) -> object:
    assert seen.value is not None
    return seen.value(expression)


def _held(seen: Happening, notation: Notation) -> str:
    """`the window of burst for card_id "c1" from 0s to 1h held 3 events (p1, p2, p3)`."""
    assert seen.window is not None
    start, end = (clock(time, notation) for time in seen.window)
    key = ", ".join(f"{name} {written(value)}" for name, value in seen.key)
    arrivals = [arrival for _, arrival in seen.taken]
    number = f"{len(arrivals):,} event{'' if len(arrivals) == 1 else 's'}"
    tense = "holds" if seen.kind == "waiting" else "held"
    of = f" for {key}" if key else ""
    return f"the window of {seen.rule}{of} from {start} to {end} {tense} {number} ({ids_of(arrivals)})"


def _drawing(body: Over, seen: Happening, notation: Notation) -> Iterator[str]:
    if seen.value is not None:
        for line in drawn(body.having.span, operands(body.having, seen.value, notation)):
            yield f"    {line}"


def _needed(seen: Happening, body: Over, notation: Notation) -> Iterator[str]:
    """What each part of `having` that is not true would have needed."""
    for part in conjuncts(body.having):
        if _value(seen, part) is True:
            continue
        unknown = list(_not_known(seen, part))
        for ref in unknown:
            yield f"  `{_text(ref.span)}` is null: {_why(body, ref)}"
        if isinstance(part, Compare) and not unknown:
            left, right = (_shown(seen, side, notation) for side in (part.left, part.right))
            wanted = " ".join(filter(None, (_MORE[part.operator], right)))
            yield f"  needed: `{_text(part.left.span)}` {wanted}; it {_TENSE[seen.kind]} {left}"
        elif not unknown:
            yield f"  needed: `{_text(part.span)}`"


_TENSE = {"waiting": "is", "refused": "was"}


def _not_known(seen: Happening, part: Expression) -> Iterator[WindowAggregate]:
    """The aggregates over earlier windows of which nothing is known: not even their events are counted."""
    for ref in walk(part):
        if isinstance(ref, WindowAggregate) and ref.which != "this":
            count = replace(ref, function="count", argument=None, parameter=None, type=Scalar.LONG)
            if _value(seen, count) is None:
                yield ref


def _why(body: Over, ref: WindowAggregate) -> str:
    if isinstance(body.window, AtEachEvent) and not hasattr(body.window, "size"):
        return "the key has not so many events before these"
    if hasattr(body.window, "gap"):
        return "the key has not so many sessions before this one"
    which = "the windows that it looks at begin" if ref.offset > 1 else "the window that it looks at begins"
    return f"{which} before the first event of `{body.stream}`, when the rule did not watch yet"


def _shown(seen: Happening, side: Expression, notation: Notation) -> str:
    return written_as(_value(seen, side), side.type, notation)


def _text(span: Span) -> str:
    return " ".join(span.text.split())


def conjuncts(condition: Expression) -> tuple[Expression, ...]:
    """The parts of a condition that must all be true."""
    if isinstance(condition, Logical) and condition.operator == "and":
        return tuple(inner for part in condition.operands for inner in conjuncts(part))
    return (condition,)


def named(arrival: Arrival) -> str:
    """By its id; one of a stream without ids by its line in the test."""
    if arrival.id is None:
        return f"the {arrival.stream} of line {arrival.given.span.line}"
    return str(arrival.id)


def ids_of(arrivals: Sequence[Arrival]) -> str:
    """The events by name; of many the first and the last."""
    names = [named(arrival) for arrival in arrivals]
    if len(names) > MOST:
        names = [*names[: MOST // 2], f"... {len(names) - MOST:,} more ...", *names[-MOST // 2 :]]
    return ", ".join(names)
