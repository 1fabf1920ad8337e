"""Windows as a shard stores them: the same bytes tomorrow, and what they say comes back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from duel import pack_of
from effort import examples
from event_tables import tables
from hypothesis import given, settings
from hypothesis import strategies as st
from random_streams import SECOND, Arrival

from cep.inprocess.session import Session, StoredShard
from cep.operators.windows.runtime import window_rows
from cep.operators.windows.runtime.compact_windows import CompactWindows
from cep.operators.windows.runtime.window_rows import DUE, HEAD, ITEMS, KIND, NUMBERS, WORDS, WindowRows
from cep.packs.compile import compile_plan
from cep.shard.advance import MatchOptions
from cep.shard.state_bytes import PLAIN
from cep.state.keyed_rows import KEY, RULE, Ints
from cep.state.narrow import narrowed, widened

GOLDEN = Path(__file__).parent / "golden" / "state-of-windows.json"
AS_BYTES = GOLDEN.with_name("state-of-windows-as-bytes.json")
TEXT = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  s: string?  v: double?  d: decimal?  id id_  time at }
rule newest { by k over e sliding 1 minute having count() > 9 emit a = sum(v), b = first(s) }
rule last { by k over e last 3 events having count() > 9 emit a = stddev(v), b = max(d) }
rule pane { by k over e tumbling 1 minute having count() > 9 emit a = stddev(v), b = max(d), c = distinct(s) }
rule early { by k over e hopping 2 minutes every 1 minute early having count() > 0 emit a = count(v > 1) }
rule session { by k over e session gap 1 minute having count() > 9 emit a = sum(d), b = percentile(v, 0.5) }
"""


def event(number: int, at: int, k: str, v: float | None, s: str | None) -> Arrival:
    values = {
        "id_": f"p{number}",
        "at": at * SECOND,
        "k": k,
        "s": s,
        "v": v,
        "d": None if v is None else Decimal(str(v)),
    }
    return Arrival("e", "p", "f", values)


def begun() -> Session:
    """Windows of two keys."""
    # The structure hash must last as long as state does; the plan's own id need not.
    session = Session(replace(compile_plan([pack_of(TEXT)]), id="plan"), options=MatchOptions(compiled=False))
    rows = [event(1, 1, "x", 1.5, "a"), event(2, 1, "y", None, "b"), event(3, 4, "x", 2.25, None)]
    for first, some in enumerate((rows, [event(4, 9, "x", -0.1, "b")])):
        session.feed(tables(session.plan.packs[0], some, 3 * first), (5 + 5 * first) * SECOND)
    session.store()
    return session


def test_windows_are_stored_as_the_bytes_that_stand_here() -> None:
    session = begun()
    golden = json.loads(GOLDEN.read_text())
    assert session.stored[0].as_dict() == golden, (
        "the format has changed: once a program was released that writes this one, it needs another version"
    )
    again = StoredShard()
    again.put(StoredShard.of(golden).memory())
    assert again.as_dict() == golden


def rows_of(stored: StoredShard) -> list[list[list[int]]]:
    """What a stored shard keeps of windows, as numbers."""
    segments = [segment for space in stored.memory().spaces.values() for segment in space.segments]
    numbers = [one.content.rows[KIND].renumbered(np.arange(len(one))) for one in segments]
    return [[part.ravel().tolist() for part in (of.heads, of.words, of.numbers)] for of in numbers]


def test_many_windows_are_stored_as_other_bytes_of_a_later_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_rows, "FEW", 0)
    session = begun()
    golden = json.loads(AS_BYTES.read_text())
    assert session.stored[0].as_dict() == golden, (
        "the format has changed: raise VERSION, and read this one, too"
    )
    again = StoredShard()
    again.put(StoredShard.of(golden).memory())
    assert again.as_dict() == golden
    versions = {int.from_bytes(part[4:6], "little") for part in StoredShard.of(golden).parts.values()}
    assert versions == {PLAIN, 9}


def test_windows_that_were_stored_as_numbers_go_on_as_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    before = StoredShard.of(json.loads(GOLDEN.read_text()))
    as_they_were = rows_of(before)
    monkeypatch.setattr(window_rows, "FEW", 0)
    assert rows_of(before) == rows_of(StoredShard.of(json.loads(AS_BYTES.read_text()))) == as_they_were
    (space,) = before.memory().spaces.values()
    assert {type(segment.content.rows[KIND]) for segment in space.segments} == {CompactWindows}


NUMBERS_OF_ANY_SIZE = st.integers(-(2**63), 2**63 - 1)
TIMES = st.integers(-(10**9), 10**9).map(lambda n: n * 10**6) | NUMBERS_OF_ANY_SIZE


@st.composite
def heads(draw: st.DrawFn) -> WindowRows:
    """Heads of some keys and rules, of which some have rows of one width and others words of any number."""
    named = draw(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8))
    widths = draw(st.lists(st.integers(0, 3), min_size=4, max_size=4))
    times = draw(st.sampled_from((TIMES, NUMBERS_OF_ANY_SIZE)))
    rows, words = [], []
    for key, rule in sorted(named):
        head = np.zeros(HEAD, np.int64)
        head[[KEY, RULE, ITEMS]] = key, rule, draw(st.integers(0, 3))
        head[WORDS] = widths[rule] * head[ITEMS] if widths[rule] else draw(st.integers(0, 5))
        head[NUMBERS], head[DUE] = draw(st.integers(0, 2)), draw(times)
        rows.append(head)
        words += [draw(times) for _ in range(head[WORDS])]
    found = np.array(rows, np.int64).reshape(-1, HEAD)
    return WindowRows(found, np.array(words, np.int64), np.arange(found[:, NUMBERS].sum()))


@settings(max_examples=examples(300), deadline=None)
@given(heads())
def test_what_is_written_is_read_again(rows: WindowRows) -> None:
    before: Sequence[list[int]] = [part.tolist() for part in (rows.heads, rows.words, rows.numbers)]
    stored = []

    def ints(array: Ints) -> int:
        stored.append((narrowed(array), list(array.shape)))
        return len(stored) - 1

    def found(name: int) -> Ints:
        (kinds, data), shape = stored[name]
        return widened(kinds, shape, memoryview(data))

    again = WindowRows.read(json.loads(json.dumps(rows.written(ints))), found)
    assert [part.tolist() for part in (again.heads, again.words, again.numbers)] == before
    assert [part.tolist() for part in (rows.heads, rows.words, rows.numbers)] == before
