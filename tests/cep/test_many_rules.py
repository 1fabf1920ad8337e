"""Rules that run together find what each of them finds alone, and what is kept of a key can be cut out."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import pytest
from duel import pack_of
from effort import examples
from event_tables import tables
from hypothesis import given, settings
from hypothesis import strategies as st
from random_packs import header
from random_streams import long_stream

from cep.inprocess.session import Session
from cep.operators.patterns.kernel import layout
from cep.operators.patterns.runtime import blocks
from cep.operators.patterns.runtime.runs import Runs, joined, width_class
from cep.packs.compile import compile_plan
from cep.plan.plan import RuleName
from cep.shard.advance import MatchOptions

BOTH = pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
SHAPES = (
    'by g  match a: e[v == {n}] -> b: f[v != {n}]  within 30s',
    'by g  match a: e[v > {n}] => b: e[v > a.v]  within 60s',
    'by g  match a: e[v <= {n}]{{2,}} -> b: e[k == "b" and v >= avg(a.v)]  within 40s  emit n = count(a)',
    'by g  match a: e[v == {n}] ~> b: e[k == a.k and prev(v) != v]  within 20s',
    'by g  match a: e[v == {n}]{{2}} -> b: e[percentile(a.v, 0.5) <= v]  within 40s',
    'by n  match absent f[v == {n}] for 5s -> a: e[v == {n}] -> b: e[w > a.w]  within 30s',
)  # fmt: skip


def rules() -> list[str]:
    return [
        f"rule r{n}_{shape} {{ {text.format(n=n)} }}\n" for n in (1, 3) for shape, text in enumerate(SHAPES)
    ]


def found(texts: list[str], compiled: bool) -> tuple[list[tuple[object, ...]], dict[RuleName, int], Session]:
    """The alerts of the rules and their live runs after some batches."""
    plan = compile_plan([pack_of(header(2) + "".join(texts))])
    session = Session(plan, shards=2, options=MatchOptions(compiled=compiled))
    came = long_stream(3, events=360, keys=4, seconds=150)
    raised = []
    for first in range(0, len(came), 90):
        batch = came[first : first + 90]
        # Said, since by itself it would depend on the streams that the rules read.
        watermark = min(arrival.time for arrival in came[first + 90 :] or batch)
        raised += session.feed(tables(plan.packs[0], batch, first), watermark)
    shown = [(a.alert.rule, a.time, str(a.alert.key), str(a.alert.events), str(a.alert.emit)) for a in raised]
    return sorted(shown), session.runs, session


@pytest.mark.slow
@BOTH
def test_rules_find_together_what_each_finds_alone(compiled: bool) -> None:
    texts = rules()
    together, runs, _ = found(texts, compiled)
    alone = [found([text], compiled) for text in texts]
    assert together == sorted(alert for alerts, _, _ in alone for alert in alerts)
    assert runs == {rule: count for _, of_rule, _ in alone for rule, count in of_rule.items()}
    assert len({alert[0] for alert in together}) > len(texts) // 2, "most rules raise something"


@pytest.mark.slow
@pytest.mark.parametrize("work", [1, 40])
def test_blocks_of_keys_change_nothing(work: int, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = rules()
    alerts, runs, _ = found(texts, compiled=False)
    monkeypatch.setattr(blocks, "AT_ONCE", work)
    monkeypatch.setattr(blocks, "A_RULE", 0)
    in_blocks, runs_in_blocks, _ = found(texts, compiled=False)
    assert in_blocks == alerts
    assert runs_in_blocks == runs


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.integers(0, 9), max_size=60), st.integers(0, 3), st.integers(0, 200))
def test_blocks_are_whole_keys_one_after_the_other(events: list[int], more: int, looks: int) -> None:
    keys = np.sort(np.array(events, np.int64))
    count = 10 + more
    ends = blocks.blocks(keys, count, looks, Runs.none(8), 1)
    assert ends[-1].tolist() == [len(keys), count]
    assert (np.diff(ends[:, layout.B_KEY], prepend=0) > 0).all()
    assert ends[:, layout.B_EVENT].tolist() == [int((keys < key).sum()) for key in ends[:, layout.B_KEY]]


@cache
def kept() -> list[Runs]:
    _, _, session = found(rules(), False)
    spaces = [space for memory in session.memories.values() for space in memory.spaces.values()]
    parts = [part.content.rows["runs"] for space in spaces for part in space.segments]
    return [runs for of_part in parts for runs in of_part.by_width.values()]


@pytest.mark.slow
@settings(max_examples=examples(10), deadline=None)
@given(st.integers(0, 2**32))
def test_what_is_cut_out_by_key_joins_to_what_it_was(seed: int) -> None:
    random = Random(seed)
    for runs in kept():
        part = np.array([random.randrange(3) for _ in range(int(runs.lists[:, 0].max()) + 1)])
        of_list = part[runs.lists[:, 0]]
        whole = joined([runs.chosen(np.flatnonzero(of_list == n)) for n in range(3)])
        for name in ("lists", "runs", "alternatives", "nodes"):
            assert np.array_equal(getattr(whole, name), getattr(runs, name))


def test_widths_waste_less_than_half() -> None:
    for numbers in range(8, 400):
        assert numbers <= width_class(numbers) < 1.5 * numbers
    assert sorted({width_class(n) for n in range(8, 65)}) == [8, 12, 16, 24, 32, 48, 64]
