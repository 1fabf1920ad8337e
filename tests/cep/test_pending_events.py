"""Events that wait for the watermark: a batch writes those that came in it, and each is matched once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from duel import pack_of
from effort import examples
from event_tables import tables
from hypothesis import given, settings
from hypothesis import strategies as st
from random_streams import SECOND, Arrival

from cep.inprocess.session import Session
from cep.packs.compile import compile_plan
from cep.plan.plan import Plan
from cep.shard.advance import MatchOptions
from cep.shard.memory import Merging

TEXT = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long  id id_  time at  lateness 1 hour }
rule each { by k match a: e[v >= 0] within 1 hour emit v = a.v }
"""
LOOSE = Merging(base=1, later=3, small=0)


def plan() -> Plan:
    return compile_plan([pack_of(TEXT)])


def event(number: int, at: int) -> Arrival:
    return Arrival("e", "p", "f", {"id_": f"p{number}", "at": at * SECOND, "k": f"k{number}", "v": number})


def fed(session: Session, batch: Sequence[Arrival], watermark: int, offset: int) -> list[object]:
    """The values of the events that are matched."""
    found = session.feed(tables(session.plan.packs[0], batch, offset), watermark * SECOND)
    session.store()
    return [one.alert.emit["v"] for one in found]


def batches() -> st.SearchStrategy[list[tuple[list[int], int, bool]]]:
    """Batches: how far above the watermark events are, how far it moves, and whether all is lost after it."""
    one = st.tuples(
        st.lists(st.integers(1, 40), max_size=6),
        st.sampled_from((0, 0, 1, 3, 10, 30)),
        st.sampled_from((False, False, False, True)),
    )
    return st.lists(one, min_size=1, max_size=12)


@settings(max_examples=examples(50), deadline=None)
@given(batches(), st.sampled_from((LOOSE, Merging(base=9, later=9, small=0), Merging(small=64), Merging())))
def test_each_is_matched_when_the_watermark_reaches_it(
    batches: list[tuple[list[int], int, bool]], merging: Merging
) -> None:
    session, watermark, number = Session(plan(), options=MatchOptions(merging=merging)), 0, 0
    waiting: dict[int, int] = {}
    session.feed((), 0)
    for aheads, move, lost in batches:
        batch = [event(number + n, watermark + ahead) for n, ahead in enumerate(aheads)]
        waiting |= {number + n: watermark + ahead for n, ahead in enumerate(aheads)}
        # A redelivery of one that waits changes nothing.
        again = [event(n, at) for n, at in list(waiting.items())[:1]]
        watermark += move
        found = fed(session, [*batch, *again], watermark, 100 * number)
        assert sorted(found) == sorted(n for n, at in waiting.items() if at <= watermark)
        waiting = {n: at for n, at in waiting.items() if at > watermark}
        number += len(batch) + 1
        if lost:
            snapshot = session.snapshot()
            session = Session(plan(), options=MatchOptions(merging=merging))
            session.restore(snapshot)
    assert sorted(fed(session, [], watermark + 50, 100 * number)) == sorted(waiting)
    session.feed((), (watermark + 51) * SECOND)
    session.store()
    assert session.stored == {}, "what was matched is gone"


@pytest.mark.slow
def test_a_batch_writes_what_came_in_it() -> None:
    """Not what waits from before; but for a merge now and then, which writes a row again 5 times at most."""
    session, written = Session(plan(), options=MatchOptions(merging=LOOSE)), []
    for batch in range(60):
        batch_of = [event(100 * batch + n, 10_000 + n) for n in range(100)]
        session.feed(tables(session.plan.packs[0], batch_of, 100 * batch), 0)
        written.append(session.store())
    usual = sorted(written)[len(written) // 2]
    assert usual < 1.5 * written[0] + 2_000
    assert sum(written) < 5 * len(written) * written[0]
    assert sum(stored.size for stored in session.stored.values()) < len(written) * written[0]
