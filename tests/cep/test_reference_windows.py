"""What cases cannot say of windows: deploys, estimates, ids, and laws that hold whatever events come."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from duel import as_alert
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.identity import alert_id
from cep.events import MAX_TIME, MIN_TIME
from cep.reference import Decided, decided
from cep.reference.alternatives import Event
from cep.reference.windows.aggregates import EXACT_VALUES, Surroundings
from cep.reference.windows.judged import Revision, judged
from rules.packs import load_texts
from rules.typed import Pack, WindowAggregate

SECOND = 10**9
HEADER = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long?  w: double?  id id_  time at }
"""
Given = Sequence[tuple[float, str, int]]
"""Seconds, key and value of events in order of arrival."""


def pack_of(rules: str) -> Pack:
    return load_texts([("p.rules", HEADER + rules)]).need()


def rows(given: Given) -> list[tuple[str, str, dict[str, object]]]:
    return [
        ("e", str(n), {"id_": str(n), "at": round(at * SECOND), "k": k, "v": v, "w": v / 10})
        for n, (at, k, v) in enumerate(given)
    ]


def raised(body: str, given: Given, until: int = MAX_TIME) -> list[Decided]:
    return decided(pack_of(f"rule r {{ by k  over e {body} }}"), rows(given), until)


def seen(alerts: Sequence[Decided]) -> list[tuple[object, ...]]:
    """Key, time, values and events of alerts, the rules' names left out."""
    return sorted((a.key, a.time, a.emit, a.events) for a in alerts)


EVENTS = st.lists(
    st.tuples(
        st.sampled_from((0, 0.5, 1, 2, 2, 3, 4.5, 5, 7, 9, 9.999, 10, 12, 19, 20, 31)),
        st.sampled_from("aab"),
        st.sampled_from((0, 1, 1, 2, 3, -1)),
    ),
    max_size=12,
)
EMIT = "emit n = count(), s = sum(w), sd = stddev(w), a = start(), b = end(), p = previous(count())"
LAWS = {
    "tumbling 5s": "hopping 5s every 5s",
    "tumbling 5s early": "hopping 5s every 5s early",
    'tumbling 2d zone "UTC"': "tumbling 2d",
    'hopping 2w every 1w zone "UTC"': "hopping 2w every 1w",
    "session gap 3s": "session gap 3s max 1h",
    "last 3 events": "last 3 events within 1h",
}


@settings(max_examples=examples(40), deadline=None)
@given(EVENTS, st.sampled_from(sorted(LAWS)), st.sampled_from(("count() > 1", "sum(v) > 2", "last(v) == 1")))
def test_windows_that_are_the_same_raise_the_same(given: Given, window: str, having: str) -> None:
    assert seen(raised(f"{window} having {having} {EMIT}", given)) == seen(
        raised(f"{LAWS[window]} having {having} {EMIT}", given)
    )


WINDOWS = (
    "tumbling 5s",
    "hopping 6s every 2s",
    "sliding 5s",
    "session gap 3s max 8s",
    "last 3 events within 9s",
)


@settings(max_examples=examples(40), deadline=None)
@given(EVENTS, st.sampled_from(WINDOWS), st.sampled_from(WINDOWS[:3]), st.randoms(use_true_random=False))
def test_the_order_of_arrival_matters_within_an_instant_only(
    given: Given, window: str, aligned: str, chance: random.Random
) -> None:
    once = list({at: one for one in given for at in one[:1]}.values())
    shuffled = chance.sample(once, len(once))
    for body in (f"{window} having count() > 0 {EMIT}", f"{aligned} having previous(sum(w)) > 0 {EMIT}"):
        ordered, other = (
            [(a.key, a.time, a.emit) for a in raised(body, events)] for events in (once, shuffled)
        )
        assert ordered == other


@settings(max_examples=examples(40), deadline=None)
@given(EVENTS, st.sampled_from(WINDOWS), st.sampled_from((1, 2, 5, 9, 10, 20, 30)))
def test_what_is_decided_stays_decided(given: Given, window: str, until: int) -> None:
    body = f"{window} having count() > 1 {EMIT}"
    early, late = raised(body, given, until * SECOND), raised(body, given)
    assert [a for a in late if a.time <= until * SECOND] == early


@settings(max_examples=examples(40), deadline=None)
@given(EVENTS, st.sampled_from(("tumbling 5s", "hopping 6s every 2s", "session gap 3s")))
def test_early_raises_what_the_end_would(given: Given, window: str) -> None:
    body = "having count() > 1 emit s = start()"
    at_end, at_once = raised(f"{window} {body}", given), raised(f"{window} early {body}", given)
    assert sorted((a.key, a.emit) for a in at_end) == sorted((a.key, a.emit) for a in at_once)
    assert all(len(a.events[0][1]) == 2 for a in at_once)


def deployed(
    texts: Sequence[str | None], given: Sequence[tuple[float, str, int, int]], marks: Sequence[float]
) -> list[tuple[float, str, dict[str, object]]]:
    """Alerts of a rule whose n-th text is deployed when the watermark stands at the n-th mark (the first
    from the beginning); events say at last under which revision they arrive."""
    events = [
        Event("e", str(n), round(at * SECOND), {"id_": str(n), "at": 0, "k": k, "v": v, "w": v / 10}, n)
        for n, (at, k, v, _) in enumerate(given)
    ]
    revisions = []
    for number, text in enumerate(texts):
        rule = None if text is None else pack_of(f"rule r {{ by k  over e{text} }}").rules[0]
        place = next((n for n, one in enumerate(given) if one[3] >= number), len(given))
        mark = round(marks[number - 1] * SECOND) if number else MIN_TIME
        revisions.append(Revision(rule, mark, place))
    ordered = sorted(events, key=lambda event: (event.time, event.place))
    found = judged(revisions, ordered, MAX_TIME, Surroundings("e"))
    return [(a.time / SECOND, str(dict(a.key)["k"]), dict(a.emit)) for a in found]


OPEN = [(1, "a", 1, 0), (2, "a", 1, 0), (6, "a", 1, 1), (12, "a", 1, 1), (13, "a", 1, 1)]


def test_new_constants_in_having_keep_what_is_open() -> None:
    old, new = (f" tumbling 10s having count() > {n} emit n = count()" for n in (5, 1))
    assert deployed([old, new], OPEN, [2]) == [(10, "a", {"n": 3}), (20, "a", {"n": 2})]
    assert deployed([new, old], OPEN, [2]) == []
    assert deployed([new, old], OPEN, [10]) == [(10, "a", {"n": 3})], "decided before the deploy"


@pytest.mark.parametrize("new", ["[v > 0] tumbling 10s", " tumbling 5s", " hopping 10s every 10s"])
def test_open_windows_of_a_changed_rule_are_the_old_ones(new: str) -> None:
    old = " tumbling 10s having count() > 0 emit n = count(), old = true"
    found = deployed([old, f"{new} having count() > 0 emit n = count(), p = previous(count())"], OPEN, [2])
    length = 5 if "5s" in new else 10
    assert found[0] == (10, "a", {"n": 3, "old": True})
    first = [] if length == 10 else [(10, "a", {"n": 1, "p": None})]
    last = (10 + length, "a", {"n": 2, "p": 1 if length == 5 else None})
    assert found[1:] == [*first, last]


def test_an_open_session_of_a_changed_rule_is_the_old_one() -> None:
    old, new = (f" session gap {gap}s having count() > 0 emit n = count(), g = {gap}" for gap in (5, 6))
    assert deployed([old, new], OPEN, [2]) == [
        (11, "a", {"n": 3, "g": 5}),
        (12, "a", {"n": 1, "g": 6}),
        (19, "a", {"n": 2, "g": 6}),
    ]


@pytest.mark.parametrize("window", ["sliding 10s", "last 2 events"])
def test_windows_of_each_event_begin_anew_unraised(window: str) -> None:
    old = f" {window} having count() > 1 emit n = count()"
    assert deployed([old, old], OPEN, [2]) == [(2, "a", {"n": 2})], "it was true before"
    changed = old.replace("emit n", "emit x = max(v), n")
    assert deployed([old, changed], OPEN, [2]) == [(2, "a", {"n": 2}), (12, "a", {"x": 1, "n": 2})]
    known = f" {window} having last(v) > 0 emit p = previous(count()), m = min(v)"
    assert [emit for _, _, emit in deployed([old, known], OPEN, [2])][1:] == [{"p": None, "m": 1}]


def test_early_windows_stay_raised_over_new_constants() -> None:
    old, new = (f" tumbling 10s early having count() > {n} emit n = count()" for n in (1, 2))
    assert deployed([old, new], OPEN, [2]) == [(2, "a", {"n": 2})]
    assert deployed([new, old], OPEN, [2]) == [(6, "a", {"n": 3}), (13, "a", {"n": 2})]


def test_a_rule_that_is_taken_away_judges_no_more() -> None:
    old = " tumbling 10s having count() > 0 emit n = count()"
    assert deployed([old, None], OPEN, [2]) == []
    assert deployed([old, None], OPEN, [10]) == [(10, "a", {"n": 3})]
    assert deployed([old, None, old], [(*e[:3], 2 * e[3]) for e in OPEN], [2, 3]) == [(20, "a", {"n": 2})]


@pytest.mark.slow
def test_more_values_than_are_looked_at_one_by_one_are_estimates() -> None:
    many = [(0, "a", n) for n in range(EXACT_VALUES + 1)]
    emit = "d = distinct(v), n = count(), few = distinct(v % 2), p = percentile(v, 0.5), e = 2 * distinct(v)"
    body = f"tumbling 10s having count() > 0 emit {emit}"
    (exact,) = raised(body, many[1:])
    assert exact.approximate == ()
    (over,) = raised(body, many)
    assert over.approximate == ("d", "p", "e")
    (rule,) = pack_of(f"rule r {{ by k  over e {body} }}").rules
    events = [Event("e", str(n), 0, row, n) for n, (_, _, row) in enumerate(rows(many))]

    def sketch(ref: WindowAggregate, values: Sequence[object]) -> object:
        assert len(values) == EXACT_VALUES + 1
        return {"distinct": 9, "percentile": 0.5}[ref.function]

    (found,) = judged([Revision(rule)], events, MAX_TIME, Surroundings("e", estimate=sketch))
    assert dict(found.emit) == {"d": 9, "n": EXACT_VALUES + 1, "few": 2, "p": 0.5, "e": 18}


def test_the_id_of_a_window_holds_its_key_its_bounds_and_the_event_at_which_it_was_evaluated() -> None:
    for body, bounds in (
        ("tumbling 10s", ["1970-01-01T00:00:00Z", "1970-01-01T00:00:10Z"]),
        ("tumbling 10s early", ["1970-01-01T00:00:00Z", "1970-01-01T00:00:10Z", "1"]),
        ("sliding 10s", ["1969-12-31T23:59:53.500Z", "1970-01-01T00:00:03.500Z", "1"]),
        ("session gap 2s", ["1970-01-01T00:00:02Z", "1970-01-01T00:00:05.500Z"]),
        ("last 9 events", ["1970-01-01T00:00:02Z", "1970-01-01T00:00:03.500Z", "1"]),
    ):
        pack = pack_of(f"rule r {{ by k  over e {body} having count() > 1 }}")
        (found,) = decided(pack, rows([(2, "a", 1), (3.5, "a", 1)]))
        structure = pack.rules[0].structure
        assert as_alert(pack, found)["id"] == alert_id("p", "r", structure, "window", ["a"], [], None, bounds)


def test_hits_are_events_of_a_window() -> None:
    text = HEADER.replace("k: string", "k: text") + 'queries q { from "q.jsonl" }\n'
    rule = "rule r { by query  over e matching q tumbling 10s  having count() > 1  emit n = count() }"
    loaded = load_texts([("p.rules", text + rule)])
    assert loaded.pack is not None, [d.message for d in loaded.diagnostics]
    pack = loaded.pack

    def hits(_: str, values: object, __: int) -> list[dict[str, object]]:
        assert isinstance(values, dict)
        return [{"query": q, "tags": (), "priority": 0, "names": ()} for q in str(values["k"])]

    found = decided(pack, rows([(1, "xy", 1), (2, "y", 1), (11, "x", 1)]), MAX_TIME, hits=hits)
    assert [(a.key, a.events, a.emit) for a in found] == [
        ((("query", "y"),), (("e", ("0 y", "1 y")),), (("n", 2),))
    ]


def test_text_searches_choose_and_are_counted() -> None:
    text = HEADER.replace("k: string", "k: text")
    rule = 'over e[k matches "red"] tumbling 10s having count(k matches "car") > 0 emit n = count()'
    pack = load_texts([("p.rules", f"{text} rule r {{ {rule} }}")]).need()
    found = decided(
        pack,
        rows([(1, "red car", 1), (2, "car", 1), (3, "red", 1)]),
        MAX_TIME,
        text=lambda asked, values: asked.query in str(values["k"]),
    )
    assert [dict(a.emit) for a in found] == [{"n": 2}]
