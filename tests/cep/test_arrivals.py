"""A shard takes the events that come each once, in order, under the number of its key."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from duel import pack_of
from effort import examples
from event_tables import tables
from hypothesis import given, settings
from hypothesis import strategies as st
from random_streams import SECOND, Arrival

from cep.batch.arrivals import Arrivals, in_order, number_keys, parts_of, without_duplicates
from cep.batch.payload import SpaceEvents
from cep.batch.waiting import PlanLayout, Waiting, layout_of
from cep.counters import Counts, StreamEvents
from cep.hashing.rows import numbered
from cep.inprocess.session import Session
from cep.packs.compile import compile_plan
from cep.shard.advance import MatchOptions

PACK = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  n: double  id id_  time at }
stream f { id_: string  at: timestamp  k: string  n: double  id id_  time at }
rule r { by k, n  match a: e -> b: f within 1 minute }
"""
PLAN = compile_plan([pack_of(PACK)])
(SPACE,) = PLAN.spaces
LAYOUT = layout_of(PLAN, SPACE, 0)
OTHER = PlanLayout(1, "another plan", (), {})
NOW = 7
STREAMS = ("e", "f")


@dataclass(frozen=True)
class Event:
    """An event as classification packs it. `batch` is the one in which it came."""

    stream: str
    batch: int
    other_plan: bool
    origin: str
    id: str
    time: int
    key: tuple[str, float]
    counted: bool
    offset: int = 0

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.time, *self.key)


def events() -> st.SearchStrategy[list[Event]]:
    key = st.tuples(st.sampled_from(["", "a", "ü"]), st.sampled_from([0.0, -0.0, 1.5]))
    one = st.builds(
        Event,
        st.sampled_from(STREAMS),
        st.integers(NOW - 2, NOW),
        st.booleans(),
        st.sampled_from(["p\x1ff", "p\x1fg", "q\x1ff"]),
        st.sampled_from(["1", "2", "3", "", "long " * 20]),
        st.integers(0, 3),
        key,
        st.booleans(),
    )
    return st.lists(one, max_size=24)


def table(some: list[Event], waited: bool) -> pa.Table:
    columns: dict[str, Any] = {
        "@time": pa.array([e.time for e in some], pa.int64()),
        "@id": pa.array([e.id for e in some], pa.string()),
        "@origin": pa.array([e.origin for e in some], pa.string()).dictionary_encode(),
        "@offset": pa.array([e.offset for e in some], pa.int64()),
        "@counted": pa.array([e.counted for e in some], pa.bool_()),
        "@bits": pa.array([b"\x80"] * len(some), pa.binary(1)),
        "k0": pa.array([e.key[0] for e in some], pa.string()),
        "k1": pa.array([e.key[1] for e in some], pa.float64()),
    }
    if waited:
        columns["@batch"] = pa.array([e.batch for e in some], pa.int64())
    return pa.table(columns)


def arrivals(some: list[Event], one_partition: bool) -> Arrivals:
    """The events as a shard puts them in order; what waited may have come under another plan."""
    waited, came = [], []
    for stream in STREAMS:
        mine = [e for e in some if e.stream == stream]
        for layout in (LAYOUT, OTHER):
            before = [e for e in mine if e.batch < NOW and e.other_plan == (layout is OTHER)]
            if before:
                waited.append(Waiting(stream, layout, table(before, True)))
        now = [e for e in mine if e.batch == NOW]
        came += [
            SpaceEvents(SPACE.id, stream, LAYOUT.plan, table(p, False)) for p in (now[::2], now[1::2]) if p
        ]
    return in_order(PLAN, parts_of(PLAN, LAYOUT, waited, came, NOW), one_partition)


def seen(found: Arrivals) -> list[tuple[object, ...]]:
    """Stream, time, id, key and offset of the events in order."""
    rows = []
    for part, row in zip(found.part.tolist(), found.row.tolist(), strict=True):
        names = ("@time", "@id", "k0", "k1", "@offset")
        values = (found.parts[part].table.column(name)[row].as_py() for name in names)
        rows.append((found.parts[part].stream, *values))
    assert found.time.tolist() == [row[1] for row in rows]
    return rows


def plain(some: list[Event]) -> list[tuple[object, ...]]:
    return [(e.stream, e.time, e.id, *e.key, e.offset) for e in some]


def in_plain_order(some: list[Event], one_partition: bool) -> list[Event]:
    def arrival(e: Event) -> tuple[object, ...]:
        return (
            (e.batch, e.offset) if one_partition else (e.batch, STREAMS.index(e.stream), e.origin, e.offset)
        )

    return sorted(some, key=arrival)


@settings(max_examples=examples(150))
@given(events(), events(), st.booleans(), st.data())
def test_each_event_is_taken_once_in_order(
    some: list[Event], known: list[Event], one_partition: bool, data: st.DataObject
) -> None:
    offsets = data.draw(st.permutations(range(len(some))))
    some = [replace(e, offset=offset) for e, offset in zip(some, offsets, strict=True)]
    found = arrivals(some, one_partition)
    by_arrival = in_plain_order(some, one_partition)
    assert seen(found) == plain(sorted(by_arrival, key=lambda e: e.time))

    remembered = {
        stream: table(mine, False).select(["@id", "@time", "k0", "k1"])
        for stream in STREAMS
        if (mine := [e for e in known if e.stream == stream])
    }
    counts = Counts()
    left = without_duplicates(PLAN, SPACE, found, one_partition, remembered, counts)
    told: dict[tuple[str, str], set[tuple[object, ...]]] = {}
    for e in known:
        told.setdefault((e.stream, e.id), set()).add(e.identity)
    expected = Counts()
    stay = []
    for e in by_arrival:
        identities = told.setdefault((e.stream, e.id), set())
        outcome = "duplicate" if e.identity in identities else "id_conflict" if identities else "new"
        identities.add(e.identity)
        if outcome != "duplicate":
            stay.append(e)
        if outcome != "new" and e.counted:
            expected[StreamEvents(e.stream, outcome)] += 1
    assert seen(left) == plain(sorted(stay, key=lambda e: e.time))
    assert counts == expected
    order = np.array(data.draw(st.permutations(range(len(stay)))), np.int64)
    assert seen(left.ordered(order)) == seen(left.chosen(order))
    some_of = order[: data.draw(st.integers(0, len(stay)))]
    chosen = left.chosen(some_of)
    assert {
        part.stream + part.layout.plan: (places.tolist(), rows.tolist())
        for part, places, rows in left.where(some_of)
    } == {
        part.stream + part.layout.plan: tuple(numbers.tolist() for numbers in chosen.rows_of(number))
        for number, part in enumerate(chosen.parts)
        if len(chosen.rows_of(number)[0])
    }

    keys, numbers = number_keys(2, left)
    values = keys.python(list(range(keys.count)))
    assert len(set(values.values())) == keys.count
    assert [values[n] for n in numbers.tolist()] == [row[3:5] for row in seen(left)]


@given(st.lists(st.tuples(st.text(max_size=2), st.integers(0, 2), st.booleans()), max_size=20))
def test_equal_rows_have_equal_numbers_in_order_of_first_occurrence(
    rows: list[tuple[str, int, bool]],
) -> None:
    types = (pa.string(), pa.int64(), pa.bool_())
    for width in (1, 2, 3):
        cut = [row[:width] for row in rows]
        columns = [pa.array([row[n] for row in cut], types[n]) for n in range(width)]
        distinct = list(dict.fromkeys(cut))
        numbers, first = numbered(columns)
        assert numbers.tolist() == [distinct.index(row) for row in cut]
        assert first.tolist() == [cut.index(row) for row in distinct]


IDS = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long  s: string?  id id_  time at }
rule keyed { by k  match a: e[v > 0]{1} within 1 hour }
rule alone { on e[v > 0] }
"""
AGAIN = [("1", 1, "a"), ("1", 1, "b"), ("2", 2, "a"), ("2", 3, "a"), ("3", 4, "a"), ("3", 4, "a")]
"""Ids that come again: with another key, with another time, and as a redelivery."""


@pytest.mark.parametrize("shards", [1, 16])
def test_an_id_that_comes_again_is_what_the_page_on_feeds_says(shards: int) -> None:
    session = Session(compile_plan([pack_of(IDS)]), shards, options=MatchOptions(compiled=False))
    came = [
        Arrival("e", "p", "f", {"id_": id_, "at": at * SECOND, "k": k, "v": 1, "s": None})
        for id_, at, k in AGAIN
    ]
    raised = session.feed(tables(session.plan.packs[0], came), 5 * SECOND)
    found = [(one.rule, one.time // SECOND, one.alert.events) for one in raised]
    assert [(time, events["a"]) for rule, time, events in found if rule == "keyed"] == [
        (1, ["1"]), (1, ["1"]), (2, ["2"]), (3, ["2"]), (4, ["3"]),
    ]  # fmt: skip
    assert [(time, events["e"]) for rule, time, events in found if rule == "alone"] == [
        (1, ["1"]), (2, ["2"]), (3, ["2"]), (4, ["3"]),
    ]  # fmt: skip
    assert session.counts[StreamEvents("e", "duplicate")] == 1
    # a and b lie in two of 16 shards
    assert session.counts[StreamEvents("e", "id_conflict")] == (2 if shards == 1 else 1)
