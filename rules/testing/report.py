"""The report for a test's author: one line for a test that passed, the whole timeline for one that failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rules.source import Span
from rules.testing.compare import Notation, Seen, differences
from rules.testing.nearest import nearest
from rules.testing.nearest_window import of_alert
from rules.testing.run import Result, label
from rules.testing.story import Story
from rules.testing.timeline import Arrival
from rules.testing.values import clock, written, written_as
from rules.typed import Expected, Step
from rules.types import Scalar

_DOINGS = 4
"""Runs that are listed beside an event."""
_SHOWN = 40
"""Events of a timeline that are shown; of more, the first and the last."""


def result_text(result: Result, notation: Notation, story: Story | None = None) -> str:
    """A test's outcome without a line end: one line, and below it the timeline if it failed.

    With a story, the timeline says what each event did, and each expectation that no alert comes near is
    followed by how far the nearest run came.
    """
    place = where(result.test.span)
    if result.passed:
        return f"passed  {label(result.test)}  {place}"
    lines = [f"FAILED  {label(result.test)}  {place}"]
    lines += [f"    {problem}" for problem in result.timeline.problems]
    rows = list(_rows(result, notation, story or ()))
    width = max((len(time) for _, time, _ in rows), default=0)
    lines += [f"  {mark:>2} {time:>{width}}  {text}" for mark, time, text in rows]
    if not result.comparison.met and not result.comparison.others:
        lines.append("    no alert was raised")
    if story is not None:
        lines += _nearest(result, notation, story)
        lines += _windows(result, notation, story)
    return "\n".join(lines)


def summary(result: Result) -> str:
    """Why a test failed, in one sentence."""
    missing, others = len(result.comparison.missing), len(_unexpected(result))
    problems = [*result.timeline.problems]
    problems += [f"{missing:,} expected alert{'s' if missing > 1 else ''} did not come"] if missing else []
    problems += [f"{others:,} alert{'s' if others > 1 else ''} came unexpected"] if others else []
    return "; ".join(problems)


def _unexpected(result: Result) -> tuple[Seen, ...]:
    """The alerts that count against the test."""
    allowed = result.test.allow_other and not result.test.nothing
    return () if allowed else result.comparison.others


def result_json(result: Result, notation: Notation, story: Story | None = None) -> dict[str, object]:
    """A test's outcome as a JSON object; with a story also how far the nearest run came, in lines."""
    return {
        "pack": result.pack.name,
        "rules": list(result.test.rules),
        "title": result.test.title,
        "file": result.test.span.file.name,
        "line": result.test.span.line,
        "passed": result.passed,
        "problems": list(result.timeline.problems),
        "missing": [
            {
                "line": item.span.line,
                "time": None if item.at is None else notation(item.at, Scalar.TIMESTAMP),
                "expected": item.span.text,
                "nearest": [] if story is None else nearest(result, item, story, notation),
            }
            for item in result.comparison.missing
        ],
        "unexpected": [dict(seen.alert) for seen in _unexpected(result)],
    }


def where(span: Span) -> str:
    """`fraud.rules:54`."""
    return f"{span.file.name}:{span.line}"


def _rows(result: Result, notation: Notation, story: Story) -> Iterator[tuple[str, str, str]]:
    """Mark, time and text of everything that happened or should have, by time.

    Of one instant: events, alerts, then expectations. The mark `!` is where the test failed.
    """
    found = result.comparison
    rows: list[tuple[int, int, str, str]] = []
    for arrival in result.timeline.arrivals():
        rows.append((arrival.given.at, 0, "", _event(result, arrival, notation) + _doing(arrival, story)))
    for expected, seen in found.met:
        rows.append((seen.time, 1, "", f"{_alert(seen)}, as expected in line {expected.span.line}"))
    accepted = result.test.allow_other and not result.test.nothing
    for seen in found.others:
        outcome = "(allowed)" if accepted else "was not expected"
        rows.append((seen.time, 1, "" if accepted else "!", f"{_alert(seen)} {outcome}"))
    for expected in found.missing:
        at = expected.at
        text = f"line {expected.span.line} expected an alert {_short(expected)}"
        text += _closest(result, expected, notation)
        rows.append((2**63 if at is None else at, 2, "!", text))
    rows.sort(key=lambda row: row[:2])
    for time, rank, mark, text in _elided(rows):
        yield mark, "" if rank > 2 or time == 2**63 else clock(time, notation), text


def _elided(rows: list[tuple[int, int, str, str]]) -> Iterator[tuple[int, int, str, str]]:
    events = [row for row in rows if row[1] == 0]
    if len(events) <= _SHOWN:
        yield from rows
        return
    half = _SHOWN // 2
    hidden = {id(row) for row in events[half:-half]}
    counted = False
    for row in rows:
        if id(row) not in hidden:
            yield row
        elif not counted:
            counted = True
            yield row[0], 3, "", f"... {len(hidden):,} more events"


def _event(result: Result, arrival: Arrival, notation: Notation) -> str:
    stream = result.pack.stream(arrival.stream)
    types = {f.name: f.type for f in stream.fields}
    said = ", ".join(
        f"{name}: {written_as(value, types[name], notation)}" for name, value in arrival.given.values
    )
    late = ", which came late and counts for nothing" if arrival.late else ""
    if arrival.ahead:
        late = ", which is too far ahead of the clock and counts for nothing"
    own_id = f" {arrival.id}" if arrival.id is not None else ""
    return f"{arrival.stream}{own_id} {{ {said} }}{late}" if said else f"{arrival.stream}{own_id}{late}"


def _doing(arrival: Arrival, story: Story) -> str:
    """The effects of an event: the runs that it moved, ended and began."""
    several = len({happening.rule for happening in story}) > 1
    done: dict[tuple[str, str], list[int]] = {}
    for h in story:
        if h.event is not arrival or h.run is None:
            continue
        match h.kind, h.node:
            case "took", Step(name):
                done.setdefault((f"{name} of", h.rule), []).append(h.run)
            case "began", Step(name):
                done.setdefault((f"{name} begins", h.rule), []).append(h.run)
            case "prevented" | "broken" | "dropped", _:
                done.setdefault(("ends", h.rule), []).append(h.run)
    effects = [
        f"{what} {_runs(numbers)}" + (f" of {rule}" if several else "")
        for (what, rule), numbers in done.items()
    ]
    return f"  <- {', '.join(effects)}" if effects else ""


def _runs(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"run {numbers[0]}"
    if len(numbers) > _DOINGS:
        return f"runs {', '.join(map(str, numbers[:_DOINGS]))} and {len(numbers) - _DOINGS:,} more"
    return f"runs {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _nearest(result: Result, notation: Notation, story: Story) -> Iterator[str]:
    """For each expectation that no alert comes near, how far the nearest run came; alike ones together."""
    by_text: dict[tuple[str, ...], list[int]] = {}
    for expected in result.comparison.missing:
        if not _closest(result, expected, notation):
            found = nearest(result, expected, story, notation)
            by_text.setdefault(tuple(found), []).append(expected.span.line)
    for text, lines in by_text.items():
        numbers = [str(number) for number in dict.fromkeys(lines)]
        place = f"line{'s' if len(numbers) > 1 else ''} {' and '.join(numbers)}, "
        of = "" if len(result.comparison.missing) == 1 else place
        yield from (f"    {of if number == 0 else ''}{line}" for number, line in enumerate(text))


def _windows(result: Result, notation: Notation, story: Story) -> Iterator[str]:
    """The windows that raised the alerts that nothing expected, or expected otherwise."""
    for seen in _unexpected(result)[:_DOINGS]:
        yield from (f"    {line}" for line in of_alert(seen, story, notation))


def _alert(seen: Seen) -> str:
    values = seen.alert["emit"] or seen.alert["key"]
    return f"alert {seen.rule} ({seen.alert['kind']}) {written(values)}"


def _short(expected: Expected) -> str:
    text = " ".join(expected.span.text.split())
    return text[text.index("{") :] if "{" in text else "of any kind"


def _closest(result: Result, expected: Expected, notation: Notation) -> str:
    """The difference of the most similar alert that nothing else expected, or that one was withheld."""
    for seen in result.withheld:
        if not differences(result.pack, expected, seen, notation):
            return f"; the alert at {clock(seen.time, notation)} was withheld by `suppress`"
    near = [(differences(result.pack, expected, seen, notation), seen) for seen in result.comparison.others]
    if not near:
        return ""
    names, seen = min(near, key=lambda pair: (len(pair[0]), abs(pair[1].time - (expected.at or 0))))
    if len(names) > len(expected.values):
        return ""
    emit = seen.alert["emit"] if isinstance(seen.alert["emit"], Mapping) else {}
    differing = [
        f"has {name}: {written(emit[name] if name in emit else seen.alert.get(name))}"
        for name in names
        if name != "time"
    ]
    time = clock(seen.time, notation)
    if "time" in names:
        return f"; an alert came at {time}" + (f", and {' and '.join(differing)}" if differing else "")
    return f"; the alert at {time} " + " and ".join(differing)
