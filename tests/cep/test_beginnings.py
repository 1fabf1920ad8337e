"""Keys whose events only begin runs are not looked at, and nothing can tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from duel import pack_of
from event_tables import tables
from random_streams import SECOND, Arrival

from cep.automata.interests import MANY
from cep.automata.plan import Plan, compile_plan
from cep.evaluate import Session
from cep.matching.memory import Merging

HEAD = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long  id id_  time at }
"""
LATER = "rule later { by k match a: e[v >= 0] -> b: e[v < 0] within 1 hour emit v = a.v }\n"
LOOSE = Merging(base=9, later=9, small=0)


def plan(rules: str) -> Plan:
    return compile_plan([pack_of(HEAD + rules)])


def event(number: int, v: int, k: str = "x") -> Arrival:
    return Arrival("e", "p", "f", {"id_": f"p{number}", "at": number * SECOND, "k": k, "v": v})


def fed(session: Session, batches: Sequence[Sequence[Arrival]]) -> list[tuple[str, object]]:
    """What is raised, by rule and the value emitted."""
    raised = []
    for offset, batch in enumerate(batches):
        found = session.feed(tables(session.plan.packs[0], batch, 10_000 * offset))
        session.store()
        raised += [(one.alert.rule, one.alert.emit.get("v")) for one in found]
    return raised


@pytest.mark.parametrize(
    ("rule", "bits"),
    [
        ("match a: e[v > 5] -> b: e[v < 5] -> c: e[v == 5] within 1h", [0, 1, 1]),
        ("match a: e[v > 5]+ -> b: e[v < 5] within 1h", [1, 1]),
        ("match a: e[v > 5] -> b: e[v < 5]+ until e[v == 5] -> c: e[v > 5] within 1h", [1, 1, 1]),
        ("match a: e[v > 5] -> not e[v == 5] -> b: e[v < 5] within 1h", [0, 1, 1]),
        ("match (a: e[v > 5] & b: e[v < 5]) -> c: e[v == 5] within 1h", [1, 1, 1]),
        ("match (a: e[v > 5] | b: e[v < 5]) -> c: e[v == 5] within 1h", [0, 0, 1]),
        ("match a: e[v > 5] => b: e[v < 5] within 1h", [1, 1, 1]),
        ("match a: e[prev(v) > 5] -> b: e[v < 5] within 1h", [1, 1]),
        ("match absent e[v == 5] for 1m -> a: e[v > 5] -> b: e[v < 5] within 1h", [1, 1, 1]),
        ("match a: e[v > 5] -> b: e[v < 5] within 1h limit 3 runs", [1, 1]),
    ],
)
def test_what_a_waiting_run_can_wait_for_is_known(rule: str, bits: list[int]) -> None:
    (space,) = plan(f"rule r {{ by k {rule} }}").spaces
    assert space.tables is not None
    (packed,) = space.tables.awaited.values()
    found = [byte >> (7 - bit) & 1 for byte in packed.tolist() for bit in range(8)]
    assert found == bits + [0] * (len(found) - len(bits))


def test_a_key_whose_events_only_begin_runs_is_added_to() -> None:
    session = Session(plan(LATER), merging=LOOSE)
    batches = [[event(10 * n + m, m) for m in range(5)] for n in range(4)]
    assert fed(session, batches) == []
    (space,) = session.memories[0].spaces.values()
    assert [segment.content.rows.size for segment in space.segments] == [space.weight // 4] * 4
    assert not any(segment.content.whole.any() for segment in space.segments)
    assert session.runs == {"later": 20}
    assert fed(session, [[event(100, -1)]]) == [("later", 0)], (
        "the match ends the runs that began after its own"
    )
    assert session.runs == {}


def test_more_than_the_limit_is_dropped_and_counted_wherever_batches_are_cut() -> None:
    rules = LATER.replace("within 1 hour", "skip none within 1 hour")
    arrivals = [event(n, n) for n in range(MANY + 60)] + [event(MANY + 60, -1)]
    told: list[tuple[list[tuple[str, object]], Counter[tuple[str, ...]]]] = []
    for size in (len(arrivals), 350, 60):
        session = Session(plan(rules), merging=LOOSE)
        raised = fed(session, [arrivals[n : n + size] for n in range(0, len(arrivals), size)])
        told.append((raised, session.counts))
    raised, counts = told[0]
    assert [value for _, value in raised] == [*range(60, MANY + 60)]
    assert counts["runs", "later", "limit"] == 60
    assert all(one == told[0] for one in told)


def test_a_batch_writes_no_more_beside_many_runs() -> None:
    """As many bytes as beside nothing, whether or not the keys have runs."""
    written = []
    for before in (0, 20):
        session = Session(plan(LATER), merging=LOOSE)
        fed(session, [[event(100 * n + m, 1, f"k{m}") for m in range(30)] for n in range(before)])
        session.feed(tables(session.plan.packs[0], [event(9_000 + m, 1, f"k{m}") for m in range(30)], 9_000))
        head = len(session.stored[0].head or b"") if session.stored else 0
        session.store()
        session.feed(tables(session.plan.packs[0], [event(9_100 + m, 1, f"k{m}") for m in range(30)], 9_100))
        written.append(session.store() - head)
    assert written[1] < 1.2 * written[0] + 1_000
