"""Strict sequences: sets of rules find what runs one by one find, wherever batches are cut."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from duel import pack_of
from effort import examples
from event_tables import tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_packs import LATENESS, header
from random_streams import SECOND, Arrival, long_stream

from cep.batch.arrivals import Arrivals
from cep.batch.trace import Trace
from cep.counters import Counts, RunsDropped
from cep.inprocess.session import Session, StoredShard
from cep.operators.operator import BatchContext
from cep.operators.patterns.compile.comparisons import NO_COMPARISON, comparison, sources
from cep.operators.patterns.compile.space_tables import SpaceTables
from cep.operators.patterns.kernel import strict_layout
from cep.operators.patterns.kernel.bytecode import COLUMN, COUNT, LESS_I, REGISTER, SET
from cep.operators.patterns.runtime import advance
from cep.operators.patterns.runtime.kinds import PACKED, RUNS
from cep.operators.patterns.runtime.packed_runs import PackedRows, packed
from cep.packs.compile import compile_plan
from cep.plan.plan import Plan, RuleName
from cep.shard.advance import MatchOptions
from cep.shard.memory import Merging
from cep.state.keyed_rows import Ints, Kept

QUIET: Any = {"deadline": None, "suppress_health_check": list(HealthCheck)}
SMALL = Merging(base=0.5, later=1, small=0, anew=2)
GOLDEN = Path(__file__).parent / "golden" / "state-8.json"
ALONE = ("v == 1", "v > 0", "w <= 1.5", 'k == "a"', 'k != "b" and v != 2', "v is null", "")
EARLIER = (
    "v > {p}.v", "v + {p}.v > 2", "w < {p}.w + 1.0", "k == {p}.k", "k > {p}.k or v == 1", "v * {p}.v > 3",
    "coalesce({p}.w, 0.5) < w", "at - {p}.at < 3s", "v >= {p}.v and k != \"c\"",
    "v is not null and {p}.v is null", "w - 0.5 >= {p}.w", "w != {p}.w", "{p}.w * 2.0 == w", "v != {p}.v",
    "w * 1e308 > {p}.w", "{p}.w * -1e308 <= w - 1e308", "k <= {p}.k", "1.5 - {p}.w < w",
)  # fmt: skip
SKIPS = ("", "", "skip none", "skip to next", "skip to first b", "skip to last b", "skip to last {last}")


@st.composite
def strict_rules(draw: st.DrawFn, name: str) -> str:
    """A rule whose every step is the next event of its key."""
    names = "abcd"[: draw(st.sampled_from((2, 2, 3, 3, 3, 4)))]
    streams = draw(st.sampled_from(("e", "e", "e", "f", "ef")))
    steps = []
    for number, step in enumerate(names):
        earlier = [EARLIER[n].format(p=p) for n in range(len(EARLIER)) for p in names[:number]]
        condition = draw(st.sampled_from((*ALONE, *earlier)))
        stream = streams[number % len(streams)]
        steps.append(f"{step}: {stream}[{condition}]" if condition else f"{step}: {stream}")
    by = draw(st.sampled_from(("by g", "by g", "by g", "by n", "")))
    within = draw(st.sampled_from(("within 2s", "within 5s", "within 5s", "within 20s", "within unbounded")))
    skip = draw(st.sampled_from(SKIPS)).format(last=names[-1])
    if " b" in skip and len(names) == 2:
        skip = ""
    emit = draw(st.sampled_from(("", "emit x = a.k, y = b.v", "emit y = a.w")))
    return f"rule {name} {{ {by} match {' => '.join(steps)} {within} {skip} {emit} }}\n"


LOOP = "rule loop { by g match a: e[v == 1]{2,3} -> b: e[v > first(a.v)] within 20s }\n"


LADDERS = (
    "a: e => b: e[v > a.v + {n}]", "a: e => b: e[v < {n} - a.v]", "a: e[v > 0] => b: e[v * {n} >= a.v]",
    "a: e => b: e[w <= a.w * {w} or v == 1] => c: e[v == b.v]", "a: e => b: e => c: e[not (w < {w} + a.w)]",
    "a: e => b: e[v + a.v > {n} and k == a.k]", "a: e[v == 1] => b: e[v * a.v < {n}] => c: e[v > a.v]",
)  # fmt: skip


@st.composite
def families(draw: st.DrawFn, name: str) -> str:
    """Rules that differ in a constant; some of the sums and products overflow."""
    match = draw(st.sampled_from(LADDERS))
    constants = st.sampled_from((-2, -1, 0, 1, 2, 3, 2**62, -(2**62)))
    rules = []
    for number, n in enumerate(draw(st.lists(constants, min_size=4, max_size=7))):
        text = match.format(n=n, w=float(n))
        rules.append(f"rule {name}_{number} {{ by g match {text} within {5 + number % 2}s }}\n")
    return "".join(rules)


@st.composite
def strict_packs(draw: st.DrawFn) -> str:
    """Several such rules, beside one that is none or alone: then events come in order of time."""
    count = draw(st.integers(1, 5))
    family, loop = draw(st.just("") | families("f")), draw(st.sampled_from((LOOP, "")))
    return header(LATENESS) + loop + family + "".join(draw(strict_rules(f"r{n}")) for n in range(count))


def cut(seed: int, count: int = 90) -> list[list[Arrival]]:
    """A stream in batches of several sizes."""
    random, batches = Random(seed), []
    came = long_stream(seed, events=count, keys=3, seconds=60)
    while came:
        size = random.choice((1, 3, 8, 20))
        batches.append(came[:size])
        came = came[size:]
    return batches


Told = tuple[list[dict[str, Any]], list[dict[RuleName, int]], Counts]


def told(plan: Plan, batches: list[list[Arrival]], one_by_one: list[bool], compiled: bool = False) -> Told:
    """Alerts, live runs after each batch, and counts. Of the batches some run one by one, of which the first
    ends with a restart."""
    options = MatchOptions(compiled=compiled, merging=SMALL)
    session = Session(plan, shards=2, options=options)
    alerts: list[dict[str, Any]] = []
    runs = []
    offset = 0
    counts = Counts()
    with pytest.MonkeyPatch.context() as patch:
        for number, batch in enumerate(batches):
            single = one_by_one[number % len(one_by_one)]
            patch.setattr(advance, "packable", (lambda *_: False) if single else PACKABLE)
            alerts += [one.alert.as_dict() for one in session.feed(tables(plan.packs[0], batch, offset))]
            offset += len(batch)
            runs.append(session.runs)
            if number == 3:
                snapshot = session.snapshot()
                counts = session.counts
                session = Session(plan, shards=2, options=options)
                session.restore(snapshot)
        alerts += [one.alert.as_dict() for one in session.drain()]
    counts.update(session.counts)
    return alerts, runs, counts


PACKABLE, RUN = advance.packable, advance.run_patterns
EARLY = "rule r { by g match a: e => b: e[v > a.v] within 5s }\n"


@pytest.mark.slow
@settings(max_examples=examples(60), **QUIET)
@given(strict_packs(), st.integers(0, 2**20), st.lists(st.booleans(), min_size=1, max_size=4))
def test_sets_of_rules_find_what_runs_one_by_one_find(text: str, seed: int, mixed: list[bool]) -> None:
    plan = compile_plan([pack_of(text)])
    batches = cut(seed)
    single = told(plan, batches, [True])
    assert told(plan, batches, [False]) == single
    assert told(plan, batches, mixed) == single


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(examples(30)))
@pytest.mark.parametrize("several_words", [False, True])
def test_the_compiled_kernel_finds_the_same(seed: int, several_words: bool) -> None:
    plan = compile_plan([pack_of(header(LATENESS) + (MANY if several_words else EACH))])
    assert told(plan, cut(seed, 400), [False], compiled=True) == told(plan, cut(seed, 400), [True])


@pytest.mark.parametrize(
    ("rules", "single", "traced", "by_time"),
    [(EARLY, False, False, True), (EARLY, True, False, False), (EARLY, False, True, False),
     (EARLY + LOOP, False, False, False)],
)  # fmt: skip
def test_events_are_put_in_order_of_key_for_what_runs_one_by_one(
    rules: str, single: bool, traced: bool, by_time: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = compile_plan([pack_of(header(0) + rules)])
    numbers: list[Ints] = []

    def seen(tables: SpaceTables, kept: Kept, events: Arrivals, context: BatchContext) -> Any:
        numbers.append(context.numbers)
        return RUN(tables, kept, events, context)

    monkeypatch.setattr(advance, "run_patterns", seen)
    if single:
        monkeypatch.setattr(advance, "packable", lambda *_: False)
    session = Session(plan, options=MatchOptions(trace=Trace() if traced else None))
    for number, batch in enumerate(cut(1)):
        session.feed(tables(plan.packs[0], batch, 100 * number))
    key_by_key = [bool((of_batch[1:] >= of_batch[:-1]).all()) for of_batch in numbers]
    assert all(key_by_key) != by_time
    # A deploy takes runs along, key by key.
    later = Session(compile_plan([pack_of(header(0) + rules.replace("5s", "6s"))]), options=session.options)
    later.restore(session.snapshot())
    numbers.clear()
    later.feed(tables(plan.packs[0], long_stream(2, events=40, keys=3, seconds=60), 10_000))
    assert len(numbers[0]) > 1
    assert (numbers[0][1:] >= numbers[0][:-1]).all()


EACH = "".join(
    f"rule r{n} {{ by g match a: e => b: e[{one.format(p='a')}] => c: e[{other.format(p='ab'[n % 2])}] "
    "within 5s }\n"
    for n, (one, other) in enumerate(zip(EARLIER, EARLIER[7:] + EARLIER[:7], strict=True))
)
"""Every condition over earlier events, in a group whose sets take one word."""


@pytest.mark.parametrize(
    ("condition", "compares"),
    [
        ("v > a.v", True), ("v <= a.v", True), ("k == a.k", True), ("k != a.k", True), ("at < a.at", True),
        ("w < a.w", True), ("w < a.w + 1.0", True), ("2.0 * w == a.w - 1.0", True), ("w >= 3.0 - a.w", False),
        ("v > a.v + 1", False), ("k < a.k", False), ("w < a.w + 1.0 + 2.0", False), ("w < a.w / 2.0", False),
        ("w < a.w and v > a.v", False), ("w + a.w > 1.0", False), ("w > count(a)", False), ("v == 1", False),
        ("a.v is null", False),
    ],
)  # fmt: skip
def test_conditions_that_compare_two_values(condition: str, compares: bool) -> None:
    rule = f"rule r {{ by g match a: e => b: e[{condition}] within 5s }}\n"
    (space,) = compile_plan([pack_of(header(0) + rule)]).spaces
    (together,) = space.groups
    assert isinstance(together, SpaceTables)
    (group,) = together.strict
    first, second = group.arrays.comparisons.reshape(2, strict_layout.COMPARISON)
    assert not first.any()
    assert second.any() == compares


def test_a_value_that_a_later_step_takes_too_is_not_compared() -> None:
    taken = sources([[(SET, 0, 4, 0)], [(SET, 0, 4, 0), (SET, 1, 5, 0), (COUNT, 2, -1, 0)]])
    assert taken == {1: (5, 1)}


def test_a_value_that_no_step_has_taken_yet_is_not_compared() -> None:
    codes = [(REGISTER, 1, 0, 0), (COLUMN, 5, 0, 1), (LESS_I, 0, 1, 2)]
    assert comparison(codes, {1: (5, 1)}, 2)[0] == LESS_I
    assert comparison(codes, {1: (5, 1)}, 1) == NO_COMPARISON


MANY = "".join(
    f"rule m{n} {{ by g match a: e[v >= {n % 3}] => b: e[v > a.v - {n} and k == a.k] => c: e[w < {n}] "
    f"within {2 + n % 5}s {'skip to next' if n % 7 == 0 else ''} }}\n"
    for n in range(70)
)
"""A group whose sets take two words."""


def test_a_set_takes_a_bit_for_each_rule() -> None:
    random = np.random.default_rng(1)
    for rules in (1, 61, 62, 63, 124, 125, 200):
        members = random.random((5, 2, rules)) < 0.5
        sets = packed(members)
        assert sets.shape == (5, 2, -(-rules // 62))
        assert (sets >= 0).all()
        for rule in range(rules):
            has = sets[..., rule // 62] >> rule % 62 & 1
            assert np.array_equal(has, members[..., rule])
        head = np.zeros((5, strict_layout.PACKED + 2 * strict_layout.ENTRY_HEAD), np.int64)
        rows = np.hstack((head, sets.reshape(5, -1)))
        counted = PackedRows(np.arange(rules), 2, 0, (), rows).counted()
        assert counted.tolist() == members.sum(axis=(0, 1)).tolist()


STRICT = (
    "a: e => b: e within 5s", "a: e[v > 1] => b: f[v > a.v] => c: e[k == a.k] within 5s",
    "a: e => b: e => a: e[v > first(a.v)] within 5s", "a: e => b: e within unbounded skip to last b",
    "a: e => b: e within 5s limit 2 runs",
)  # fmt: skip
OTHERS = (
    "a: e -> b: e within 5s", "a: e => b: e -> c: e within 5s", "a: e => b: e{2} within 5s",
    "a: e => not e[v == 1] => b: e within 5s", "a: e => b: e within 5s on timeout emit x = 1",
    "a: e => b: e => c: e within 5s limit 2 runs", "a: e => b: e[prev(v) == 1] within 5s",
    "a: e => b: e within 5s having b.v > 1", "a: e => b: e[w > sum(a.w)] within 5s",
    "a: e => b: e[w > percentile(a.w, 0.5)] within 5s", "a: e -> absent e[v == 1] for 2s within 5s",
)  # fmt: skip


def groups(rules: Sequence[str]) -> list[list[int]]:
    text = "".join(f"rule r{n:02} {{ by g match {rule} }}\n" for n, rule in enumerate(rules))
    (space,) = compile_plan([pack_of(header(0) + text)]).spaces
    (together,) = space.groups
    assert isinstance(together, SpaceTables)
    names = [int(rule.rule.name[1:]) for rule in together.rules]
    return sorted(sorted(names[number] for number in group.rules.tolist()) for group in together.strict)


def test_rules_whose_every_step_is_the_next_event_are_sets() -> None:
    assert [groups([rule]) for rule in STRICT] == [[[0]]] * len(STRICT)
    assert [groups([rule]) for rule in OTHERS] == [[]] * len(OTHERS)


def test_rules_that_see_the_same_events_and_values_are_a_group() -> None:
    alike = (
        "a: e[v > 1] => b: e[v > a.v + 2] within 5s", "a: e[k == \"b\"] => b: e[v < 3 * a.v] within 9s",
        "a: e => b: e[v == a.v] => c: e[v == 1] within 5s skip none",
        "a: e => b: e[w > a.w] within 5s", "a: f => b: f within 5s", "a: e => b: e within 5s",
    )  # fmt: skip
    assert groups(alike) == [[0, 1, 2], [3], [4], [5]]


def event(number: int, at: int, v: int, k: str = "a", g: str = "x") -> Arrival:
    values = dict.fromkeys(("h", "w", "t", "m", "l", "r"))
    return Arrival(
        "e", "p", "f",
        {**values, "id_": f"{number}", "at": at * SECOND, "g": g, "n": 1, "k": k, "v": v, "y": []},
    )  # fmt: skip


def session_of(*rules: str) -> Session:
    text = "".join(f"rule r{n} {{ by g match {rule} emit v = a.v }}\n" for n, rule in enumerate(rules))
    return Session(compile_plan([pack_of(header(0) + text)]), options=MatchOptions(compiled=False))


def fed(session: Session, offset: int, *events: Arrival) -> list[tuple[str, dict[str, list[str]]]]:
    mark = max(one.time for one in events)
    raised = session.feed(tables(session.plan.packs[0], list(events), offset), mark)
    return [(one.alert.rule, one.alert.events) for one in raised]


RISES = (
    "a: e[v > 1] => b: e[v > a.v] => c: e[v > b.v and k == a.k] within 1h",
    "a: e[v > 2] => b: e[v > a.v] => c: e[v > b.v] within 2h skip to next",
)
BEGUN = (event(0, 0, 2, "red"), event(1, 1, 3, "b"), event(2, 2, 7, "c", "y"), event(3, 3, 8, "d", "z"))


def begun() -> Session:
    session = session_of(*RISES)
    # The structure hash must last as long as state does; the plan's own id need not.
    session.plan = replace(session.plan, id="plan")
    assert fed(session, 0, *BEGUN[:2]) == []
    assert fed(session, 2, *BEGUN[2:]) == []
    session.store()
    return session


def kinds(session: Session) -> set[str]:
    spaces = [space for memory in session.memories.values() for space in memory.spaces.values()]
    segments = [segment for space in spaces for segment in space.segments]
    return {kind for segment in segments for kind, rows in segment.content.rows.items() if rows.size}


def test_todays_program_writes_and_reads_the_bytes_of_version_8() -> None:
    session = begun()
    golden = json.loads(GOLDEN.read_text("utf-8"))
    assert session.stored[0].as_dict() == golden, (
        "the format has changed: raise VERSION in cep.shard.state_bytes"
    )
    again = StoredShard()
    again.put(StoredShard.of(golden).memory())
    assert again.as_dict() == golden


def test_runs_that_an_earlier_program_kept_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(advance, "packable", lambda *_: False)
        before = begun()
    assert kinds(before) == {RUNS}
    session = session_of(*RISES)
    session.restore(before.snapshot())
    assert session.runs == begun().runs == {("p", "r0"): 4, ("p", "r1"): 3}
    assert fed(session, 4, event(4, 4, 9, "red"), event(5, 4, 8, "c", "y"), event(6, 5, 9, "c", "y")) == [
        ("r0", {"a": ["0"], "b": ["1"], "c": ["4"]}),
        ("r0", {"a": ["2"], "b": ["5"], "c": ["6"]}),
        ("r1", {"a": ["2"], "b": ["5"], "c": ["6"]}),
    ]
    assert kinds(session) == {PACKED}


@pytest.mark.parametrize(("before", "after", "found"), [(0, 1, 0), (1, 0, 1)])
def test_a_deploy_evaluates_runs_by_the_new_constants(before: int, after: int, found: int) -> None:
    rule = 'a: e[k == "a"] => b: e[v > a.v + {}] => c: e[v > 2 and k == a.k] within 1h'
    session = session_of(rule.format(before), RISES[1])
    fed(session, 0, event(1, 1, 5))
    later = session_of(rule.format(after), RISES[1])
    later.restore(session.snapshot())
    assert fed(later, 1, event(2, 2, 6, "z")) == []
    taken = [events for rule, events in fed(later, 2, event(3, 3, 6)) if rule == "r0"]
    assert taken == [{"a": ["1"], "b": ["2"], "c": ["3"]}] * found


def test_a_rule_that_is_gone_loses_its_runs_and_they_are_counted() -> None:
    later = session_of(RISES[0])
    later.restore(begun().snapshot())
    assert later.runs == {("p", "r0"): 4, ("p", "r1"): 3}
    assert fed(later, 4, event(4, 4, 9, "red")) == [("r0", {"a": ["0"], "b": ["1"], "c": ["4"]})]
    assert later.counts[RunsDropped("p", "r1", "dropped")] == 3


def test_runs_end_with_their_window_in_silence() -> None:
    session = session_of("a: e => b: e => c: e within 5s", "a: e => b: e within 9s")
    fed(session, 0, event(0, 0, 1), event(1, 2, 1))
    assert session.runs == {("p", "r0"): 2}
    session.feed([], 5 * SECOND)
    assert session.runs == {("p", "r0"): 1}
    assert fed(session, 2, event(2, 6, 1, g="y")) == []
    session.feed([], 7 * SECOND)
    assert session.runs == {("p", "r0"): 1, ("p", "r1"): 1}
    assert fed(session, 3, event(3, 14, 1, g="y")) == [("r1", {"a": ["2"], "b": ["3"]})]


def test_events_of_a_revision_that_knew_fewer_rules_are_seen_by_those_that_it_knew() -> None:
    """The second rule has not seen event 2, which waited when the rule came: its run goes on over it."""
    text = header(LATENESS) + "rule r0 { by g match a: e[v > 1] => b: e[v > a.v] within 1h }\n"
    more = text + "rule r1 { by g match a: e[v > 1] => b: e[v > 2 * a.v] within 1h }\n"
    session = Session(compile_plan([pack_of(text)]))
    session.feed(tables(session.plan.packs[0], [event(1, 0, 5), event(2, 10, 1)], 0), 5 * SECOND)
    later = Session(compile_plan([pack_of(more)]))
    later.restore(session.snapshot())
    pack = later.plan.packs[0]
    later.feed(tables(pack, [event(3, 9, 4)], 2), 9 * SECOND)
    later.feed([], 10 * SECOND)
    assert later.runs == {("p", "r1"): 1}
    assert kinds(later) == {RUNS}
    raised = later.feed(tables(pack, [event(4, 11, 9)], 3), 11 * SECOND)
    assert [(one.alert.rule, one.alert.events) for one in raised] == [("r1", {"a": ["3"], "b": ["4"]})]
