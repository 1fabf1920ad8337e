"""Many runs of one key, long loops, many events: room grows, limits hold, both kernels find the same."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from duel import pack_of

from alerts.raised import Raised
from cep.counters import RunsDropped
from cep.events import FILE, ID, OFFSET, TIME, Events, event_schema
from cep.inprocess.session import Session
from cep.packs.compile import compile_plan
from cep.shard.advance import MatchOptions

SECOND = 1_000_000_000
STREAM = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: double  id id_  time at }
"""
BOTH = pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])


def session(rule: str, compiled: bool, shards: int = 1) -> Session:
    return Session(compile_plan([pack_of(STREAM + rule)]), shards, options=MatchOptions(compiled=compiled))


def events(session: Session, keys: list[str], values: list[float], first: int = 0) -> Events:
    """One event a second."""
    count = len(keys)
    numbers = np.arange(first, first + count)
    schema = event_schema(session.plan.packs[0].streams[0])
    columns = {
        "id_": pa.array([f"{n}" for n in numbers]),
        "at": pa.array(numbers * SECOND).cast(pa.timestamp("ns", "UTC")),
        "k": pa.array(keys),
        "v": pa.array(values, pa.float64()),
        TIME: pa.array(numbers * SECOND),
        ID: pa.array([f"{n}" for n in numbers]),
        FILE: pa.array(["f"] * count).dictionary_encode(),
        OFFSET: pa.array(numbers),
    }
    return Events("e", "p", pa.table([columns[f.name] for f in schema], schema=schema))


def begun_and_ended(rule: str, compiled: bool, count: int) -> tuple[Session, list[Raised]]:
    """So many events that begin a run, in three batches, and one that ends them all."""
    running = session(rule, compiled)
    raised: list[Raised] = []
    for first in range(0, count, count // 3):
        more = min(count // 3, count - first)
        raised += running.feed([events(running, ["x"] * more, [1.0] * more, first)])
    return running, raised + running.feed([events(running, ["x"], [2.0], count)])


@pytest.mark.slow
@BOTH
def test_every_run_of_a_crowded_key_is_raised(compiled: bool) -> None:
    rule = "rule r { match a: e[v == 1] -> b: e[v > a.v] within 1 day skip none limit 5000 runs }"
    _, raised = begun_and_ended(rule, compiled, 600)
    assert [one.alert.events for one in raised] == [{"a": [f"{n}"], "b": ["600"]} for n in range(600)]


@pytest.mark.slow
@BOTH
def test_beyond_the_limit_the_oldest_runs_are_dropped_and_counted(compiled: bool) -> None:
    rule = "rule r { match a: e[v == 1] -> b: e[v > a.v] within 1 day skip none limit 10 runs }"
    running, raised = begun_and_ended(rule, compiled, 300)
    assert [one.alert.events["a"] for one in raised] == [[f"{n}"] for n in range(290, 300)]
    # The event that ends them begins none.
    assert running.counts[RunsDropped("p", "r", "limit")] == 290


@pytest.mark.slow
@BOTH
def test_a_long_loop_keeps_every_event(compiled: bool) -> None:
    rule = "rule r { match a: e[v == 1]{2,} -> b: e[v > avg(a.v)] within 1 day emit n = count(a) }"
    _, raised = begun_and_ended(rule, compiled, 240)
    (one,) = raised
    assert one.alert.emit == {"n": 240}
    assert one.alert.events["a"] == [f"{n}" for n in range(240)]


@pytest.mark.slow
def test_events_that_no_run_names_any_more_take_no_room() -> None:
    running = session("rule r { match a: e[v == 1]{2,} -> b: e[v == 3] within 1 day limit 50 runs }", True)
    running.feed([events(running, ["x"] * 20_000, [1.0] * 20_000)])
    # 50 runs of 50 events at most, of the million that were taken.
    running.store()
    assert running.stored[0].size < 300_000
    (one,) = running.feed([events(running, ["x"], [3.0], 20_000)])
    assert one.alert.events["a"] == [f"{n}" for n in range(19_950, 20_000)]


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize("shards", [1, 5])
def test_many_keys_match_what_a_loop_over_them_finds(compiled: bool, shards: int) -> None:
    count = 24_000 if compiled else 4_000
    random = np.random.default_rng(7)
    keys = [f"k{n}" for n in random.integers(0, count // 10, count)]
    values = (random.integers(0, 10_000, count) / 100).tolist()
    rule = """rule r { by k
      match a: e[v < 50] => b: e[v > a.v + 10] => c: e[v > b.v]  within 30 minutes }"""
    running = session(rule, compiled, shards)
    raised: list[Raised] = []
    for first in range(0, count, count // 4):
        part = slice(first, first + count // 4)
        raised += running.feed([events(running, keys[part], values[part], first)])
    found = [one.alert.events for one in raised]
    assert sorted(found, key=lambda taken: int(taken["a"][0])) == strict_matches(keys, values, 1800)
    assert len(found) > 100


def strict_matches(keys: list[str], values: list[float], within: int) -> list[dict[str, list[str]]]:
    """The oracle: three events of a key in a row, none of them in two matches."""
    recent: dict[str, list[int]] = {}
    found = []
    for number, key in enumerate(keys):
        seen = recent.setdefault(key, [])
        seen.append(number)
        if len(seen) < 3:
            continue
        a, b, c = seen[-3:]
        if values[a] < 50 and values[b] > values[a] + 10 and values[c] > values[b] and c - a < within:
            found.append({"a": [f"{a}"], "b": [f"{b}"], "c": [f"{c}"]})
            seen.clear()
    return sorted(found, key=lambda taken: int(taken["a"][0]))
