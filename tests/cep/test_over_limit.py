"""Runs over a `limit`: told with a key that lost them, the default told from a limit of the rule's own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest
from duel import pack_of
from effort import examples
from event_tables import tables
from hypothesis import given, settings
from hypothesis import strategies as st
from random_streams import SECOND, Arrival

from cep.batch.trace import Trace
from cep.counters import RunsDropped, RunsOverLimit
from cep.inprocess.report import Report
from cep.inprocess.session import Session
from cep.losses import OverLimit, over_limit
from cep.operators.patterns.runtime import advance
from cep.operators.patterns.runtime import over_limit as naming
from cep.packs.compile import compile_plan
from cep.plan.plan import Plan
from cep.shard.advance import MatchOptions
from rules.typed import Rule

HEAD = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long  id id_  time at }
"""
PATTERNS = {
    "plain": "by k  match a: e[v < 3] -> b: e[v == 9] within 1 hour  limit 2 runs",
    "ended": "by k  match a: e[v < 3] -> b: e[v == 9] within 4s  limit 2 runs",
    "forked": "by k  match a: e[v < 2] ~> b: e[v < 3] ~> c: e[v == 9] within 1 hour  limit 3 runs",
    "two steps": "by k  match a: e[v == 1]{2} -> b: e[v > last(a.v)] -> c: e[v == 9] within 9s  limit 1 runs",
    "absent": "by k  match a: e[v < 3] -> absent e[v == 9] for 5s -> b: e[v == 8] within 9s  limit 2 runs",
    "judged": "by k  match a: e[v < 3]+ -> b: e[v > percentile(a.v, 0.5) + 7] within 1 hour  limit 2 runs",
    "looking back": "by k  match a: e[v < 3 and v >= prev(v)] -> b: e[v == 9] within 1 hour  limit 1 runs",
    "sliding": "by k  over e[v < 3] sliding 9s  having count() > 1  limit 2 events",
    "last events": "by k  over e[v < 3] last 1 events  having previous(count(), 2) == 2  limit 3 events",
    "no key": "match a: e[v < 3] -> b: e[v == 9] within 1 hour  limit 2 runs",
}
Event = tuple[str, int]
"""Key and value; events come a second apart."""
EVENTS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from([0, 1, 2, 8, 9])), max_size=60)


INTERPRETED = MatchOptions(compiled=False)


def plan_of(*names: str) -> Plan:
    rules = [f"rule r{n} {{ {PATTERNS[name]} }}" for n, name in enumerate(names)]
    return compile_plan([pack_of(HEAD + "\n".join(rules))])


def fed(
    plan: Plan,
    events: Sequence[Event],
    cuts: Sequence[int] = (),
    key: str = "",
    shards: int = 1,
    options: MatchOptions = INTERPRETED,
) -> Session:
    """A session after the events, or only those of one key, in batches that end before the cuts."""
    session = Session(plan, shards, options=options)

    came = [
        (n, Arrival("e", "p", "f", {"id_": f"{n}", "at": n * SECOND, "k": k, "v": v}))
        for n, (k, v) in enumerate(events)
        if key in ("", k)
    ]
    for begin, end in zip([0, *cuts], [*cuts, len(events)], strict=True):
        part = [arrival for n, arrival in came if begin <= n < end]
        session.feed([*tables(plan.packs[0], part, begin)], end * SECOND)
    session.feed([], (len(events) + 60) * SECOND)
    return session


def lost(session: Session) -> dict[str, OverLimit]:
    return {rule: found for (_, rule), found in over_limit(session.counts).items()}


def by_key(plan: Plan, events: Sequence[Event]) -> dict[str, dict[str, int]]:
    """By rule what each key lost, by giving the engine the events of that key alone."""
    found: dict[str, dict[str, int]] = {}
    for key in sorted({k for k, _ in events}):
        for rule, one in lost(fed(plan, events, key=key)).items():
            found.setdefault(rule, {})[json.dumps({"k": key})] = one.dropped
    return found


@pytest.mark.slow
@given(EVENTS, st.lists(st.sampled_from(list(PATTERNS)[:-1]), min_size=1, max_size=3), st.integers(1, 3))
@settings(max_examples=examples(150), deadline=None)
def test_the_key_that_is_named_lost_most(events: list[Event], names: list[str], shards: int) -> None:
    """In one batch, whatever the number of shards. (The batch that moves time on may drop a few more.)"""
    plan = plan_of(*names)
    expected = by_key(plan, events)
    found = lost(fed(plan, events, shards=shards))
    assert {rule: one.dropped for rule, one in found.items()} == {
        r: sum(k.values()) for r, k in expected.items()
    }
    for rule, one in found.items():
        most = max(expected[rule].values())
        assert one.most is not None
        if "absent" not in names:
            assert one.most == (min(key for key, runs in expected[rule].items() if runs == most), most)


@pytest.mark.slow
@given(EVENTS, st.sampled_from(list(PATTERNS)), st.data())
@settings(max_examples=examples(150), deadline=None)
def test_whatever_batches_there_are_the_keys_that_are_named_lost_runs(
    events: list[Event], name: str, data: st.DataObject
) -> None:
    plan = plan_of(name)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(events)), max_size=5)))
    found, whole = lost(fed(plan, events, cuts)), lost(fed(plan, events))
    assert {rule: one.dropped for rule, one in found.items()} == {r: one.dropped for r, one in whole.items()}
    expected = by_key(plan, events)
    for rule, one in found.items():
        assert one.most is not None
        if name == "no key":
            assert dict(one.keys) == {"{}": one.dropped}
        else:
            assert all(0 < runs <= expected[rule][key] for key, runs in one.keys.items())


@given(EVENTS, st.lists(st.sampled_from(list(PATTERNS)), min_size=1, max_size=3), st.integers(0, 60))
@settings(max_examples=examples(100), deadline=None)
def test_naming_a_key_changes_nothing_else(events: list[Event], names: list[str], cut: int) -> None:
    plan = plan_of(*names)
    cuts = [min(cut, len(events))]
    named = fed(plan, events, cuts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(advance, "most_dropped", lambda *_: None)
        plain = fed(plan, events, cuts)
    named.counts = type(named.counts)(
        {n: c for n, c in named.counts.items() if not isinstance(n, RunsOverLimit)}
    )
    assert named.counts == plain.counts
    assert named.snapshot() == plain.snapshot()


def test_the_compiled_kernel_and_a_trace_name_the_same_key() -> None:
    events = [(k, v) for n in range(12) for k, v in (("a", 1), ("b", n % 2), ("c", 0))][4:]
    plan = plan_of("plain", "forked")
    keys = [
        {rule: one.keys for rule, one in lost(fed(plan, events, options=how)).items()}
        for how in (INTERPRETED, MatchOptions(compiled=True), MatchOptions(compiled=False, trace=Trace()))
    ]
    assert keys[0]
    assert keys[0] == keys[1] == keys[2]


def test_what_drops_nothing_pays_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> list[int]:
        raise AssertionError

    monkeypatch.setattr(advance, "crowded", never)
    fed(plan_of("plain"), [("a", 1), ("b", 1), ("a", 9)])
    with pytest.raises(AssertionError):
        fed(plan_of("plain"), [("a", 1)] * 3)


def test_of_many_keys_one_that_lost_runs_is_found() -> None:
    """Keys with most runs lost none: theirs were over in time."""
    many = [(f"k{n}", 1) for n in range(3 * naming.TRIED) for _ in range(2)]
    pattern = "by k  match a: e[v == 1] -> b: e[v == 9] within 1s  limit 1 runs"
    plan = compile_plan([pack_of(f"{HEAD}rule r {{ {pattern} }}")])
    came = [
        Arrival("e", "p", "f", {"id_": f"{n}", "at": 2 * n * SECOND, "k": k, "v": v})
        for n, (k, v) in enumerate(many)
    ]
    came += [
        Arrival("e", "p", "f", {"id_": f"x{n}", "at": 500 * SECOND, "k": "last", "v": 1}) for n in range(2)
    ]
    session = Session(plan, options=MatchOptions(compiled=False))
    session.feed([*tables(plan.packs[0], came, 0)], 600 * SECOND)
    assert lost(session)["r"].most == ('{"k": "last"}', 1)


def rule_of(limit: str) -> Rule:
    rule = f"rule r {{ by k  match a: e -> b: e[v == 9] within 1 hour {limit} }}"
    return pack_of(HEAD + rule).rules[0]


DEFAULT = "over the default of 1,000 runs of a key, the oldest ones"
SENTENCES: list[tuple[str, int, dict[str, int], str]] = [
    ("", 12, {'{"k": "c1"}': 12}, f'{DEFAULT}, all of k "c1"; write `limit 10000 runs`'),
    (
        "",
        12_000,
        {'{"k": "a"}': 10, '{"k": "y"}': 9_001, '{"k": "z"}': 9_001},
        f'{DEFAULT}, 9,001 of them of k "y"; write `limit 100000 runs`',
    ),
    (
        "limit 50 runs",
        60,
        {'{"k": 7}': 50},
        "over its `limit 50 runs`, the oldest ones of a key, 50 of them of k 7; `limit 100 runs` is enough",
    ),
    (
        "limit 1000 runs",
        3,
        {"{}": 3},
        "over its `limit 1000 runs`, the oldest ones of a key; `limit 10000 runs` is enough",
    ),
    ("", 3, {}, f"{DEFAULT}; write `limit 10000 runs`"),
    (
        "",
        10**7,
        {"{}": 10**7},
        f"{DEFAULT}; begin fewer runs: a narrower first step, or a shorter `within`",
    ),
]


@pytest.mark.parametrize(("limit", "runs", "keys", "sentence"), SENTENCES)
def test_a_sentence_says_which_limit_and_what_to_write(
    limit: str, runs: int, keys: dict[str, int], sentence: str
) -> None:
    found = OverLimit(runs)
    found.keys.update(keys)
    assert found.sentence(rule_of(limit)) == sentence


@pytest.mark.slow
def test_the_limit_that_is_offered_is_enough() -> None:
    def sentences() -> Iterator[str]:
        for limit in ("", "limit 10000 runs"):
            rule = rule_of(limit)
            plan = compile_plan([pack_of(HEAD + rule.span.text)])
            found = lost(fed(plan, [("a", 1)] * 1_200))
            yield found["r"].sentence(rule) if found else ""

    first, second = sentences()
    assert first.endswith("write `limit 10000 runs`")
    assert second == ""


def test_rules_of_one_name_in_two_packs_are_told_apart() -> None:
    text = f"{HEAD}rule r {{ {PATTERNS['plain']} }}"
    packs = [pack_of(text), pack_of(text.replace("pack p", "pack q"))]
    report = Report()
    report.count(packs, {RunsDropped("p", "r", "limit"): 3, RunsDropped("q", "r", "limit"): 4})
    assert report.as_dict()["limit"] == {"p": {"r": 3}, "q": {"r": 4}}
    left, right = report.losses()
    assert left.startswith("rule r of pack p: 3 runs dropped over")
    assert right.startswith("rule r of pack q: 4 runs dropped over")
    told = report.as_dict()["over_limit"]
    assert isinstance(told, list)
    assert [(one["pack"], one["rule"], one["runs"]) for one in told] == [("p", "r", 3), ("q", "r", 4)]
