"""Windows: what the typed pack says of them, and what belongs elsewhere."""

from __future__ import annotations

import pytest
from writing import loaded, reported

from rules import typed
from rules.types import Scalar

SECOND = 10**9
DAY = 86400 * SECOND


def over(text: str) -> typed.Rule:
    """The rule over payments by card with that window."""
    return loaded(f"rule r {{ by card_id  over payment[n > 1] {text} }}").need().rules[0]


def having(text: str) -> typed.Expression:
    """The left side of a comparison after `having`."""
    body = over(f"tumbling 1 hour having {text} > 0").body
    assert isinstance(body, typed.Over)
    assert isinstance(body.having, typed.Compare)
    left = body.having.left
    return left.operand if isinstance(left, typed.Convert) else left


@pytest.mark.parametrize(
    ("written", "window"),
    [
        ("tumbling 5m", typed.Tumbling(300 * SECOND)),
        ("hopping 1 hour every 5 minutes", typed.Hopping(3600 * SECOND, 300 * SECOND)),
        ("hopping 5m every 5m", typed.Hopping(300 * SECOND, 300 * SECOND)),
        ("sliding 250ms", typed.Sliding(SECOND // 4)),
        ("session gap 30s", typed.Session(30 * SECOND)),
        ("last 1_000 events", typed.LastEvents(1000)),
        ("last 9 events within 5m", typed.LastEvents(9, 300 * SECOND)),
        ("session gap 30s max 1h", typed.Session(30 * SECOND, 3600 * SECOND)),
        ("session gap 30s early max 1h", typed.Session(30 * SECOND, 3600 * SECOND, early=True)),
        ("tumbling 1h early", typed.Tumbling(3600 * SECOND, early=True)),
        ('tumbling 2 days zone "Europe/Berlin"', typed.Tumbling(2 * DAY, "Europe/Berlin")),
        (
            'hopping 1w every 1d early zone "Asia/Tokyo"',
            typed.Hopping(7 * DAY, DAY, "Asia/Tokyo", early=True),
        ),
    ],
)
def test_a_window_has_its_size(written: str, window: typed.Window) -> None:
    body = over(f"{written} having count() > 1").body
    assert isinstance(body, typed.Over)
    assert (body.stream, body.window) == ("payment", window)
    assert isinstance(body.condition, typed.Compare)


@pytest.mark.parametrize(
    ("call", "function", "argument", "parameter", "type_"),
    [
        ("count()", "count", None, None, Scalar.LONG),
        ('count(kind == "x")', "count", 'kind == "x"', None, Scalar.LONG),
        ("rate()", "rate", None, None, Scalar.DOUBLE),
        ("sum(n)", "sum", "n", None, Scalar.LONG),
        ("sum(it.n)", "sum", "it.n", None, Scalar.LONG),
        ("sum(amount)", "sum", "amount", None, Scalar.DOUBLE),
        ('sum(kind == "fee" ? amount : null)', "sum", 'kind == "fee" ? amount : null', None, Scalar.DOUBLE),
        ("avg(n)", "avg", "n", None, Scalar.DOUBLE),
        ("avg(2 * n + 1)", "avg", "2 * n + 1", None, Scalar.DOUBLE),
        ("stddev((n))", "stddev", "n", None, Scalar.DOUBLE),
        ("distinct(flag)", "distinct", "flag", None, Scalar.LONG),
        ("percentile(n, 0.5)", "percentile", "n", 0.5, Scalar.DOUBLE),
        ("last(n)", "last", "n", None, Scalar.LONG),
    ],
)
def test_a_call_has_the_type_of_its_aggregate(
    call: str, function: str, argument: str | None, parameter: float | None, type_: Scalar
) -> None:
    found = having(call)
    assert isinstance(found, typed.WindowAggregate)
    taken = None if found.argument is None else found.argument.span.text
    assert (found.function, taken, found.parameter, found.type) == (function, argument, parameter, type_)
    assert (found.which, found.offset) == ("this", 0)


def test_the_bounds_of_a_window_are_instants() -> None:
    rule = over('tumbling 1h having end() - start() >= 1h and start() > "2024-01-01T00:00Z"')
    assert isinstance(rule.body, typed.Over)
    found = [n for n in typed.walk(rule.body.having) if isinstance(n, typed.WindowAggregate)]
    assert [(n.function, n.type) for n in found] == [
        ("end", Scalar.TIMESTAMP), ("start", Scalar.TIMESTAMP), ("start", Scalar.TIMESTAMP),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("clause", "limit"), [("", 100_000), ("limit 5 events", 5), ("limit 1_000_000 events", 1_000_000)]
)
def test_a_key_keeps_so_many_events(clause: str, limit: int) -> None:
    body = over(f"sliding 5m having count() > 1 {clause}").body
    assert isinstance(body, typed.Over)
    assert body.limit == limit


@pytest.mark.parametrize(
    ("call", "which", "offset"),
    [
        ("previous(avg(n))", "previous", 1),
        ("previous((avg(n)), 3)", "previous", 3),
        ("ago(avg(n), 7 days)", "ago", 7 * 86400 * SECOND),
        ("ago(avg(n), 2 * 1 hour)", "ago", 7200 * SECOND),
    ],
)
def test_earlier_windows_are_named_by_how_far_back(call: str, which: str, offset: int) -> None:
    found = having(call)
    assert isinstance(found, typed.WindowAggregate)
    assert isinstance(found.argument, typed.FieldRef)
    assert (found.function, found.argument.path, found.which, found.offset) == ("avg", ("n",), which, offset)
    assert found.span.text == call


def test_fields_of_the_key_may_be_named_with_a_window() -> None:
    rule = over('sliding 5m having card_id != "c1" and count() > 1 emit card_id, top = first(kind)')
    assert [(e.name, type(e.value), e.value.type) for e in rule.emit] == [
        ("card_id", typed.KeyRef, Scalar.STRING),
        ("top", typed.WindowAggregate, Scalar.STRING),
    ]


ELSEWHERE = {
    "rule r { by card_id  over payment[count() > 5] sliding 5m  having true }": [
        (
            "CEP0419",
            "count",
            "`count` is about the whole window, so it cannot choose the window's events",
            "put it after `having`",
        )
    ],
    "rule r { by card_id  over payment[last(amount) > 5] sliding 5m  having true }": [
        (
            "CEP0419",
            "last",
            "`last` is about the whole window, so it cannot choose the window's events",
            "put it after `having`",
        )
    ],
    "rule r { by card_id  over payment[prev(amount) > 5] sliding 5m  having true }": [
        (
            "CEP0424",
            "prev",
            "`prev` belongs to patterns",
            "`previous(avg(field))` is that of the window before, `last(field)` the newest event's",
        )
    ],
    "rule r { on payment[rate() > 5] }": [
        (
            "CEP0423",
            "rate",
            "`rate` belongs to windows",
            "`over STREAM[...] sliding 5 minutes having ...` evaluates a window",
        )
    ],
    "rule r { on payment[avg(amount) > 5] }": [
        (
            "CEP0225",
            "avg",
            "`avg` needs the steps of a pattern, or a window",
            "several events are seen by `match a: STREAM{3}` and `over STREAM sliding 5 minutes`",
        )
    ],
    "rule r { by card_id  match a: payment{2} -> b: payment[previous(count(a)) > 5]  within 1h }": [
        (
            "CEP0423",
            "previous",
            "`previous` belongs to windows",
            "`over STREAM[...] sliding 5 minutes having ...` evaluates a window",
        )
    ],
    "rule r { on payment  having count() > 1 }": [
        (
            "CEP0414",
            "having",
            "`having` belongs to a pattern or a window",
            "several events are a pattern: `match a: payment{2}  within 5 minutes`",
        )
    ],
    "rule r { by card_id  match a: payment{2}  within 1h  limit 5 events }": [
        ("CEP0427", "limit 5 events", "a pattern keeps runs, not events", "write `limit 5 runs`")
    ],
    "rule r { by card_id  over payment sliding 5m  having true  limit 5 }": [
        (
            "CEP0101",
            "}",
            "expected `runs`, or of a window `events`",
            "`limit 50 runs` bounds what waits under one key",
        )
    ],
    "rule r { by card_id  over payment sliding 5m  having true  match payment }": [
        ("CEP0113", "match", "rule `r` has two bodies", "make two rules of it")
    ],
}


@pytest.mark.parametrize("text", ELSEWHERE)
def test_what_belongs_elsewhere_is_reported(text: str) -> None:
    assert reported(text) == ELSEWHERE[text]
