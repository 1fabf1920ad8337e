"""The nearest run to an alert that a test expected in vain, and what stopped it.

Of the runs under the expected key that came to no match, the nearest is the one that took events in most of
its steps, then the one that took most, then the one that saw something at the expected time, then the first.
Where no run began, it is the event that came closest to beginning one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rules.instants import span_of_time
from rules.testing.compare import Notation, emitted_types
from rules.testing.drawing import drawn
from rules.testing.nearest_window import conjuncts, ids_of, named, nearest_of, of_window
from rules.testing.operands import operands
from rules.testing.run import Result
from rules.testing.story import Happening, Story
from rules.testing.timeline import Arrival
from rules.testing.values import clock, written
from rules.typed import Expected, Guard, Match, Near, On, Over, Path, Rule, Step


def nearest(result: Result, expected: Expected, story: Story, notation: Notation) -> list[str]:
    """Lines about the run of the rule that came nearest; none where no rule of the test could raise it."""
    pack = result.pack
    names = {name for name, _ in expected.values} - {"key", "events", "severity", "kind"}
    emitting = [
        rule
        for rule in pack.rules
        if rule.name in result.test.rules and names <= emitted_types(pack, rule.name).keys()
    ]
    windows = _windows(emitting, expected, story, notation)
    if windows:
        return list(of_window(nearest_of(windows, expected), result, notation))
    best: tuple[tuple[int, ...], Rule, list[Happening]] | None = None
    for rule in emitting:
        for of_run in _runs(rule, _wanted_key(rule, expected, notation), story):
            rank = _progress(of_run, expected)
            if best is None or rank > best[0]:
                best = rank, rule, of_run
    if best is not None:
        return list(_of_run(best[1], best[2], result, notation))
    tried = {h.rule for h in story if h.kind == "tried"}
    for rule in sorted(emitting, key=lambda rule: rule.name not in tried):
        tries = [h for h in story if h.rule == rule.name and h.kind == "tried" and h.run is None]
        wanted = _wanted_key(rule, expected, notation)
        return list(_of_none(rule, _under(wanted, tries), expected, result, notation))
    return []


def _windows(
    emitting: Sequence[Rule], expected: Expected, story: Story, notation: Notation
) -> list[Happening]:
    """The windows of the rules under the key that is expected."""
    of_rules = [
        _under(_wanted_key(rule, expected, notation), [h for h in story if h.rule == rule.name and h.window])
        for rule in emitting
    ]
    return [happening for of_rule in of_rules for happening in of_rule]


def _wanted_key(rule: Rule, expected: Expected, notation: Notation) -> dict[str, object]:
    """The key that the expectation names, by `key` or by an emitted field of the key."""
    if rule.by is None:
        return {}
    types = dict(zip(rule.by.names, rule.by.types, strict=True))
    given = dict(expected.values)
    emitted = {item.name for item in rule.emit}
    pairs = {name: given[name] for name in types if name in given and name in emitted}
    pairs |= dict(given.get("key", ()))  # type: ignore[call-overload]
    exact = {name: value for name, value in pairs.items() if name in types and not isinstance(value, Near)}
    return {name: notation(value, types[name]) for name, value in exact.items()}


def _under(wanted: dict[str, object], happenings: Sequence[Happening]) -> list[Happening]:
    """Those under the wanted key; all, where none is."""
    found = [h for h in happenings if wanted.items() <= dict(h.key).items()]
    return found or list(happenings)


def _runs(rule: Rule, wanted: dict[str, object], story: Story) -> list[list[Happening]]:
    runs: dict[object, list[Happening]] = {}
    for happening in _under(wanted, [h for h in story if h.rule == rule.name and h.run is not None]):
        runs.setdefault(happening.of, []).append(happening)
    return list(runs.values())


def _progress(run: Sequence[Happening], expected: Expected) -> tuple[int, ...]:
    taken = max((h.taken for h in run), key=len)
    at_its_time = any(h.time == expected.at for h in run)
    gave_none = all(h.kind != "matched" for h in run)  # one that matched has given its alert
    steps = len({step for step, _ in taken})
    return gave_none, steps, len(taken), at_its_time, -run[0].time, -(run[0].run or 0)


def _of_run(rule: Rule, run: Sequence[Happening], result: Result, notation: Notation) -> Iterator[str]:
    assert isinstance(rule.body, Match)
    taken = max((h.taken for h in run), key=len)
    steps: dict[str, list[Arrival]] = {}
    for step, arrival in taken:
        steps.setdefault(step, []).append(arrival)
    events = ", ".join(f"{step} ({ids_of(arrivals)})" for step, arrivals in steps.items())
    begun = clock(taken[0][1].time, notation)
    yield f"nearest: {_run_of(rule, run[0])} began at {begun} and took {events}"
    after = [h for h in run if len(h.taken) == len(taken) and h.kind not in ("began", "took")]
    tries = [h for h in after if h.kind == "tried" and isinstance(h.node, Step)]
    waited = list(dict.fromkeys(h.node.name for h in tries if isinstance(h.node, Step)))
    for name in waited:
        of_step = [h for h in tries if isinstance(h.node, Step) and h.node.name == name]
        yield from _failed(max(of_step, key=_closeness), notation)
    ends = [h for h in after if h.kind != "tried"]
    for end in ends:
        yield from _end(rule.body, end, result, notation)
    if not tries and not ends:
        yield "  nothing came after that"


def _of_none(
    rule: Rule, tries: Sequence[Happening], expected: Expected, result: Result, notation: Notation
) -> Iterator[str]:
    single = isinstance(rule.body, On | Over)
    head = f"nearest: no event satisfied {rule.name}" if single else f"nearest: no run of {rule.name} began"
    if tries:
        yield head
        yield from _failed(max(tries, key=lambda h: (h.time == expected.at, *_closeness(h))), notation)
        return
    streams = rule.body.streams if isinstance(rule.body, Match) else (rule.body.stream,)
    came = [arrival for arrival in result.timeline.arrivals() if arrival.stream in streams]
    late = [arrival for arrival in came if arrival.late or arrival.ahead]
    keyless = [arrival for arrival in came if not isinstance(rule.body, On) and _without_key(rule, arrival)]
    streams_named = " or ".join(f"`{name}`" for name in streams)
    if keyless and len(keyless) + len(late) >= len(came):
        of = " or ".join(f"`{name}`" for name in (rule.by.names if rule.by else ()))
        yield f"{head}: {named(keyless[0])} has no {of}, and an event with a null in its key meets no rule"
    elif late and len(late) == len(came):
        yield f"{head}: {named(late[0])} {'is too far ahead of the clock' if late[0].ahead else 'came late'}"
    elif came:
        yield "nearest: every event that could raise it has given an alert"
    else:
        yield f"{head}: the test gives no event of {streams_named}"


def _without_key(rule: Rule, arrival: Arrival) -> bool:
    return rule.by is not None and any(
        _at(arrival.values, path) is None for path in rule.by.of(arrival.stream)
    )


def _at(values: object, path: Path) -> object:
    for name in path:
        values = values.get(name) if isinstance(values, Mapping) else None
    return values


def _failed(tried: Happening, notation: Notation) -> Iterator[str]:
    """An event that did not satisfy a condition, and the condition with its values."""
    assert tried.event is not None
    assert tried.node is not None
    what = f"is not `{tried.node.name}`" if isinstance(tried.node, Step) else "does not satisfy it"
    if isinstance(tried.node, Over):
        what = "is not taken into a window"
    if tried.failed == "absence":
        what += ", as something had come that was to be absent before it"
    if tried.failed == "until":
        what += ", as it satisfies the `until` of the loop"
    yield f"  at {clock(tried.time, notation)} {named(tried.event)} {what}:"
    yield from _drawing(tried, notation)


def _drawing(seen: Happening, notation: Notation) -> Iterator[str]:
    assert seen.node is not None
    condition = seen.node.condition
    if condition is None or seen.value is None:
        return
    for line in drawn(seen.node.span, operands(condition, seen.value, notation)):
        yield f"    {line}"


def _closeness(tried: Happening) -> tuple[int, int]:
    """The number of parts of the condition that were true, the later of equals."""
    condition = None if tried.node is None else tried.node.condition
    if condition is None or tried.value is None:
        return 0, tried.time
    return sum(tried.value(part) is True for part in conjuncts(condition)), tried.time


def _end(body: Match, end: Happening, result: Result, notation: Notation) -> Iterator[str]:
    """The end of the run in words, or that it is still live."""
    at = clock(end.time, notation)
    event = "" if end.event is None else named(end.event)
    match end.kind:
        case "prevented" if isinstance(end.node, Guard):
            yield f"  at {at} {event} ended it: there was to be no `{end.node.span.text}`"
            yield from _drawing(end, notation)
        case "broken" if isinstance(end.node, Step):
            yield f"  at {at} {event} ended it: the next event had to be `{end.node.name}`"
        case "expired" | "timed out":
            length = "" if end.bound != "within" or body.within is None else f" {span_of_time(body.within)}"
            yield f"  at {at} its `{end.bound}{length}` was over"
        case "skipped":
            yield f"  at {at} the match of run {end.by} ended it (`skip`)"
        case "dropped":
            yield f"  at {at} it was dropped: `limit {body.limit} runs`"
        case "gave up":
            yield f"  at {at} it gave up the least preferred of too many ways to go on"
        case "stopped" if isinstance(end.node, Guard):
            yield f"  at {at} {event} ended the loop: it is `{end.node.span.text}`"
            yield from _drawing(end, notation)
        case "refused" if body.having is not None and end.value is not None:
            yield f"  at {at} it came to no match, as its `having` was not true:"
            for line in drawn(body.having.span, operands(body.having, end.value, notation)):
                yield f"    {line}"
        case "passed" if isinstance(end.node, Guard):
            yield f"  at {at} its time without `{end.node.span.text}` was over"
        case "matched":
            yield f"  at {at} it came to a match, whose alert stands above"
        case "waiting":
            waits = " and ".join(f"`{name}`" for name in end.waits) or "its end"
            until = "" if end.until is None else f" until {clock(end.until, notation)}"
            moments = result.timeline.moments
            over = clock(moments[-1].watermark, notation) if moments else "its beginning"
            yield f"  the test ends at {over}, and it still waits for {waits}{until}"


def _run_of(rule: Rule, happening: Happening) -> str:
    key = ", ".join(f"{name} {written(value)}" for name, value in happening.key)
    return f"run {happening.run} of {rule.name}" + (f" for {key}" if key else "")
