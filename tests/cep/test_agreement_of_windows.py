"""Rules over windows in the running engine raise what the reference raises, to the last bit.

For random rules and streams, whatever the cuts between batches, restarts, shards and deploys of new
constants; beside patterns over the same streams, and over hits and text conditions.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from duel import (
    Program,
    assert_agreement,
    by_engine,
    by_reference,
    disagreement,
    pack_of,
    programs,
)
from duel import as_alert as expected_alert
from effort import examples
from event_tables import tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_packs import header
from random_streams import long_stream
from random_windows import alike_packs, calendar_families, mixed_packs, through_deploys, window_packs

from alerts.raised import Raised
from alerts.stages.order import in_order
from cep.inprocess.session import Session
from cep.packs.compile import compile_plan
from cep.shard.advance import MatchOptions
from rules.instants import parse_instant

QUIET: Any = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@pytest.mark.timeout(0)
@settings(max_examples=examples(120), **QUIET)
@given(programs(texts=window_packs()))
def test_engines_agree(program: Program) -> None:
    assert_agreement(program, feeds=3)


@pytest.mark.timeout(0)
@settings(max_examples=examples(40), **QUIET)
@given(calendar_families())
def test_engines_agree_of_days_and_weeks(family: list[Program]) -> None:
    for one in family[:2]:
        if found := disagreement(one):
            pytest.fail(found, pytrace=False)


@pytest.mark.timeout(0)
@settings(max_examples=examples(60), **QUIET)
@given(programs(texts=alike_packs()))
def test_engines_agree_of_rules_that_run_together(program: Program) -> None:
    assert_agreement(program, feeds=2)


@pytest.mark.slow
@pytest.mark.timeout(0)
@settings(max_examples=examples(60), **QUIET)
@given(programs(texts=mixed_packs()))
def test_engines_agree_of_windows_beside_patterns(program: Program) -> None:
    assert_agreement(program, feeds=2)


@pytest.mark.slow
@pytest.mark.timeout(0)
@settings(max_examples=examples(60), **QUIET)
@given(programs(texts=alike_packs(), compiled=True))
def test_alerts_of_rules_that_run_together_are_written_together(program: Program) -> None:
    together, alone = by_engine(program), by_engine(replace(program, compiled=False))
    assert together.alerts == alone.alerts, f"{program}"


@pytest.mark.slow
@pytest.mark.timeout(0)
@settings(max_examples=examples(50), **QUIET)
@given(programs(texts=window_packs() | mixed_packs() | alike_packs(), compiled=True))
def test_the_compiled_kernel_agrees(program: Program) -> None:
    compiled, plain = by_engine(program), by_engine(replace(program, compiled=False))
    assert compiled.alerts == plain.alerts, f"{program}"
    assert compiled.counts == plain.counts, f"{program}"


RULES = """
rule tumbling {
  by g  over e tumbling 10s  having count() > previous(count())  emit s = sum(w), m = avg(m), y = first(y)
}
rule hopping {
  by g  over e[v > 0] hopping 20s every 5s  having distinct(k) > 1  emit d = stddev(w), p = percentile(v, 0.5)
}
rule sliding {
  by n  over e sliding 15s  having sum(v) > 2 * previous(sum(v))  emit k = max(k), l = last(l)  limit 9 events
}
rule latest {
  over f last 7 events within 9s  having avg(w) > 1.0  emit r = rate(), t = count(t matches "red")
}
rule session {
  by g  over e session gap 3s max 20s  having count() > 4  emit a = start(), b = end(), v = last(v)
}
rule early {
  by h  over e tumbling 1m early  having count() > 9  emit h
}
rule pair {
  by g  match a: e[k == "a"] -> b: e[k == "b" and v > a.v]  within 10s  emit v = b.v
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_engines_agree_on_a_long_stream(seed: int) -> None:
    came = long_stream(seed, events=1_500, keys=8, seconds=600)
    ends = sorted(random.Random(seed).sample(range(len(came)), 6))
    batches = tuple(tuple(came[a:b]) for a, b in itertools.pairwise([0, *ends, len(came)]))
    program = Program(header(3) + RULES, batches, frozenset({1, 4}), shards=3, compiled=bool(seed))
    if found := disagreement(program):
        pytest.fail(found, pytrace=False)
    assert len({alert["rule"] for alert in by_reference(program).alerts}) == RULES.count("rule ")


def deployed(program: Program, texts: Sequence[str]) -> list[dict[str, Any]]:
    """The alerts with batch n under the n-th text, the last of which goes on; state goes on as bytes."""
    raised: list[Raised] = []
    snapshot, offset = None, 0
    for number, batch in enumerate(program.batches):
        plan = compile_plan([pack_of(texts[min(number, len(texts) - 1)])])
        session = Session(plan, program.shards, options=MatchOptions(merging=program.merging))
        if snapshot is not None:
            session.restore(snapshot)
        raised += session.feed(tables(plan.packs[0], batch, offset))
        offset += len(batch)
        snapshot = session.snapshot()
    if program.drain:
        raised += session.drain()
    return [one.alert.as_dict() for one in in_order(raised)]


@pytest.mark.slow
@pytest.mark.timeout(0)
@settings(max_examples=examples(60), **QUIET)
@given(programs(texts=window_packs()), st.integers(1, 4), st.sampled_from(("1 < 2 and ", "2 < 1 and ")))
def test_new_constants_of_having_leave_windows_open(program: Program, when: int, test: str) -> None:
    """Under one structure: what was kept goes on, and is asked by the constants of the day."""
    old = program.text.replace("having ", "having 1 < 2 and ")
    new = program.text.replace("having ", f"having {test}")
    assert pack_of(old).rules[0].structure == pack_of(new).rules[0].structure
    texts = [*[old] * when, new]
    expected = [expected_alert(pack_of(old), one) for one in through_deploys(program, texts)]
    found = [{**a, "time": parse_instant(a["time"])} for a in deployed(program, texts)]
    by_id = lambda alert: (alert["time"], alert["id"])  # noqa: E731
    assert sorted(({n: a[n] for n in e} for a, e in zip(found, expected, strict=True)), key=by_id) == sorted(
        expected, key=by_id
    ), f"{program}"
