"""Windows when time leaps, stands still, or holds more events of a key than are kept."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest
from duel import Program, disagreement, plan_of
from effort import examples
from event_tables import tables
from hypothesis import given, settings
from hypothesis import strategies as st
from random_packs import header
from random_streams import SECOND, Arrival, long_stream

from cep.counters import WindowEventsDropped, WindowEventsOverLimit
from cep.inprocess.session import Session

YEAR = 366 * 86_400
LEAPS = (
    -40 * YEAR,
    0,
    1,
    2,
    2,
    61,
    YEAR,
    YEAR + 1,
    YEAR + 3_600,
    3 * YEAR,
    3 * YEAR,
    3 * YEAR + 86_400,
    80 * YEAR,
)
"""Seconds since 1970."""
BOUNDED = (
    "tumbling 2s",
    "tumbling 1h early",
    "tumbling 1 week",
    'tumbling 1 day zone "America/Sao_Paulo"',
    'hopping 3 days every 1 day zone "Australia/Lord_Howe"',
    'hopping 2 weeks every 1 week zone "Europe/Berlin" early',
    "hopping 10s every 2s",
    "hopping 10s every 2s early",
    "sliding 1h",
    "session gap 2s",
    "session gap 1h max 90m early",
    "last 3 events within 1h",
)
"""Windows that let go of a key."""
RULE = """
rule r {{
  by g  over e {}  having count() > 0 or previous(count()) > 0
  emit n = count(), s = sum(w), l = last(k), d = distinct(k), p = percentile(v, 0.5), b = previous(sum(v))
}}
"""


def leaping(seed: int) -> list[Arrival]:
    """Events of two keys at these times."""
    came = long_stream(seed, len(LEAPS), 2, 1)
    return [
        replace(a, stream="e", partition="0", values={**a.values, "at": at * SECOND})
        for a, at in zip(came, LEAPS, strict=True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("window", [*BOUNDED, "last 3 events", "session gap 1h"])
def test_leaps_of_years_are_those_of_the_reference(window: str) -> None:
    came = leaping(1)
    for batches in ([came], [[one] for one in came], [came[:3], [], came[3:7], [], [], came[7:]]):
        program = Program(
            header(0) + RULE.format(window), tuple(map(tuple, batches)), frozenset({0, 2}), shards=2
        )
        if found := disagreement(program):
            pytest.fail(found, pytrace=False)


@pytest.mark.parametrize("window", BOUNDED)
def test_keys_that_are_done_leave_nothing_to_the_shards(window: str) -> None:
    """What a session remembers after a year is what one remembers that has seen the last event alone."""
    rule = (
        f"rule r {{ by g  over e {window} having count() > 0  emit s = sum(w), k = last(k), l = first(l) }}"
    )
    plan = plan_of(header(0) + rule)
    came = [replace(one, stream="e", partition="0") for one in long_stream(2, 60, 20, 30)]
    last = replace(came[-1], values={**came[-1].values, "id_": "last", "at": YEAR * SECOND})
    session, fresh = Session(plan, shards=3), Session(plan, shards=3)
    session.feed(tables(plan.packs[0], came))
    assert session.runs[("p", "r")] > 1
    session.feed(tables(plan.packs[0], [last], 60))
    fresh.feed(tables(plan.packs[0], [last], 60))
    assert session.runs == fresh.runs == {("p", "r"): 1}
    for one in (session, fresh):
        one.feed(
            tables(
                plan.packs[0], [replace(last, stream="f", values={**last.values, "at": 2 * YEAR * SECOND})]
            )
        )
        one.drain()
    assert session.runs == fresh.runs == {}
    assert {n: m for n, m in session.memories.items() if any(s.kept() for s in m.spaces.values())} == {}


@settings(max_examples=examples(10), deadline=None)
@given(st.integers(1, 12), st.lists(st.integers(0, 60), max_size=5))
def test_what_a_hot_key_loses_is_counted_wherever_batches_are_cut(limit: int, cuts: list[int]) -> None:
    """Of n events of a key within the hour, all but the newest `limit` are lost."""
    rule = f"rule r {{ by g  over e sliding 1h  having count() > 0  limit {limit} events }}"
    plan = plan_of(header(0) + rule)
    chance = random.Random(limit)
    came = [
        replace(
            a, stream="e", partition="0", values={**a.values, "g": chance.choice("hhhhhc"), "at": n * SECOND}
        )
        for n, a in enumerate(long_stream(4, 60, 2, 60))
    ]
    keys = [one.values["g"] for one in came]
    lost = {key: max(keys.count(key) - limit, 0) for key in "hc"}
    session = Session(plan, shards=1)
    for begin, end in itertools.pairwise((0, *sorted(cuts), len(came))):
        session.feed(tables(plan.packs[0], came[begin:end], begin))
    assert session.counts[WindowEventsDropped("p", "r")] == sum(lost.values())
    at_once = Session(plan, shards=1)
    at_once.feed(tables(plan.packs[0], came))
    assert at_once.counts[WindowEventsOverLimit("p", "r", '{"g": "h"}')] == lost["h"]
