"""Windows over batches are evaluated as by the reference, and what is kept depends on the events alone."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.reference.alternatives import Event
from tests.windows.window_batches import LEAST, SECOND, Rule, Run, by_reference, events_of, pack_of

HOUR = 3600 * SECOND
WINDOWS = {
    "sliding 3s": ("", " limit 9 events", " limit 3 events"),
    "last 1 events": ("",),
    "last 3 events": ("", " limit 9 events"),
    "last 3 events within 4s": ("",),
    "tumbling 2s": ("",),
    "tumbling 3s early": ("",),
    "hopping 4s every 2s": ("",),
    "hopping 6s every 2s early": ("",),
    "session gap 2s": ("",),
    "session gap 2s early": ("",),
    "session gap 3s max 5s": ("",),
    "session gap 3s max 5s early": ("",),
}
AGO = {
    "tumbling 2s": "4s",
    "hopping 4s every 2s": "2s",
    "hopping 6s every 2s early": "2s",
    "sliding 3s": "1s",
}
OF_SUMS = tuple(f"{name}({field})" for name in ("sum", "avg", "stddev") for field in "vwd")
OF_ONE = tuple(f"{name}({field})" for name in ("min", "max", "first", "last") for field in "svwdm")
WHOLE = ("first(b)", "last(b)", "first(tags)", "last(tags)", "count()", "count(b)", "count(v > 0)", "rate()")
ALL_VALUES = (
    *(f"distinct({field})" for field in "svwdbm"),
    *(f"percentile({field}, {part})" for field in "vwd" for part in ("0.5", "0.99", "0.0", "1.0")),
)
HAVING = (
    *("count() > 1", "count() > 0", "count() > previous(count())", "sum(v) > 2", "avg(w) < 1.0"),
    *('max(s) == "b"', "last(v) == 1", "previous(count()) is null"),
)


@st.composite
def bodies(draw: st.DrawFn, windows: Sequence[str] = tuple(WINDOWS)) -> str:
    """The body of a rule, but for its stream."""
    window = draw(st.sampled_from(windows))
    folded = st.sampled_from((*OF_SUMS, *OF_ONE, *WHOLE))
    aggregates = draw(st.sampled_from((folded, folded | st.sampled_from(ALL_VALUES))))
    forms = ["{}", "{}", "previous({})", "previous({}, 2)"]
    forms += [f"ago({{}}, {AGO[window]})"] if window in AGO else []
    named = st.tuples(st.sampled_from(forms), aggregates).map(lambda pair: pair[0].format(pair[1]))
    shown = draw(st.lists(named | st.sampled_from(("start()", "end()")), min_size=1, max_size=5, unique=True))
    limit = draw(st.sampled_from(WINDOWS[window]))
    emits = ", ".join(f"x{n} = {call}" for n, call in enumerate(shown))
    return f"{window} having {draw(st.sampled_from(HAVING))} emit {emits}{limit}"


VALUES = {
    "k": st.sampled_from("aabc"),
    "s": st.sampled_from((None, "", "a", "b", "é", "zz")),
    "v": st.sampled_from((None, 0, 1, 1, 2, -3, 2**63 - 1, -(2**63))),
    "w": st.sampled_from((None, 0.0, -0.0, 0.1, 0.2, 1.5, 1e16, 1e308, -1e308, 5e-324)),
    "d": st.sampled_from((None, *map(Decimal, ("1.0", "1.00", "-0.3", "99999999999999999999")))),
    "b": st.sampled_from((None, True, False)),
    "m": st.sampled_from((None, 5, 9)),
}
STEPS = st.sampled_from((0, 0, 1, 1, 2, 3, 4, 9))


@st.composite
def streams(draw: st.DrawFn, unit: int) -> tuple[list[Event], int]:
    """Events in order of time, and a watermark at the end or after it."""
    rows, time = [], draw(st.integers(-9, 9)) * unit
    for step in draw(st.lists(STEPS, min_size=1, max_size=30)):
        time += step * unit
        values = draw(st.fixed_dictionaries(VALUES))
        rows.append((time, {**values, "tags": (f"tag {len(rows)}",)}))
    return events_of(rows), time + draw(st.sampled_from((0, 3, 30))) * unit


def marks(draw: st.DataObject, until: int, events: Sequence[Event], unit: int) -> list[int]:
    """Watermarks of batches, the last as given."""
    first = events[0].time // unit
    drawn = draw.draw(st.lists(st.tuples(st.integers(first, until // unit), st.sampled_from((0, 1, -1)))))
    return sorted({until, *(min(at * unit + off, until) for at, off in drawn)})


def run_of(
    rule: Rule,
    events: Sequence[Event],
    cuts: Sequence[int],
    compiled: bool = False,
    since: int = LEAST,
    closing: int | None = None,
) -> Run:
    """The rule over batches that end at these watermarks; `closing` holds from the batch that reaches it."""
    run, before = Run(rule, events[0].time, compiled, since), events[0].time - 1
    for mark in cuts:
        run.closing = closing if closing is not None and mark >= closing else None
        run.batch([event for event in events if before < event.time <= mark], mark)
        before = max(mark, before)
    return run


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True])
@settings(max_examples=examples(100), deadline=None)
@given(bodies(), streams(SECOND // 2), st.data())
def test_windows_through_batches_are_those_of_the_reference(
    compiled: bool, body: str, stream: tuple[list[Event], int], data: st.DataObject
) -> None:
    rule, (events, until) = Rule(pack_of(body)), stream
    found = run_of(rule, events, marks(data, until, events, SECOND // 2), compiled)
    assert found.told() == by_reference(rule, events, events[0].time, until)
    whole = run_of(rule, events, [until])
    assert found.state.same() == whole.state.same()
    assert found.lost == whole.lost


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(
    st.sampled_from(("Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "UTC", "Pacific/Apia")),
    st.sampled_from(
        ("tumbling 1d", "tumbling 2d", "hopping 3d every 1d", "tumbling 1w", "hopping 2d every 1d early")
    ),
    st.sampled_from((0, 1_000_000_000, 1_325_100_000, 1_540_500_000, -500_000_000)),
    st.data(),
)
def test_days_are_those_of_a_zone(zone: str, window: str, begin: int, data: st.DataObject) -> None:
    length, _, _ = window.partition(" early")
    body = f'{length} zone "{zone}"{" early" if window.endswith("early") else ""}'
    rule = Rule(pack_of(f"{body} having count() > 1 emit a = previous(count()), b = ago(sum(v), 14 days)"))
    events, until = data.draw(streams(7 * HOUR))
    moved = events_of(
        [(e.time + begin * SECOND, {n: e.values[n] for n in (*VALUES, "tags")}) for e in events]
    )
    until += begin * SECOND
    found = run_of(rule, moved, marks(data, until, moved, 7 * HOUR))
    assert found.told() == by_reference(rule, moved, moved[0].time, until)
    assert found.state.same() == run_of(rule, moved, [until]).state.same()


TOLD_TWICE = ("tumbling 2s", "hopping 4s every 2s", "hopping 6s every 2s early", "session gap 3s max 5s")


@settings(max_examples=examples(60), deadline=None)
@given(
    bodies(TOLD_TWICE),
    streams(SECOND // 2),
    st.integers(0, 20),
    st.data(),
)
def test_a_rule_that_is_replaced_ends_what_it_began(
    body: str, stream: tuple[list[Event], int], when: int, data: st.DataObject
) -> None:
    rule, (events, until) = Rule(pack_of(body)), stream
    closing = events[0].time + when * SECOND // 2
    cuts = sorted({*marks(data, until, events, SECOND // 2), min(closing - 1, until)})
    found = run_of(rule, events, cuts, closing=closing)
    whole = by_reference(rule, events, events[0].time, until)
    assert found.told() == [one for one in whole if one.start < closing]
    if until > closing + 20 * SECOND:
        assert not len(found.state.rows.heads)


@settings(max_examples=examples(60), deadline=None)
@given(
    bodies(TOLD_TWICE[:3]),
    streams(SECOND // 2),
    st.integers(-9, 9),
    st.data(),
)
def test_windows_that_began_before_a_deploy_are_not_of_the_new_rule(
    body: str, stream: tuple[list[Event], int], when: int, data: st.DataObject
) -> None:
    rule, (events, until) = Rule(pack_of(body)), stream
    since = events[0].time + when * SECOND // 2
    found = run_of(rule, events, marks(data, until, events, SECOND // 2), since=since)
    whole = by_reference(rule, events, events[0].time, until)
    assert found.told() == [one for one in whole if one.start >= since]
    assert found.state.same() == run_of(rule, events, [until], since=since).state.same()


def test_a_key_that_is_done_leaves_nothing() -> None:
    rows = [(n * SECOND, {"k": "a", "v": n, "w": 0.5, "s": "x"}) for n in range(5)]
    for window in (
        "sliding 3s",
        "last 3 events within 4s",
        "tumbling 2s",
        "hopping 4s every 2s early",
        "session gap 2s",
    ):
        rule = Rule(pack_of(f"{window} having count() > 0 emit a = sum(v), b = first(s), c = distinct(w)"))
        events = events_of([(time, {**dict.fromkeys(VALUES), **values}) for time, values in rows])
        run = run_of(rule, events, [5 * SECOND])
        (due,) = run.state.rows.due(1).tolist()
        run.batch([], due - 1)
        assert run.state.keys == ("a",)
        while run.state.keys:
            (due,) = run.state.rows.due(1).tolist()
            run.batch([], due)
        assert due <= 10 * SECOND
        assert run.state.same() == ((), (), [], [], [])
