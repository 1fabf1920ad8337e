"""One key with very many events that fit everything: all is bounded, answers stay right."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import pytest
from duel import NEVER_ASKED, Program, by_engine, gave_up, patterns_of, plan_of, programs
from effort import examples
from event_tables import tables
from hypothesis import HealthCheck, given, settings
from random_packs import dense_packs
from random_streams import SECOND, Arrival

from alerts.raised import Raised
from cep.batch.trace import Trace
from cep.counters import AlternativesDropped
from cep.inprocess.session import Session
from cep.operators.patterns.kernel import layout, merge
from cep.operators.patterns.kernel import tables as kernel_tables
from cep.operators.patterns.runtime import engines
from cep.shard.advance import MatchOptions

QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck)}
BOTH = pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
HEAD = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long  id id_  time at }
"""


class Fed:
    """A session of one rule, with one event a second, all of one key."""

    def __init__(self, rule: str, compiled: bool | None = False) -> None:
        self.compiled, self.count = compiled, 0
        self.session = Session(
            plan_of(HEAD + f"rule r {{ by k {rule} }}"), options=MatchOptions(compiled=compiled)
        )

    def feed(self, *values: int) -> list[Raised]:
        """Alerts of one batch of events."""
        came = [
            Arrival("e", "p", "f", {"id_": f"{n}", "at": n * SECOND, "k": "x", "v": v})
            for n, v in enumerate(values, self.count)
        ]
        self.count += len(values)
        return self.session.feed([*tables(self.session.plan.packs[0], came, self.count - len(values))])

    def restart(self, rule: str, trace: Trace | None = None) -> None:
        """Go on from the snapshot, with a revision of the rule, and now traced."""
        self.session.store()
        snapshot = self.session.snapshot()
        plan = plan_of(HEAD + f"rule r {{ by k {rule} }}")
        self.session = Session(plan, options=MatchOptions(compiled=self.compiled, trace=trace))
        self.session.restore(snapshot)

    def nodes(self) -> int:
        """The number of rows that say which events the live runs took."""
        (memory,) = self.session.memories.values()
        segments = [segment for space in memory.spaces.values() for segment in space.segments]
        return sum(len(runs.nodes) for of in segments for runs in of.content.rows["runs"].by_width.values())


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize(
    "pattern",
    ["a: e+ -> c: e[v == 2]", "a: e -> b: e+ -> c: e[v == 2]", "(a: e -> b: e+){1,} -> c: e[v == 2]"],
)
def test_runs_that_take_the_same_events_share_what_they_took(pattern: str, compiled: bool) -> None:
    """Each of the runs has taken all events since it began: pairs of run and event would be 7,200."""
    fed = Fed(f"match {pattern} within 1 day", compiled)
    sizes = []
    for _ in range(4):
        fed.feed(*[1] * 30)
        sizes.append(fed.nodes())
    assert sizes[3] - sizes[2] <= 1.2 * (sizes[1] - sizes[0]), "rows grow with events, not with runs"
    assert sizes[3] < 20 * 120


@BOTH
def test_runs_that_share_events_raise_each_its_own(compiled: bool) -> None:
    pattern = "match a: e[v == 1] -> b: e[v == 1]+ -> c: e[v == 2] within 1 day skip none "
    rule = pattern + "having sum(b.v) >= {} limit 5000 runs"
    fed = Fed(rule.format(-1), compiled)
    raised = fed.feed(*[1] * 20)
    # What is shared survives a restart and a revision, whose registers are worked out from it.
    fed.restart(rule.format(0))
    raised += fed.feed(*[1] * 20)
    fed.restart(rule.format(1))
    raised += fed.feed(*[1] * 5, 2)
    assert [one.alert.events for one in raised] == [
        {"a": [f"{n}"], "b": [f"{m}" for m in range(n + 1, 45)], "c": ["45"]} for n in range(44)
    ]


@pytest.mark.slow
@BOTH
def test_what_ended_runs_took_is_forgotten(compiled: bool) -> None:
    """Runs come and go while others share events with them: no chain keeps what its run did not take."""
    fed = Fed("match a: e -> b: e+ -> c: e[v == 2] within 20 seconds", compiled)
    sizes = []
    for _ in range(16):
        fed.feed(*[1] * 25)
        sizes.append(fed.nodes())
    assert max(sizes) <= 1.5 * sizes[1], sizes


LOOPS = "match (a: e -> b: e*){1,} -> c: e[v < 0 and 0 - v > sum(b.v)] within 1 hour"


@pytest.mark.slow
@BOTH
def test_the_ways_of_all_runs_of_a_key_are_bounded(compiled: bool) -> None:
    fed = Fed(LOOPS, compiled)
    for patterns in patterns_of(fed.session.plan):
        for of_width in patterns.classes:
            of_width.tables[of_width.rows[0][layout.U_TABLES] + kernel_tables.H_ALL_ALTS] = 100
    alternatives = []
    for n in range(30):
        fed.feed(2**n)
        (memory,) = fed.session.memories.values()
        alternatives += [
            len(runs.alternatives)
            for space in memory.spaces.values()
            for segment in space.segments
            for runs in segment.content.rows["runs"].by_width.values()
        ]
    # 30 runs of at most eight alternatives: the bound leaves them as many each.
    assert max(alternatives) <= 30 * merge.MERGE_BEYOND
    assert fed.session.counts[AlternativesDropped("p", "r")] > 0


def bounded(program: Program, most: int) -> Program:
    return replace(program, restarts=frozenset(), all_alternatives=most)


@pytest.mark.slow
@settings(max_examples=examples(40), **QUIET)
@given(programs(texts=dense_packs(), most=14, longest=18))
def test_the_bound_of_a_key_does_not_depend_on_where_batches_are_cut(program: Program) -> None:
    arrivals = [
        replace(one, partition="0", file="one", values={**one.values, "id_": f"{n}", "at": n * SECOND // 4})
        for n, one in enumerate(one for batch in program.batches for one in batch)
    ]
    program = bounded(program, 12)
    whole = by_engine(replace(program, batches=(tuple(arrivals),)))
    single = by_engine(replace(program, batches=tuple((one,) for one in arrivals)))
    assert (whole.alerts, whole.counts) == (single.alerts, single.counts), f"{program}"


@pytest.mark.parametrize("most", [5, 6, 7, 8, 12])
def test_runs_that_begin_unseen_change_no_bound(most: int) -> None:
    """An event that only begins a run does not bring the key's other runs to hand."""
    rule = (
        "match a: e[v == 0] -> (b: e[v > 0] -> c: e[v > 0]*)+ -> d: e[v < 0 and 0 - v > sum(c.v)] "
        "within 1h limit 5000 runs"
    )
    text, values = HEAD + f"rule r {{ by k {rule} }}", (0, 1, 2, 4, 8, 0, 16, -3)
    came = [
        Arrival("e", "p", "f", {"id_": f"{n}", "at": n * SECOND, "k": "x", "v": v})
        for n, v in enumerate(values)
    ]
    whole, single = (
        by_engine(Program(text, batches, crowd=0, all_alternatives=most))
        for batches in ((tuple(came),), tuple((one,) for one in came))
    )
    assert (whole.alerts, whole.counts) == (single.alerts, single.counts)
    assert gave_up(whole)


def test_a_trace_tells_what_runs_took_together() -> None:
    """Also of runs that began, and came to share what they took, before there was a trace."""
    rule = "match a: e[v == 1] -> b: e[v == 1]+ -> c: e[v == 2] within 1 day skip none limit 5000 runs"
    fed, trace = Fed(rule), Trace()
    fed.feed(*[1] * 40)
    fed.restart(rule, trace)
    fed.feed(1, 2)
    told = {record.run: record.taken for record in trace.records if record.kind == "matched"}
    assert [[seen.id for _, seen in taken] for taken in told.values()] == [
        [f"{m}" for m in range(n, 42)] for n in range(40)
    ]


@pytest.mark.slow
@settings(max_examples=examples(40), **QUIET)
@given(programs(texts=dense_packs(), most=8, longest=9))
def test_a_bound_that_gives_nothing_up_changes_nothing(program: Program) -> None:
    few, many = by_engine(bounded(program, 40)), by_engine(bounded(program, NEVER_ASKED))
    assert gave_up(few) or (few.alerts, few.counts) == (many.alerts, many.counts), f"{program}"


@dataclass(slots=True)
class Patience:
    steps: int


@pytest.mark.slow
def test_the_compiled_kernel_takes_over_amid_one_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few events may be much work: what decides is the work, and it changes no answer."""
    rule = "match a: e+ -> b: e[v == 2] within 1 hour on timeout emit n = count(a) limit 5000 runs"
    answers = []
    for steps in (layout.END_OF_TIME, 2_000, 0):
        patience = Patience(steps)
        monkeypatch.setattr(engines, "_LEFT", patience)
        fed = Fed(rule, compiled=None)
        raised = fed.feed(*[1] * 120, 2, *[1] * 30) + fed.session.drain()
        answers.append([json.dumps(one.alert.as_dict()) for one in raised])
        assert (patience.steps <= 0) == (steps <= 2_000)
    assert len(answers[0]) > 30
    assert answers[1] == answers[0] == answers[2]
