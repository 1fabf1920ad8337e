"""The long run: 20,000 random programs of every construct, reference against both forms of the engine.

    pytest -s -m soak tests/cep/test_agreement_for_long.py

prints a line a chunk and a total. CEP_SEED is the first chunk's seed (a fresh one otherwise, which is told),
and CEP_EFFORT scales the number of chunks.
"""

from __future__ import annotations

import os
import random
from dataclasses import replace

import pytest
import soak
from duel import Answer, Program, by_engine
from effort import examples
from hypothesis import strategies as st
from random_packs import crowded_packs, dense_packs, header, packs
from random_streams import long_stream
from random_windows import calendar_families, mixed_packs, window_packs

from cep.plan.plan import Plan

PACKS = 40
"""In a chunk, each with several feeds."""


def of_every_kind() -> st.SearchStrategy[list[Program]]:
    """Two sevenths of any patterns; one each of rules with many runs side by side, with many alternatives, of
    windows, of windows over days, of windows beside patterns."""
    anything = soak.families(packs())
    many_runs, many_ways = soak.families(crowded_packs(), 20), soak.families(dense_packs(), 8)
    windows, mixed = soak.families(window_packs()), soak.families(mixed_packs())
    return st.one_of(anything, anything, many_runs, many_ways, windows, calendar_families(), mixed)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_all_engines_agree_for_long() -> None:
    first = int(os.environ.get("CEP_SEED") or random.SystemRandom().randrange(10**9))
    total = soak.Tally()
    for number in range(first, first + examples(140)):
        tally = soak.run_chunk(number, PACKS, of_every_kind(), lambda found: print(found, flush=True))
        total.add(tally)
        print(f"seed {number}: {tally}", flush=True)
    print(f"seeds from {first}: {total}")
    for name, count in total.constructs.most_common():
        print(f"  {name}: {count:,} programs, {total.matched[name]:,} with alerts")
    assert total.differences == 0


ALERT_EACH = header(0) + "\nrule r { on e }\n"


def of_events(count: int) -> Program:
    """A program that raises an alert for each of so many events."""
    came = long_stream(0, count, 1, 60)
    return Program(ALERT_EACH, (tuple(replace(one, stream="e", partition="0") for one in came),))


def test_the_long_run_keeps_what_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that loses all alerts but one: the chunk ends, and two events are enough to see it."""

    def losing(program: Program, plan: Plan) -> Answer:
        answer = by_engine(replace(program, compiled=False), plan=plan)
        return replace(answer, alerts=answer.alerts[:1])

    monkeypatch.setattr(soak, "by_engine", losing)
    shown: list[str] = []
    tally = soak.run_chunk(1, 50, st.integers(0, 40).map(lambda n: [of_events(n)]), shown.append)
    found = [soak.unpacked(text.splitlines()[-1]) for text in shown]
    assert tally.differences == 1
    assert len(found[0].batches[0]) >= 2
    assert found[1] == of_events(2)
    assert f"{found[1]}" in shown[1]


@pytest.mark.slow
def test_what_an_engine_stumbles_over_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumbling(_: Program, plan: Plan) -> Answer:  # noqa: ARG001
        raise ZeroDivisionError("by a run")

    monkeypatch.setattr(soak, "by_engine", stumbling)
    shown: list[str] = []
    assert (
        soak.run_chunk(1, 50, st.integers(0, 40).map(lambda n: [of_events(n)]), shown.append).differences == 1
    )
    assert soak.unpacked(shown[1].splitlines()[-1]) == of_events(0)
    assert "ZeroDivisionError: by a run" in shown[1]


def test_a_chunk_counts_what_it_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    interpreted = lambda program, plan: by_engine(replace(program, compiled=False), plan=plan)  # noqa: E731
    monkeypatch.setattr(soak, "by_engine", interpreted)
    shown: list[str] = []
    tally = soak.run_chunk(2, 5, st.integers(1, 10**6).map(lambda n: [of_events(n % 5)]), shown.append)
    assert (tally.programs, tally.differences, shown) == (tally.constructs["on"], 0, [])
    assert tally.events == tally.alerts > 0
