"""A new kind of rule is its own module and its place in one tuple: tests/cep/counting.py is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from counting import COUNTER
from duel import pack_of
from effort import examples
from event_tables import tables
from hypothesis import given, settings
from hypothesis import strategies as st
from random_streams import SECOND, Arrival

from cep.events import ID
from cep.inprocess.session import Session, StoredShard
from cep.operators import known
from cep.operators.windows.over import OVER
from cep.packs.compile import compile_plan
from cep.shard.advance import MatchOptions
from cep.shard.memory import Merging
from cep.shard.state_bytes import StateError

MINUTE = 60 * SECOND
HEAD = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long  id id_  time at  lateness 2 minutes }
"""
PAIR = "rule pair { by k  match a: e[v == 0] -> b: e[v > a.v]  within 5 minutes  emit k, b = b.v }\n"
BUSY = "rule busy { by k  over e[v > 0] tumbling 1 minute  having count() >= 2  emit k, n = count() }\n"
OTHERS = """rule another { by k  over e tumbling 3 minutes  having count() >= 1  emit n = count() }
rule before { by k  match a: e[v == 2] -> b: e[v == 3] within 1 minute }
rule alone { on e[v == 3] }
"""


@contextmanager
def counted(first: bool = False) -> Iterator[None]:
    """With an engine that has the operator in place of that of windows, as the first or the last one."""
    others = tuple(one for one in known.OPERATORS if one is not OVER)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known, "OPERATORS", (COUNTER, *others) if first else (*others, COUNTER))
        yield


Batches = list[list[tuple[int, str, int]]]
"""Events of each batch: seconds, key, value."""


@st.composite
def batches(draw: st.DrawFn) -> Batches:
    """Events about in order of time, in a few batches."""
    found, begin = [], 0
    for _ in range(draw(st.integers(1, 6))):
        begin += draw(st.sampled_from((0, 20, 100, 400)))
        event = st.tuples(st.integers(begin, begin + 240), st.sampled_from("abc"), st.integers(0, 3))
        found.append(draw(st.lists(event, max_size=12)))
    return found


def run(
    texts: Sequence[str], fed: Batches, shards: int = 1, merging: Merging | None = None
) -> Counter[object]:
    """The alerts of rules that all texts have, with batch n under text n; every batch begins from what
    the one before has stored. And, under "late", the numbers of late events."""
    found: Counter[object] = Counter()
    snapshot, number = None, 0
    for place, batch in enumerate([*fed, None]):
        plan = compile_plan([pack_of(HEAD + texts[place % len(texts)])])
        session = Session(plan, shards, options=MatchOptions(merging=merging or Merging()))
        if snapshot is not None:
            session.restore(snapshot)
        if batch is None:
            raised = session.drain()
        else:
            arrivals = [
                Arrival("e", "p", "f", {"id_": str(number + n), "at": at * SECOND, "k": k, "v": v})
                for n, (at, k, v) in enumerate(batch)
            ]
            raised = session.feed(tables(plan.packs[0], arrivals, number))
            number += len(batch)
        found.update((r.alert.rule, r.alert.time, *r.alert.emit.items()) for r in raised)
        found.update(("late", int(id_)) for late in session.late for id_ in late.table.column(ID).to_pylist())
        snapshot = session.snapshot()
    assert not session.stored, "a drained session remembers nothing"
    return found


def of(rule: str, found: Counter[object]) -> list[tuple[object, ...]]:
    """The findings of a rule."""
    return sorted(one for one in found.elements() if isinstance(one, tuple) and one[0] == rule)


def by_definition(fed: Batches, late: set[int]) -> list[tuple[str, int]]:
    """Key and number of events of every minute with two events or more that `busy` counts."""
    events = [event for n, event in enumerate(one for batch in fed for one in batch) if n not in late]
    windows = Counter((at // 60, k) for at, k, v in events if v > 0)
    return sorted((k, n) for (_, k), n in windows.items() if n >= 2)


MERGINGS = st.sampled_from([Merging(), Merging(base=9, later=9, small=0, anew=2), Merging(small=0, base=0.5)])


@pytest.mark.slow
@settings(max_examples=examples(100), deadline=None)
@given(batches(), st.integers(1, 3), MERGINGS, st.booleans(), st.booleans())
def test_it_counts_wherever_batches_are_cut_and_whatever_is_deployed(
    fed: Batches, shards: int, merging: Merging, deployed: bool, first: bool
) -> None:
    texts = [BUSY + PAIR, BUSY + PAIR + OTHERS] if deployed else [BUSY + PAIR]
    with counted(first):
        found = run(texts, fed, shards, merging)
    late = {number for _, number in of("late", found)}
    busy = of("busy", found)
    assert sorted((k, n) for _, _, (_, k), (_, n) in busy) == by_definition(fed, late)
    assert of("pair", found) == of("pair", run([PAIR], fed)), (
        "neighbours in its key space go on as without it"
    )


def test_time_alone_ends_a_window() -> None:
    with counted():
        session = Session(compile_plan([pack_of(HEAD + BUSY)]))
        pack = session.plan.packs[0]
        came = [Arrival("e", "p", "f", {"id_": str(n), "at": n * SECOND, "k": "x", "v": 1}) for n in range(3)]
        assert session.feed(tables(pack, came)) == []
        assert session.feed([], MINUTE - 1) == []
        (raised,) = session.feed([], MINUTE)
        assert (raised.alert.kind, raised.alert.time) == ("window", "1970-01-01T00:01:00Z")
        assert raised.alert.emit == {"k": "x", "n": 3}
        assert not session.memories


def test_what_it_kept_is_gone_with_its_rule() -> None:
    fed = [[(1, "a", 1), (2, "a", 1), (3, "a", 0)]]
    with counted():
        assert of("busy", run([BUSY + PAIR, PAIR], fed)) == []
        assert len(of("busy", run([BUSY + PAIR, BUSY + PAIR], fed))) == 1


def test_an_engine_without_it_refuses_its_state() -> None:
    with counted():
        session = Session(compile_plan([pack_of(HEAD + BUSY)]))
        came = [Arrival("e", "p", "f", {"id_": "1", "at": 0, "k": "x", "v": 1})]
        session.feed(tables(session.plan.packs[0], came), 1)
        session.store()
        stored = StoredShard.of(session.stored[0].as_dict())
        stored.memory()
    with pytest.raises(StateError, match="has 'counts', which this program cannot read"):
        stored.memory()
