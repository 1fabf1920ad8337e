"""Sentences of docs/language.md on patterns and time, as small examples of the reference engine.

`found` writes events as letter and second, `a1 b2`, and matches as `a=1 b=2 @2`: what each step took by
place in that list, counted from 1, and the second at which it was decided.
"""

from __future__ import annotations

import pytest

from cep.events import MAX_TIME
from cep.reference import Decided, decided
from rules.packs import load_texts
from rules.typed import Pack

SECOND = 1_000_000_000
HEADER = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long?  g: string?  id id_  time at }
stream f { id_: string  at: timestamp  k: string  v: long?  g: string?  id id_  time at }
"""


def pack_of(rules: str) -> Pack:
    loaded = load_texts([("p.rules", HEADER + rules)])
    assert loaded.pack is not None, [d.message for d in loaded.diagnostics]
    return loaded.pack


def events_of(text: str) -> list[tuple[str, str, dict[str, object]]]:
    """`a1` is an event of e, `f:a1` one of f; `a1=7` has v 7; `a1/x` has the key x."""
    rows = []
    for place, word in enumerate(text.split(), 1):
        stream, _, rest = word.rpartition(":")
        rest, _, key = rest.partition("/")
        rest, _, value = rest.partition("=")
        values: dict[str, object] = {
            "id_": str(place),
            "at": int(rest[1:]) * SECOND,
            "k": rest[0],
            "v": int(value) if value else None,
            "g": key or None,
        }
        rows.append((stream or "e", str(place), values))
    return rows


def shown(alert: Decided) -> str:
    steps = " ".join(f"{name}={','.join(ids)}" for name, ids in alert.events)
    return f"{steps} @{alert.time / SECOND:g}"


def found(rule: str, events: str, until: int | None = None) -> list[str]:
    """All matches, drained, or with the watermark at second `until`."""
    pack = pack_of("rule r {\n" + rule + "\n}")
    watermark = MAX_TIME if until is None else until * SECOND
    return [shown(alert) for alert in decided(pack, events_of(events), watermark)]


A, B = 'a: e[k == "a"]', 'b: e[k == "b"]'
HOUR = "within 1h"


def test_the_first_event_that_fits_is_taken_and_others_are_skipped() -> None:
    assert found(f"match {A} -> {B} {HOUR}", "a1 c2 b3 b4") == ["a=1 b=3 @3"]


def test_a_strict_step_is_the_very_next_event_of_the_named_streams() -> None:
    assert found(f"match {A} => {B} {HOUR}", "a1 c2 b3 a4 b5") == ["a=4 b=5 @5"]
    assert found(f"match {A} => {B} {HOUR}", "a1 f:c2 b3") == ["a=1 b=3 @3"]
    named = f"match {A} => {B} -> absent f for 1s {HOUR}"
    assert found(named, "a1 f:c2 b3") == []


def test_a_greedy_loop_takes_what_fits_the_loop_before_its_successor() -> None:
    rule = f'match a: e[k == "a" or k == "b"]{{1,}} -> {B} within 1h'
    assert found(rule, "a1 b2 b3 c4") == ["a=1,2 b=3 @3601"]


def test_a_run_commits_to_the_first_event_that_fits_any_way() -> None:
    assert found(f'match a: e[k == "a"]{{1,}} -> {B} within 1h', "a1 b2 a3 b4") == [
        "a=1 b=2 @2",
        "a=3 b=4 @4",
    ]


def test_a_contiguous_loop_is_broken_by_any_event() -> None:
    rule = f'match a: e[k == "a"]{{2}} contiguous -> {B} {HOUR}'
    assert found(rule, "a1 c2 a3 b4") == []
    assert found(rule, "a1 a2 c3 b4") == ["a=1,2 b=4 @4"]


def test_a_closed_loop_is_raised_at_its_last_event_an_open_one_when_within_ends() -> None:
    assert found('match a: e[k == "a"]{2} within 5s', "a1 a2 a3 a4") == ["a=1,2 @2", "a=3,4 @4"]
    assert found('match a: e[k == "a"]{2,} within 5s', "a1 a2 a3 x9") == ["a=1,2,3 @6"]
    assert found('match a: e[k == "a"]{2,} within unbounded', "a1 a2 x9") == ["a=1,2 @2"]


def test_within_is_half_open() -> None:
    assert found(f"match {A} -> {B} within 5s", "a1 b6 a7 b11") == ["a=3 b=4 @11"]


def test_a_match_in_reserve_is_raised_when_the_preferred_way_has_failed() -> None:
    rule = f"match a: e{{1,}} contiguous => {B} within 5s"
    assert found(rule, "a1 b2 a3 b4 c5 c9") == ["a=1,2,3 b=4 @6"]


def test_an_absence_is_complete_at_its_deadline_and_an_event_of_that_instant_is_too_late() -> None:
    rule = f"match {A} -> absent {B[3:]} for 5s"
    assert found(rule, "a1 b6") == ["a=1 @6"]
    assert found(rule, "a1 b5 x9") == []
    assert found(rule, "a1", until=5) == []
    assert found(rule, "a1", until=6) == ["a=1 @6"]


def test_an_absence_after_a_loop_counts_from_its_last_event() -> None:
    rule = 'match a: e[k == "a"]{1,} -> absent e[k == "b"] for 3s within 20s'
    assert found(rule, "a1 a3 x9") == ["a=1,2 @6"]
    assert found(rule, "a1 b2 a3 x9") == ["a=1,3 @6"]
    assert found(rule, "a1 a3 b4 x9") == []


def test_of_matches_decided_by_one_event_the_earliest_start_is_raised_and_skips_the_rest() -> None:
    rule = f"match {A} -> {B} {HOUR}"
    assert found(rule, "a1 a2 b3") == ["a=1 b=3 @3"]
    assert found(rule + " skip none", "a1 a2 b3") == ["a=1 b=3 @3", "a=2 b=3 @3"]
    assert found(rule + " skip to next", "a1 a2 b3") == ["a=1 b=3 @3", "a=2 b=3 @3"]


def test_an_earlier_run_that_still_waits_lives_on() -> None:
    rule = 'match a: e[k == "a"] -> b: e[k == "b" and v == a.v] within 1h'
    assert found(rule, "a1=1 a2=2 b3=2 b4=1") == ["a=2 b=3 @3", "a=1 b=4 @4"]


def test_skip_to_a_step() -> None:
    rule = "match a: e{2} => b: e{2} within 1h skip to"
    assert found(f"{rule} first b", "a1 a2 a3 a4 a5 a6") == ["a=1,2 b=3,4 @4", "a=3,4 b=5,6 @6"]
    assert found(f"{rule} last b", "a1 a2 a3 a4 a5 a6 a7") == ["a=1,2 b=3,4 @4", "a=4,5 b=6,7 @7"]
    assert found(f"{rule} first a", "a1 a2 a3 a4 a5") == ["a=1,2 b=3,4 @4", "a=2,3 b=4,5 @5"]


def test_conditions_see_the_loop_without_the_candidate() -> None:
    rising = "match a: e[count(a) == 0 or v > last(a.v)]{3} within 1h"
    assert found(rising, "a1=1 a2=0 a3=2 a4=3") == ["a=1,3,4 @4"]
    assert found("match a: e[v > coalesce(sum(a.v), 0)]{3} within 1h", "a1=1 a2=1 a3=2 a4=4") == [
        "a=1,3,4 @4"
    ]
    assert found(
        "match a: e{2} -> b: e[v == first(a.v, 1) and v != last(a.v, 1)] within 1h", "a1=1 a2=2 b3=2"
    ) == ["a=1,2 b=3 @3"]


def test_prev_is_the_event_before_taken_or_not_no_further_back_than_within() -> None:
    rule = 'match a: e[k == "a" and prev(k) == "x"] within 2s'
    assert found(rule, "a1 x2 a3 x4 a6 x7 a10") == ["a=3 @3", "a=5 @6"]
    assert found('match a: e[prev(k, 2) == "x"] within 9s', "x1 x2 a3 a4") == ["a=3 @3", "a=4 @4"]


def test_keys_are_apart_and_events_with_a_null_key_meet_no_rule() -> None:
    rule = f"by g match {A} -> {B} {HOUR}"
    assert found(rule, "a1/x a2/y b3/y b4/x") == ["a=2 b=3 @3", "a=1 b=4 @4"]
    assert found(rule, "a1 b2") == []


def test_events_of_one_instant_keep_their_order_of_arrival() -> None:
    assert found(f"match {A} -> {B} {HOUR}", "b1 a1 b1") == ["a=2 b=3 @1"]
    assert found(f"match {A} -> {B} {HOUR}", "b3 a1") == ["a=2 b=1 @3"]


def test_a_redelivered_event_counts_once_and_an_id_at_another_time_is_a_new_event() -> None:
    pack = pack_of("rule r { match a: e{2} within 1h }")
    one, later = events_of("a1 a2")
    again = ("e", one[1], {**later[2], "id_": one[1]})
    assert [shown(a) for a in decided(pack, [one, one], MAX_TIME)] == []
    assert [shown(a) for a in decided(pack, [one, again], MAX_TIME)] == ["a=1,1 @2"]


def test_events_above_the_watermark_wait() -> None:
    assert found(f"match {A} -> {B} {HOUR}", "a1 b3", until=2) == []
    assert found(f"match {A} -> {B} {HOUR}", "a1 b3", until=3) == ["a=1 b=2 @3"]


def test_on_raises_one_alert_an_event() -> None:
    pack = pack_of("rule r { on e[v > 1] by g emit k, twice = 2 * v }")
    alerts = decided(pack, events_of("a1=1 a2=2 b3=3/x"))
    assert [(alert.kind, alert.key, alert.emit) for alert in alerts] == [
        ("event", (("g", None),), (("k", "a"), ("twice", 4))),
        ("event", (("g", "x"),), (("k", "b"), ("twice", 6))),
    ]


def test_emit_sees_every_step_and_the_key() -> None:
    emit = "emit g, n = count(s), total = sum(s.v), k = b.k, due = b.at + 1h"
    pack = pack_of(f'rule r {{ by g match s: e[k == "a"]{{2,3}} -> {B} {HOUR} {emit} }}')
    (alert,) = decided(pack, events_of("a1=1/x a2=5/x b3/x"))
    assert dict(alert.emit) == {"g": "x", "n": 2, "total": 6, "k": "b", "due": 3603 * SECOND}


def test_alerts_come_by_time_rule_and_key_then_deadlines_before_events() -> None:
    pack = pack_of(
        'rule b { by g match a: e[k == "a"] -> absent f for 2s  skip none }'
        "rule a { by g match x: e within 1s  skip none }"
    )
    alerts = decided(pack, events_of("a1/y a1/x a3/x"))
    assert [(a.time // SECOND, a.rule, dict(a.key)["g"]) for a in alerts] == [
        (1, "a", "x"), (1, "a", "y"), (3, "a", "x"), (3, "b", "x"), (3, "b", "y"), (5, "b", "x"),
    ]  # fmt: skip


@pytest.mark.parametrize("events", ["", "a1"])
def test_nothing_is_no_match(events: str) -> None:
    assert found(f"match {A} -> {B} {HOUR}", events) == []
