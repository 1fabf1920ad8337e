"""Deploys of rules over windows: what they left open goes on under the old rule and the new one begins, as in
the reference, whatever is lost between batches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from duel import Program, accepted, as_alert, pack_of, programs
from effort import examples
from event_tables import tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_streams import SECOND, Arrival
from random_windows import of_revisions, window_packs, window_rules

from alerts.notation import timestamp
from alerts.raised import Raised
from alerts.stages.order import in_order
from cep.cli.deploy import _text
from cep.counters import RunsDropped
from cep.inprocess.session import Session
from cep.job.batches.deployed_packs import fates
from cep.job.state_folder.deploy_requests import Answer, RuleFate
from cep.operators.windows.over import OVER
from cep.packs.compile import compile_plan
from cep.plan.generations import Generations
from cep.shard.advance import MatchOptions

QUIET: Any = {"deadline": None, "suppress_health_check": list(HealthCheck)}


def deployed(program: Program, texts: Sequence[str]) -> list[dict[str, Any]]:
    """The alerts of the engine, with batch n under the n-th text, the last of which goes on."""
    session = new_session(program, texts[0])
    raised: list[Raised] = []
    offset = 0
    for number, batch in enumerate(program.batches):
        if 0 < number < len(texts):
            session.deploy([pack_of(texts[number])])
        raised += session.feed(tables(session.plan.packs[0], batch, offset))
        offset += len(batch)
        session.store()
        if number in program.restarts:
            session = restarted(session, program, texts)
    if program.drain:
        raised += session.drain()
        assert not session.plan.generations.closing
    return [one.alert.as_dict() for one in in_order(raised)]


def once(program: Program) -> Program:
    """The program without events that come again in a later batch.

    A new rule does not count an event that came before its deploy and waits; whether it counts one that comes
    again after it depends on whether the engine had the rule's key space before.
    """
    seen: set[tuple[str, object]] = set()
    batches = []
    for batch in program.batches:
        batches.append(tuple(one for one in batch if (one.stream, one.values["id_"]) not in seen))
        seen |= {(one.stream, one.values["id_"]) for one in batch}
    return replace(program, batches=tuple(batches))


def new_session(program: Program, text: str) -> Session:
    return Session(
        compile_plan([pack_of(text)]),
        program.shards,
        options=MatchOptions(compiled=program.compiled, merging=program.merging),
    )


def restarted(before: Session, program: Program, texts: Sequence[str]) -> Session:
    """A session that knows the snapshot, the packs' texts, and what a manifest says of generations."""
    packs = {pack.revision: pack for pack in map(pack_of, texts)}
    generations = Generations.of(json.loads(json.dumps(before.plan.generations.as_dict())))
    plan = compile_plan(
        [packs[pack.revision] for pack in before.plan.packs],
        generations=generations,
        replaced=[packs[revision] for revision in generations.revisions],
    )
    assert plan.id == before.plan.id
    session = Session(plan, program.shards, options=before.options)
    session.restore(before.snapshot())
    return session


def by_reference(program: Program, texts: Sequence[str]) -> list[dict[str, Any]]:
    """The same of the reference."""
    packs = {id(pack.rules[0]): pack for pack in map(pack_of, texts)}
    found = ((packs[id(rule)], one) for rule, one in of_revisions(program, texts))
    return [{**as_alert(pack, one), "revision": pack.revision} for pack, one in found]


def told(alert: dict[str, Any]) -> str:
    """All of it, in an order of its own."""
    time = alert["time"]
    names = ("id", "revision", "rule", "kind", "key", "emit", "events")
    return json.dumps([timestamp(time) if isinstance(time, int) else time, *(alert[name] for name in names)])


def assert_agreement(program: Program, texts: Sequence[str]) -> None:
    mine, theirs = deployed(program, texts), by_reference(program, texts)
    assert sorted(map(told, mine)) == sorted(map(told, theirs)), "\n".join([*texts, str(program)])


@pytest.mark.slow
@settings(max_examples=examples(80), **QUIET)
@given(programs(texts=window_packs()), st.data())
def test_random_rules_through_random_deploys_are_as_in_the_reference(
    program: Program, data: st.DataObject
) -> None:
    head = program.text[: program.text.index("\nrule")]
    packs = window_rules().map(lambda rule: f"{head}\n{rule}").filter(accepted)
    others = [data.draw(packs) for _ in range(data.draw(st.integers(1, 2)))]
    texts = [data.draw(st.sampled_from([program.text, *others])) for _ in program.batches]
    assert_agreement(once(program), [program.text, *texts[1:]])


HEAD = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long  id id_  time at  lateness 0 seconds }
"""


def rule(window: str, having: str = "count() > 0", condition: str = "v > 0") -> str:
    return f"{HEAD}rule r {{ by k  over e[{condition}] {window} having {having} emit n = count() }}"


def arrival(number: int, at: int, key: str = "a") -> Arrival:
    values = {"id_": str(number), "at": at * SECOND, "k": key, "v": number}
    return Arrival("e", "p", "f", values)


def after(*texts: str, times: Sequence[int] = (3,)) -> Session:
    """A session that took an event a batch at these times, then got the packs, one after the other."""
    session = Session(compile_plan([pack_of(texts[0])]), options=MatchOptions(compiled=False))
    for number, time in enumerate(times, 1):
        session.feed(tables(session.plan.packs[0], [arrival(number, time)], number))
    for text in texts[1:]:
        session.deploy([pack_of(text)])
    return session


def raised(session: Session, number: int, at: int, key: str = "a") -> list[tuple[str, int, list[str]]]:
    """The revision, time and events of the alerts of a batch with one event."""
    found = session.feed(tables(session.plan.packs[0], [arrival(number, at, key)], number))
    alerts = (one.alert.as_dict() for one in found)
    return [(str(a["revision"]), a["time"], a["events"]["e"]) for a in alerts]  # type: ignore[index, misc]


def test_a_key_that_had_no_window_gets_one_of_the_rule_before() -> None:
    old, new = rule("tumbling 10s"), rule("tumbling 10s", condition="v > 1")
    session = after(old, new)
    (closing,) = session.plan.generations.closing
    assert (closing.rule, closing.begun, closing.until) == ("r", 0, 3 * SECOND)
    assert raised(session, 5, 5, "b") == []
    found = raised(session, 6, 11, "b")
    assert [(revision, events) for revision, _, events in found] == [
        (pack_of(old).revision, ["1"]),
        (pack_of(old).revision, ["5"]),
    ]
    assert session.plan.generations.closing == (), "the window in which the deploy fell is over"
    assert [(r, e) for r, _, e in raised(session, 7, 21)] == [(pack_of(new).revision, ["6"])]


def test_a_rule_that_is_taken_back_begins_anew_beside_the_two_before_it() -> None:
    old, new = rule("tumbling 10s"), rule("tumbling 10s", condition="v > 1")
    session = after(old, new, old)
    assert len(session.plan.generations.closing) == 2
    assert len({one.identity for one in session.plan.rules()}) == 3
    assert [r for r, _, _ in raised(session, 5, 11)] == [pack_of(old).revision]


@pytest.mark.parametrize("window", ["sliding 10s", "last 3 events"])
def test_windows_of_each_event_begin_anew_and_unraised(window: str) -> None:
    session = after(rule(window, "count() > 1"), rule(window, "count() > 1", "v > 1"), times=(1, 2, 3))
    assert session.plan.generations.closing == ()
    assert raised(session, 5, 4) == []
    assert [events for _, _, events in raised(session, 6, 5)] == [["5", "6"]]


def test_sessions_close_when_no_key_keeps_one() -> None:
    session = after(rule("session gap 10s"), rule("session gap 10s", condition="v > 1"))
    assert len(session.plan.generations.closing) == 1
    assert raised(session, 5, 8) == []
    assert [events for _, _, events in raised(session, 6, 30)] == [["1", "5"], ["5"]]
    assert session.plan.generations.closing == ()


@pytest.mark.parametrize(
    "changed",
    [
        HEAD + "rule other { by k  over e tumbling 5s having count() > 9 }",
        rule("tumbling 10s", condition="v > 1").replace("lateness 0", "lateness 1"),
    ],
    ids=["the rule is gone", "the stream is another"],
)
def test_what_cannot_go_on_takes_its_windows_along(changed: str) -> None:
    session = after(rule("tumbling 10s"), changed)
    assert session.plan.generations.closing == ()
    session.drain()
    lost = {name: count for name, count in session.counts.items() if isinstance(name, RunsDropped)}
    assert lost == {RunsDropped("p", "r", "dropped"): 1}


def test_a_deploy_tells_what_becomes_of_windows() -> None:
    old, new = pack_of(rule("tumbling 10s")), pack_of(rule("tumbling 10s", condition="v > 1"))
    session = after(rule("tumbling 10s"), rule("tumbling 10s", condition="v > 1"))
    runs = {("p", "r"): 2}
    (fate,) = fates(old, new, runs, {}, session.plan.generations.closing)
    assert fate == RuleFate("r", "drained", 2, "keys", "1970-01-01T00:00:10Z")
    assert "drained: its structure changed (windows of 2 keys go on under the rule before, until " in _text(
        new, Answer("q", "p", new.revision, 3, old.revision, (fate,))
    )
    sliding, other = pack_of(rule("sliding 10s")), pack_of(rule("sliding 10s", condition="v > 1"))
    (fate,) = fates(sliding, other, runs, {})
    assert fate == RuleFate("r", "started anew", 2, "keys")
    assert "(windows of 2 keys dropped)" in _text(other, Answer("q", "p", "x", 3, "y", (fate,)))


@pytest.mark.parametrize(
    ("window", "at", "end"),
    [
        ("tumbling 10s", 20, 20),
        ("tumbling 10s", 21, 30),
        ("hopping 10s every 5s", 21, 30),
        ("tumbling 1 week", 4 * 86_400, 4 * 86_400),
        ("tumbling 1 week", 4 * 86_400 + 1, 11 * 86_400),
    ],
)
def test_aligned_windows_are_over_when_the_last_that_had_begun_ends(window: str, at: int, end: int) -> None:
    (planned,) = pack_of(rule(window)).rules
    assert OVER.open_until(planned, at * SECOND) == end * SECOND
