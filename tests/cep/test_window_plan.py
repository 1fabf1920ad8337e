"""The plan of a window: what its state is made of, what a deploy leaves alone, `having` asked by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.expressions.columns import Columns
from cep.expressions.conditions import identity
from cep.expressions.held import held
from cep.operators.windows.compile.readings import Accumulator, Reading, aggregates_in
from cep.operators.windows.compile.shapes import Newest, Panes, Sessions, Shape
from cep.operators.windows.compile.window_plan import WindowPlan, window_plan
from cep.reference import decided
from cep.reference.alternatives import Event
from cep.reference.windows.aggregates import Surroundings, aggregate
from cep.reference.windows.views import Evaluation, evaluations
from rules.packs import load_texts
from rules.typed import Over, Pack, WindowAggregate

SECOND = 10**9
DAY = 86_400 * SECOND
HEADER = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long?  w: double?  tags: list<string>  id id_  time at }
"""


def pack_of(body: str) -> Pack:
    return load_texts([("p.rules", f"{HEADER}rule r {{ by k  over e{body} }}")]).need()


def plan_of(body: str) -> WindowPlan:
    pack = pack_of(body)
    (rule,) = pack.rules
    assert isinstance(rule.body, Over)
    return window_plan(pack, rule, rule.body)


@pytest.mark.parametrize(
    ("window", "shape"),
    [
        ("tumbling 10s", Panes(10 * SECOND, 1, 0, None, False, 0)),
        ("hopping 10s every 5s early", Panes(5 * SECOND, 2, 0, None, True, 0)),
        ('tumbling 1w zone "Asia/Tokyo"', Panes(7 * DAY, 1, 4 * DAY, "Asia/Tokyo", False, 0)),
        ('hopping 1w every 1d zone "UTC"', Panes(DAY, 7, 0, "UTC", False, 0)),
        ("session gap 5s max 1m early", Sessions(5 * SECOND, 60 * SECOND, True, 0)),
        ("sliding 10s limit 7 events", Newest(10 * SECOND, None, 0, 7)),
        ("last 3 events", Newest(None, 3, 0, 100_000)),
        ("last 3 events within 1m", Newest(60 * SECOND, 3, 0, 100_000)),
    ],
)
def test_a_window_has_its_shape(window: str, shape: Shape) -> None:
    assert plan_of(f" {window} having count() > 1").shape == shape


@pytest.mark.parametrize(
    ("window", "named", "back"),
    [
        ("tumbling 10s", "previous(count(), 3)", 3),
        ("tumbling 10s", "ago(count(), 1m) + previous(count())", 6),
        ("hopping 10s every 5s", "previous(count(), 2)", 4),
        ("hopping 10s every 5s", "ago(count(), 15s)", 3),
        ("session gap 5s", "previous(count(), 4)", 4),
        ("sliding 10s", "previous(count(), 2) + ago(count(), 3s)", 20 * SECOND),
        ("sliding 10s", "ago(count(), 1h)", 3600 * SECOND),
        ("last 3 events", "previous(count(), 2)", 6),
    ],
)
def test_it_is_known_how_far_a_rule_looks_back(window: str, named: str, back: int) -> None:
    assert plan_of(f" {window} having count() > 1 emit x = {named}").shape.back == back


def test_what_is_kept_is_kept_once() -> None:
    found = plan_of(
        " sliding 1m having avg(v) > 2 and stddev(v) > sum(v) emit n = count(), a = previous(avg(v))"
    )
    assert sorted((a.kind, a.argument) for a in found.readings.accumulators if a.argument is not None) == [
        ("squares", 0),
        ("sum", 0),
    ]
    assert Accumulator("count", None) in found.readings.accumulators
    kept = {
        r.function + r.which: [found.readings.accumulators[n].kind for n in r.accumulators]
        for r in found.readings.readings
    }
    assert kept == {
        "avgthis": ["sum"],
        "avgprevious": ["sum"],
        "stddevthis": ["sum", "squares"],
        "sumthis": ["sum"],
        "countthis": ["count"],
    }


def test_arguments_are_columns_and_lists_are_fields() -> None:
    found = plan_of(
        " [v > 1] tumbling 1m having count(v > 2) > 1 and percentile(v * 2, 0.5) > 1"
        " emit t = last(tags), m = start()"
    )
    assert [c["e"].span.text for c in found.needs.columns] == ["v > 2", "v * 2"]
    assert found.needs.fields == {"e": (("tags",),)}
    (condition,) = found.needs.conditions
    assert condition["e"] is not None
    assert condition["e"].span.text == "v > 1"
    assert Reading("start", (), None, "this", 0) in found.readings.readings


PARTS = {
    "filter": ("", "[v > 1]", "[v > 2]"),
    "window": ("tumbling 10s", "tumbling 20s", "sliding 10s", "session gap 9s", "session gap 9s max 1m"),
    "having": ("count() > 1", "count() > 2", "sum(v + 1) > 1", "sum(v + 2) > 1", "previous(avg(v)) > 1"),
    "emit": ("n = count()", "n = 2 * count(), k", "n = max(v)", "x = max(v), n = count()"),
    "limit": ("", "limit 9 events"),
}
RULES = st.fixed_dictionaries({name: st.sampled_from(of) for name, of in PARTS.items()})


def written(parts: dict[str, str]) -> str:
    limit = parts["limit"] if parts["window"].startswith("sliding") else ""
    return f"{parts['filter']} {parts['window']} having {parts['having']} emit {parts['emit']} {limit}"


@settings(max_examples=examples(200), deadline=None)
@given(RULES, st.sampled_from(sorted(PARTS)), RULES)
def test_rules_of_one_structure_keep_the_same(one: dict[str, str], part: str, drawn: dict[str, str]) -> None:
    first, second = (plan_of(written(parts)) for parts in (one, {**one, part: drawn[part]}))
    same = first.rule.structure == second.rule.structure
    if same:
        assert kept(first) == kept(second)
    if part in ("filter", "window", "limit"):
        assert same == (written(one) == written({**one, part: drawn[part]}))


def kept(plan: WindowPlan) -> tuple[object, ...]:
    """What a rule's state depends on."""
    condition = plan.needs.conditions[0]["e"]
    chosen = None if condition is None else identity(condition)
    return plan.shape, plan.readings.names, plan.readings.accumulators, chosen


def table_of(plan: WindowPlan, body: Over, given: Sequence[tuple[tuple[Any, ...], Evaluation]]) -> pa.Table:
    """The readings of evaluations of keys, as the reference computes them, and the keys."""
    refs: dict[int, WindowAggregate] = {}
    for ref in aggregates_in(body.having, *plan.rule.emit):
        refs.setdefault(plan.readings.number(ref), ref)
    found: dict[str, list[object]] = {f"@{n}": [] for n in refs} | {"@by k": []}
    for key, one in given:
        found["@by k"].append(key[0])
        for number, ref in refs.items():
            view = one.view if ref.which == "this" else one.earlier(ref)
            known = view is not None and (ref.which == "this" or view.start >= 0)
            value = (
                aggregate(ref, view, body.window, Surroundings("e")) if known and view is not None else None
            )
            found[f"@{number}"].append(value)
    types = {f"@{n}": held(ref.type) for n, ref in refs.items()} | {"@by k": pa.string()}
    return pa.table({name: pa.array(values, types[name]) for name, values in found.items()})


HAVING = (
    'count() > 1 and (k == "a" or sum(w) / count() > 2.0)',
    "avg(v) > 3 * previous(avg(v)) or previous(count()) is null",
    "stddev(w) > 0.5 and last(v) in (1, 2) and end() - start() >= 3s",
    "max(v) > 1 ? count(v > 1) == 1 : previous(count(), 2) == 0",
)


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.sampled_from("ab"), st.sampled_from((0, 1, 2, None))), max_size=12
    ),
    st.sampled_from(("tumbling 5s", "hopping 6s every 2s", "session gap 3s")),
    st.sampled_from(HAVING),
)
def test_having_is_asked_by_column(
    given: list[tuple[int, str, int | None]], window: str, having: str
) -> None:
    body = f" {window} having {having} emit n = count()"
    pack, plan = pack_of(body), plan_of(body)
    rows = [
        {"id_": str(n), "at": at * SECOND, "k": k, "v": v, "w": None if v is None else v / 2, "tags": ()}
        for n, (at, k, v) in enumerate([(0, "z", 0), *given])
    ]
    over = pack.rules[0].body
    assert isinstance(over, Over)
    events = [Event("e", str(row["id_"]), int(str(row["at"])), row, n) for n, row in enumerate(rows)]
    events.sort(key=lambda event: (event.time, event.place))
    asked = [
        ((key,), one)
        for key in "abz"
        for one in evaluations(over, [event for event in events if event.values["k"] == key])
    ]
    truth = Columns(table_of(plan, over, asked)).truth(plan.having).to_pylist()
    by_column = {
        (key[0], one.view.start, one.view.end) for (key, one), true in zip(asked, truth, strict=True) if true
    }
    alerts = decided(pack, [("e", str(row["id_"]), row) for row in rows])
    assert by_column == {(dict(a.key)["k"], *(a.window or ())[:2]) for a in alerts}
