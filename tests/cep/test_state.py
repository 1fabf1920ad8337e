"""A shard's state: the same bytes tomorrow, a sentence for an operator where they cannot be used."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import pytest
from duel import pack_of
from event_tables import tables
from random_streams import SECOND, Arrival

from cep.automata.plan import Plan, compile_plan
from cep.evaluate import Session
from cep.matching.match import Clock, match_shard
from cep.matching.state import MAGIC, StateError, read, write

GOLDEN = Path(__file__).parent / "golden" / "state-3.b64"
TEXT = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: double  id id_  time at }
rule probes {
  by k
  match a: e[v < 2.0]{2,} -> b: e[v > 10 * avg(a.v) and prev(v) < 2.0]
  within 1 hour
  emit k, first = first(a.v), ids = list(a.id_)
}
rule big { on e[v > 100] }
"""


def plan() -> Plan:
    # The structure hash must last as long as state does; the plan's own id need not.
    return replace(compile_plan([pack_of(TEXT)]), id="plan")


def event(number: int, at: int, k: str, v: float) -> Arrival:
    return Arrival("e", "p", "f", {"id_": f"p{number}", "at": at * SECOND, "k": k, "v": v})


def begun() -> Session:
    """A run of one key, one waiting event of another, and ids at the watermark."""
    session = Session(plan())
    came = [event(1, 1, "x", 1.0), event(2, 2, "x", 1.5), event(3, 9, "y", 500.0)]
    session.feed(tables(session.plan.packs[0], came), 2 * SECOND)
    return session


def test_todays_program_writes_and_reads_the_bytes_of_version_3() -> None:
    golden = base64.b64decode(GOLDEN.read_text())
    state = begun().states[0]
    assert state == golden, "the format has changed: raise VERSION and say what becomes of version 3"
    assert write(read(golden)) == golden


def test_a_session_goes_on_from_the_bytes() -> None:
    session = begun()
    session.states[0] = base64.b64decode(GOLDEN.read_text())
    arrivals = [event(4, 3, "x", 90.0)]
    raised = session.feed(tables(session.plan.packs[0], arrivals, 3), 9 * SECOND)
    assert [(r.alert.rule, r.alert.emit) for r in raised] == [
        ("probes", {"k": "x", "first": 1.0, "ids": ["p1", "p2"]}),
        ("big", {}),
    ]
    session.drain()
    assert session.states == {}, "a drained session remembers nothing"


def test_a_key_with_nothing_holds_nothing() -> None:
    session = begun()
    # An hour later the run has expired, the waiting event was matched, and no id can come again.
    session.feed((), 4000 * SECOND)
    assert session.states == {}


def test_reading_and_writing_changes_nothing() -> None:
    state = begun().states[0]
    outcome = match_shard(plan(), state, [], Clock(1, 2 * SECOND, 2 * SECOND))
    assert outcome.state == state
    assert not outcome.changed


@pytest.mark.parametrize("place", range(0, 700, 7))
def test_damaged_bytes_are_refused(place: int) -> None:
    state = bytearray(begun().states[0])
    state[place] ^= 0x41
    with pytest.raises(StateError, match="state of a shard"):
        read(bytes(state))


@pytest.mark.parametrize("length", [1, 4, 13, 100])
def test_a_torn_state_is_refused(length: int) -> None:
    with pytest.raises(StateError, match="state of a shard"):
        read(begun().states[0][:length])


def test_an_earlier_version_is_refused_with_a_way_out() -> None:
    state = bytearray(begun().states[0])
    state[4] = 1
    with pytest.raises(StateError, match="has version 1, which this program cannot read: drain the job"):
        read(bytes(state))


def test_a_later_version_is_named() -> None:
    state = bytearray(begun().states[0])
    assert state[:4] == MAGIC
    state[4] = 9
    with pytest.raises(StateError, match="has version 9; this program reads up to version 3"):
        read(bytes(state))
