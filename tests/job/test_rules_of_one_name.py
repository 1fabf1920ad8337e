"""Packs of one job may each have a rule of one name: nothing of the one is counted as the other's."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from duel import pack_of
from event_tables import tables
from job_folder import JobFolder
from random_streams import SECOND, Arrival

from cep.batch.clock import BatchStart, Seen
from cep.counters import AlternativesDropped, Overflows, RunsDropped, RunsOverLimit
from cep.inprocess.session import Session
from cep.job.batches.deployed_packs import fates
from cep.job.batches.driver import FinishedBatch
from cep.job.clocks.running_time import Stretch
from cep.job.running.reporting import MetricsReporter
from cep.job.shipping.rows import Kind, pack
from cep.job.state_folder.deploy_requests import Answer, Request, RuleFate, answered, new_id, submit
from cep.job.state_folder.manifest import Manifest, following, result, result_of
from cep.job.workers.outcome import BatchOutcome, Settled, put_together
from cep.packs.compile import compile_plan
from cep.packs.succession import begun, succession
from cep.plan.plan import Plan
from cep.shard.advance import MatchOptions
from cep.web.metrics import Metrics
from rules.packs import load_texts

STREAM = "stream e { id_: string  at: timestamp  k: string  v: long  s: string?  id id_  time at }\n"
WITHIN = "within 1 hour"


def text(name: str, pattern: str) -> str:
    return f'pack {name} version "1"\n{STREAM}rule r {{ by k match {pattern} }}\n'


LEFT = text("left", f"a: e[v == 1] -> b: e[v == 9] {WITHIN} limit 3 runs")
RIGHT = text("right", f"a: e[v == 2] -> b: e[v == 9] {WITHIN} limit 2 runs")


def plan_of(*texts: str) -> Plan:
    return compile_plan([pack_of(one) for one in texts])


def event(number: int, at: int, v: int) -> Arrival:
    return Arrival("e", "p", "f", {"id_": str(number), "at": at * SECOND, "k": "k", "v": v, "s": None})


def fed(session: Session, values: list[int]) -> list[tuple[str, str]]:
    came = [event(n, n + 1, v) for n, v in enumerate(values)]
    return [(a.pack, a.rule) for a in session.feed(tables(session.plan.packs[0], came), len(came) * SECOND)]


def test_live_and_lost_runs_are_counted_by_pack() -> None:
    session = Session(plan_of(LEFT, RIGHT), options=MatchOptions(compiled=False))
    fed(session, [1] * 5 + [2] * 6)
    assert session.runs == {("left", "r"): 3, ("right", "r"): 2}
    lost = {name: number for name, number in session.counts.items() if isinstance(name, RunsDropped)}
    assert lost == {RunsDropped("left", "r", "limit"): 2, RunsDropped("right", "r", "limit"): 4}


def test_runs_that_a_deploy_ends_are_those_of_its_pack() -> None:
    session = Session(plan_of(LEFT, RIGHT), options=MatchOptions(compiled=False))
    fed(session, [1, 1, 2])
    after = Session(
        plan_of(LEFT, text("right", f"a: e[v == 2]{{2}} {WITHIN}")), options=MatchOptions(compiled=False)
    )
    after.restore(session.snapshot())
    after.feed([], 4 * SECOND)
    assert after.runs == {("left", "r"): 2}
    assert after.counts[RunsDropped("right", "r", "dropped")] == 1
    assert after.counts[RunsDropped("left", "r", "dropped")] == 0


def test_results_without_room_are_counted_by_pack() -> None:
    grows = "a: e[v > 0] -> b: e[a.v * v > 10]"
    session = Session(
        plan_of(text("left", f"{grows} {WITHIN}"), text("right", f"a: e[v == 7] {WITHIN}")),
        options=MatchOptions(compiled=False),
    )
    fed(session, [2**62, 2**62])
    lost = {name: number for name, number in session.counts.items() if isinstance(name, Overflows)}
    assert lost == {Overflows("rule", "left", "r"): 1}


def test_a_deploy_begins_the_watch_of_its_own_pack_alone() -> None:
    quiet = "absent e[v == 1] for 2 seconds -> b: e[v == 9] within 1 hour"
    both = plan_of(text("left", quiet), text("right", quiet))
    late = Session(
        both, start=BatchStart(since={("right", "r"): 4 * SECOND}), options=MatchOptions(compiled=False)
    )
    assert fed(late, [0, 0, 0, 0, 9]) == [("left", "r")]


def test_what_is_remembered_of_a_batch_tells_the_packs_apart() -> None:
    both = plan_of(LEFT, RIGHT)
    runs = {("left", "r"): 3, ("right", "r"): 2}
    first = result(Manifest(0, {}, 1, 0), both, Seen(), 5, runs)
    before = result_of(first.as_dict())
    changed = pack_of(text("right", f"a: e[v == 2]{{3}} {WITHIN}"))
    packs = {"left": pack_of(LEFT), "right": pack_of(RIGHT)}
    standing = succession(before.standing, packs, {**packs, "right": changed}, (), 1, before.watermark)
    made = following(Manifest(1, {}, 1, 0), before, both, Stretch(0), standing)
    after = result_of(result(made, both, Seen(), 6, runs).as_dict())
    assert after.runs == runs
    assert after.since == {("right", "r"): 5}
    assert succession(after.standing, packs, {"left": packs["left"]}, (), 2, 6).since == {}


def test_a_deploy_answers_with_the_runs_of_its_pack() -> None:
    before, after = pack_of(RIGHT), pack_of(RIGHT.replace('"1"', '"2"'))
    runs = {("left", "r"): 3, ("right", "r"): 2}
    assert fates(before, after, runs, runs) == (RuleFate("r", "kept", 2),)
    changed = pack_of(text("right", f"a: e[v == 2]{{3}} {WITHIN}"))
    assert fates(before, changed, runs, {("left", "r"): 3}) == (RuleFate("r", "started anew", 2),)
    assert begun(before, changed) == {("right", "r")}


def settled(runs: Mapping[tuple[str, str], int]) -> tuple[Kind, bytes]:
    return Kind.SETTLED, pack(Settled(7, Seen(), {}, runs, 10, 0.1))


def test_shards_are_added_up_by_pack() -> None:
    rows = [settled({("left", "r"): 3, ("right", "r"): 2}), settled({("right", "r"): 5})]
    assert put_together(rows, 2).runs == {("left", "r"): 3, ("right", "r"): 7}


def test_metrics_by_rule_alone_are_sums_and_lost_runs_name_the_pack() -> None:
    metrics, told = Metrics(), list[str]()
    counts = {
        RunsDropped("left", "r", "limit"): 1,
        RunsOverLimit("left", "r", '{"k": "x"}'): 1,
        RunsDropped("right", "r", "limit"): 20,
        AlternativesDropped("right", "r"): 30,
        Overflows("rule", "right", "r"): 40,
    }
    runs = {("left", "r"): 3, ("right", "r"): 2}
    outcome = BatchOutcome(0, Seen(), (), (), (), counts, runs, 10, {})
    MetricsReporter(metrics, told.append).take(
        FinishedBatch(4, plan_of(LEFT, RIGHT), Manifest(4, {}, 1, 0), outcome, {}, {}, False, 0.1, {}, 0)
    )
    lines = metrics.text().decode().splitlines()
    for line in (
        'cep_runs{rule="r"} 5.0',
        'cep_runs_dropped_total{pack="left",reason="limit",rule="r"} 1.0',
        'cep_runs_dropped_total{pack="right",reason="limit",rule="r"} 20.0',
        'cep_alternatives_dropped_total{pack="right",rule="r"} 30.0',
        'cep_overflows_total{kind="rule",name="r",pack="right"} 40.0',
    ):
        assert line in lines, line
    assert [re.split(r";| of more", one.replace('"', "").removeprefix("batch 4: "))[0] for one in told] == [
        "rule r of pack left dropped 1 run over its `limit 3 runs`, the oldest ones of a key, all of k x",
        "rule r of pack right dropped 20 runs over its `limit 2 runs`, the oldest ones of a key",
        "rule r of pack right gave up 30 alternatives of its runs, the least preferred",
    ]
    assert not [line for line in lines if '"x"' in line], "no metric has a label by key"


@pytest.mark.spark
def test_a_job_keeps_the_packs_apart(spark: Callable[..., Any], tmp_path: Path) -> None:
    folder = JobFolder(tmp_path / "job", LEFT, ("e",))
    (folder.root / "packs" / "right.rules").write_text(RIGHT, "utf-8")
    rows = [{"id_": str(n), "at": n, "k": "k", "v": v, "s": None} for n, v in enumerate([1, 1, 1, 1, 2, 0])]
    folder.put("e", [{**row, "at": f"2026-01-01T00:00:0{row['at']}Z"} for row in rows])
    told = folder.once(spark)
    assert "rule r of pack left dropped 1 run over its `limit 3 runs`" in told
    assert 'all of k "k"; `limit 10 runs` is enough' in told
    assert "of pack right" not in told

    def deployed(text: str) -> Answer:
        new = load_texts([("new.rules", text)]).need()
        request = Request(new_id(), new.name, new.revision, new.files)
        submit(folder.state, request)
        folder.once(spark)
        answer = answered(folder.state, request.id)
        assert answer is not None, json.dumps(folder.alerts())
        return answer

    assert deployed(RIGHT.replace('"1"', '"2"')).rules == (RuleFate("r", "kept", 1),)
    assert deployed(LEFT.replace('"1"', '"2"')).rules == (RuleFate("r", "kept", 3),)
    changed = text("right", f"absent e[v == 1] for 2 seconds -> b: e[v == 9] {WITHIN}")
    assert deployed(changed).rules == (RuleFate("r", "started anew", 1),)
    assert folder.runs() == {("left", "r"): 3}
