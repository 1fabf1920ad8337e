"""A shard's state: the same bytes tomorrow, a sentence for an operator where they cannot be used."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import xxhash
from duel import pack_of
from event_tables import tables
from random_streams import SECOND, Arrival

from cep.batch.clock import Clock
from cep.inprocess.session import Session, StoredShard
from cep.packs.compile import compile_plan
from cep.plan.plan import Plan
from cep.shard import state_bytes
from cep.shard.advance import MatchOptions, match_shard
from cep.shard.memory import Merging
from cep.shard.state_bytes import MAGIC, MAGIC_OF_PART, StateError, stored_parts

GOLDEN = Path(__file__).parent / "golden" / "state-6.json"
BEFORE = GOLDEN.with_name("state-5.json")
TEXT = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: double  id id_  time at }
rule probes {
  by k
  match a: e[v < 2.0]{2,} -> b: e[v > 10 * avg(a.v) and prev(v) < 2.0]
  within 1 hour
  emit k, first = first(a.v), ids = list(a.id_)
}
rule same { by k match a: e[v < 0] -> b: e[id_ == a.id_] within 1 hour }
rule quiet { by k match absent e[v == 7] for 1 minute -> a: e[v == 8] within 1 hour }
rule again { by v match a: e[k != "z"] -> b: e[k == "z"] within 1 hour }
rule big { on e[v > 100] }
"""


def plan() -> Plan:
    # The structure hash must last as long as state does; the plan's own id need not.
    return replace(compile_plan([pack_of(TEXT)]), id="plan")


def event(number: int, at: int, k: str, v: float) -> Arrival:
    return Arrival("e", "p", "f", {"id_": f"p{number}", "at": at * SECOND, "k": k, "v": v})


def begun() -> Session:
    """A base and a difference, which changes runs of two keys and adds one to those of a value; a waiting
    event of a third key, and ids at the watermark."""
    session = Session(plan(), options=MatchOptions(merging=Merging(base=9, later=9, small=0, anew=2)))
    pack = session.plan.packs[0]
    session.feed(tables(pack, [event(1, 1, "x", 1.0), event(2, 1, "y", -1.0), event(3, 1, "y", 7.0)]), SECOND)
    session.feed(
        tables(pack, [event(4, 2, "x", 1.5), event(8, 2, "y", 7.0), event(5, 9, "z", 500.0)], 3), 2 * SECOND
    )
    session.store()
    return session


def test_todays_program_writes_and_reads_the_bytes_of_version_6() -> None:
    session = begun()
    golden = json.loads(GOLDEN.read_text())
    assert session.stored[0].as_dict() == golden, (
        "the format has changed: raise VERSION and say what becomes of version 6"
    )
    spaces = session.memories[0].spaces
    assert len(spaces["by k (string)"].segments) == 2
    assert [segment.content.whole.tolist() for segment in spaces["by v (double)"].segments] == [
        [False, False, False], [False, False]
    ]  # fmt: skip
    again = StoredShard()
    again.put(StoredShard.of(golden).memory())
    assert again.as_dict() == golden


@pytest.mark.parametrize("written", [GOLDEN, BEFORE], ids=["this version", "version 5"])
def test_a_session_goes_on_from_the_bytes(written: Path) -> None:
    session = begun()
    session.memories[0] = StoredShard.of(json.loads(written.read_text())).memory()
    arrivals = [event(6, 3, "x", 90.0)]
    raised = session.feed(tables(session.plan.packs[0], arrivals, 5), 9 * SECOND)
    assert [(r.alert.rule, r.alert.emit) for r in raised] == [
        ("probes", {"k": "x", "first": 1.0, "ids": ["p1", "p4"]}),
        ("big", {}),
    ]
    session.drain()
    session.store()
    assert session.stored == {}, "a drained session remembers nothing"


def test_a_key_with_nothing_holds_nothing() -> None:
    session = begun()
    # Hours later the runs have expired, the waiting event was matched, and no id can come again.
    session.feed((), 9000 * SECOND)
    session.store()
    assert session.stored == {}


def test_a_batch_that_brings_nothing_writes_nothing() -> None:
    session = begun()
    memory = session.memories[0]
    outcome = match_shard(plan(), memory, [], Clock(1, 2 * SECOND, 2 * SECOND))
    assert outcome.memory is memory
    session.feed((), 3 * SECOND)
    assert session.memories[0].spaces["by k (string)"].segments == memory.spaces["by k (string)"].segments


@cache
def stored() -> StoredShard:
    return begun().stored[0]


@pytest.mark.slow
@pytest.mark.parametrize("place", range(0, 700, 7))
def test_damaged_bytes_are_refused(place: int) -> None:
    whole = stored()
    for number, part in {None: whole.head, **whole.parts}.items():
        data = bytearray(part or b"")
        data[place % len(data)] ^= 0x41
        damaged = replace(whole, head=bytes(data)) if number is None else whole
        damaged = replace(damaged, parts={**whole.parts, **({} if number is None else {number: bytes(data)})})
        with pytest.raises(StateError, match="state of a shard"):
            damaged.memory()


@pytest.mark.parametrize("length", [1, 4, 13, 100])
def test_a_torn_state_is_refused(length: int) -> None:
    whole = stored()
    with pytest.raises(StateError, match="state of a shard"):
        replace(whole, head=(whole.head or b"")[:length]).memory()
    for number, part in whole.parts.items():
        with pytest.raises(StateError, match="state of a shard"):
            replace(whole, parts={**whole.parts, number: part[:length]}).memory()


def test_a_missing_part_is_named() -> None:
    whole = stored()
    for number in whole.parts:
        with pytest.raises(StateError, match=f"part {number} of the state of a shard is missing"):
            replace(whole, parts={n: part for n, part in whole.parts.items() if n != number}).memory()


def test_a_part_of_another_moment_is_named() -> None:
    session = begun()
    before = dict(session.stored[0].parts)
    session.feed(tables(session.plan.packs[0], [event(7, 3, "x", 1.0)], 5), 3 * SECOND)
    session.store()
    after = session.stored[0]
    changed = next(number for number in after.parts if number not in before)
    mixed = replace(after, parts={**after.parts, changed: before[max(before)]})
    with pytest.raises(StateError, match=f"part {changed} of the state of a shard is of another moment"):
        mixed.memory()


def of_many(number: int) -> StoredShard:
    """The state of so many keys."""
    session = Session(plan())
    events = [event(n, 1, f"key {n}", 1.0) for n in range(number)]
    session.feed(tables(session.plan.packs[0], events), SECOND)
    session.store()
    return session.stored[0]


def version_and_digest(stored: StoredShard) -> tuple[int, str]:
    """Of the longest part."""
    number, part = max(stored.parts.items(), key=lambda one: len(one[1]))
    return int.from_bytes(part[4:6], "little"), stored_parts(stored.head)[number].digest


def test_a_large_part_has_a_digest_by_xxh3_and_one_of_before_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    large = of_many(3_000)
    monkeypatch.setattr(state_bytes, "LARGE", 1 << 30)
    before = of_many(3_000)
    (version, digest), (version_before, digest_before) = map(version_and_digest, (large, before))
    longest, longest_before = (max(of.parts.values(), key=len) for of in (large, before))
    assert len(longest) > 1 << 16
    assert (version, digest) == (10, xxhash.xxh3_128_hexdigest(longest))
    assert (version_before, digest_before) == (6, hashlib.sha256(longest_before).hexdigest()[:32])
    # The same state, whatever its parts are named by.
    again = [StoredShard(), StoredShard()]
    for one, of in zip(again, (large, before), strict=True):
        one.put(of.memory())
    assert again[0] == again[1] == before


def test_damage_in_a_large_part_is_told_from_a_part_of_another_moment() -> None:
    large, other = of_many(3_000), of_many(3_001)
    number = max(large.parts, key=lambda one: len(large.parts[one]))
    for place in (3, 4, 5, 6, 9, 50, 40_000, len(large.parts[number]) - 1):
        data = bytearray(large.parts[number])
        data[place] ^= 0x41
        with pytest.raises(StateError, match="state of a shard"):
            replace(large, parts={**large.parts, number: bytes(data)}).memory()
    with pytest.raises(StateError, match=f"part {number} of the state of a shard is of another moment"):
        replace(large, parts={**large.parts, number: other.parts[number]}).memory()


def test_an_earlier_version_is_refused_with_a_way_out() -> None:
    head = bytearray(stored().head or b"")
    head[4] = 4
    with pytest.raises(StateError, match="has version 4, which this program cannot read: drain the job"):
        StoredShard(bytes(head)).memory()


def test_a_later_version_is_named() -> None:
    whole = stored()
    head = bytearray(whole.head or b"")
    assert head[:4] == MAGIC
    assert {part[:4] for part in whole.parts.values()} == {MAGIC_OF_PART}
    head[4] = 11
    with pytest.raises(StateError, match="has version 11; this program reads up to version 10"):
        StoredShard(bytes(head)).memory()


def test_what_is_stored_seldom_is_not_mistaken_for_what_was_stored_before_all_was_forgotten() -> None:
    text = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: double  id id_  time at }
rule pair { by k  match a: e[v < 2] -> b: e[v > 2]  within 10 seconds  emit first = a.id_ }
"""
    session = Session(compile_plan([pack_of(text)]))
    pack = session.plan.packs[0]
    session.feed(tables(pack, [event(1, 1, "x", 1.0)]), SECOND)
    session.store()
    session.feed([], 60 * SECOND)
    assert not session.memories[0].spaces
    session.feed(tables(pack, [event(2, 60, "y", 1.0)], 3), 61 * SECOND)
    again = Session(session.plan)
    again.restore(session.snapshot())
    raised = again.feed(tables(pack, [event(3, 62, "y", 3.0)], 4), 63 * SECOND)
    assert [one.alert.emit for one in raised] == [{"first": "p2"}]
