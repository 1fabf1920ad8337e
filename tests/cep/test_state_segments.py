"""Segments remember what a dictionary of keys would, whatever is put, forgotten and merged, and when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.matching import kernel, segments
from cep.matching.memory import Merging
from cep.matching.numbered import Numbered
from cep.matching.runs import Runs
from cep.matching.segments import Content, Segment, cut, due, events_of, find, indexed, merged, newest

Key = tuple[str, float]
END = kernel.END_OF_TIME
KEYS: list[Key] = [(name, number) for name in ("", "a", "b", "ü") for number in (0.0, 1.5)]


@dataclass(frozen=True)
class Kept:
    """What is remembered of a key: by width lists of (rule, runs, ways, events), and when it is due."""

    lists: Mapping[int, tuple[tuple[int, int, int, tuple[int, ...]], ...]]
    histories: int = 0
    sightings: int = 0
    due: int = END

    @property
    def something(self) -> bool:
        return bool(any(self.lists.values()) or self.histories or self.sightings)


def kept() -> st.SearchStrategy[Kept]:
    one = st.tuples(
        st.integers(0, 3),
        st.integers(1, 3),
        st.integers(1, 4),
        st.lists(st.integers(0, 99), max_size=4).map(tuple),
    )
    lists = st.lists(one, max_size=2, unique_by=lambda row: row[0]).map(lambda rows: tuple(sorted(rows)))
    return st.builds(
        Kept,
        st.fixed_dictionaries({16: lists, 24: lists}),
        st.integers(0, 2),
        st.integers(0, 2),
        st.integers(0, 20) | st.just(END),
    )


def columns(keys: list[Key]) -> tuple[pa.Array, pa.Array]:
    return pa.array([k for k, _ in keys], pa.string()), pa.array([n for _, n in keys], pa.float64())


def content(of: Mapping[Key, Kept], mark: int) -> Content:
    """The content in which each row is marked, so that rows of different batches differ."""
    runs = {}
    for width in (16, 24):
        lists, rows, ways, nodes = [], [], [], []
        for number, value in enumerate(of.values()):
            for rule, n_runs, n_ways, events in value.lists[width]:
                lists.append((number, rule, mark, n_runs, n_ways, len(events), value.due))
                rows += [(mark, k, 0, 0) for k in range(n_runs)]
                ways += [(mark, k, *[0] * (width - 2)) for k in range(n_ways)]
                nodes += [(kernel.NONE, mark, event, event) for event in events]
        shaped = zip(
            (lists, rows, ways, nodes), (kernel.KEPT_LIST, kernel.KEPT_RUN, width, kernel.NODE), strict=True
        )
        runs[width] = Runs(*(np.array(of_kind, np.int64).reshape(-1, size) for of_kind, size in shaped))
    histories = [(n, 0, mark, k, 0) for n, value in enumerate(of.values()) for k in range(value.histories)]
    sightings = [(n, 0, 0, mark + k) for n, value in enumerate(of.values()) for k in range(value.sightings)]
    # A batch writes the events that it has seen first: here those whose numbers are its own.
    taken = {
        event for value in of.values() for rows in value.lists.values() for row in rows for event in row[3]
    }
    own = np.array(sorted(taken), np.int64)
    return Content(
        columns(list(of)),
        np.array([value.due for value in of.values()], np.int64),
        {width: of_width for width, of_width in runs.items() if len(of_width.lists)},
        np.array(histories, np.int64).reshape(-1, 5),
        np.array(sightings, np.int64).reshape(-1, 4),
        {"e": Numbered(own, pa.table({"@id": [f"e{n}" for n in own.tolist()]}))} if len(own) else {},
        Numbered(np.array([mark]), pa.table({"t": [f"t{mark}"]})),
    )


@dataclass
class Model:
    """Segments, and beside them a dictionary with the number of the batch that wrote a key last."""

    segments: list[Segment] = field(default_factory=list)
    keys: dict[Key, tuple[int, Kept]] = field(default_factory=dict)
    batch: int = 0

    def put(self, of: Mapping[Key, Kept]) -> None:
        """Write some keys; events get numbers of this batch."""
        self.batch += 1
        own = {
            key: Kept(
                {
                    width: tuple((r, a, b, self.numbered(events)) for r, a, b, events in rows)
                    for width, rows in value.lists.items()
                },
                value.histories, value.sightings, value.due,
            )
            for key, value in of.items()
        }  # fmt: skip
        self.segments.append(indexed(self.batch, content(own, self.batch)))
        self.keys |= {key: (self.batch, value) for key, value in own.items()}

    def numbered(self, events: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(100 * self.batch + event for event in events)

    def merge(self, first: int) -> None:
        """Let the segments from one on become one."""
        first = min(first, len(self.segments))
        if self.segments[first:]:

            def marks(one: Content) -> np.ndarray:
                of_lists = [runs.lists[:, kernel.KEPT_SEEN] for runs in one.runs.values()]
                return np.unique(np.concatenate([np.zeros(0, np.int64), *of_lists]))

            one = merged(self.segments[first:], self.segments[-1].number, first == 0, marks)
            self.segments = [*self.segments[:first], one]

    def check(self) -> None:
        """Everything that can be asked of the segments is as the dictionary has it."""
        where, which = self.found(KEYS)
        for key, place, number in zip(KEYS, where.tolist(), which.tolist(), strict=True):
            mark, value = self.keys.get(key, (0, Kept({16: (), 24: ()})))
            if place < 0:
                assert not value.something
                continue
            chosen = [np.array([number] if n == place else [], np.int64) for n in range(len(self.segments))]
            same(cut(self.segments, chosen), {key: (mark, value)})
        whole = [
            newest(self.segments, n, np.flatnonzero(segment.something))
            for n, segment in enumerate(self.segments)
        ]
        found = cut(self.segments, whole)
        names = list(zip(*(column.to_pylist() for column in found.keys), strict=True))
        assert sorted(names) == sorted(key for key, (_, value) in self.keys.items() if value.something)
        same(found, {name: self.keys[name] for name in names})
        events = events_of(found)
        there = [np.zeros(0, np.int64)]
        for segment in self.segments:
            for of_stream in segment.content.events.values():
                places, rows = of_stream.find(events)
                there.append(events[places])
                ids = of_stream.table.column("@id").take(pa.array(rows)).to_pylist()
                assert ids == [f"e{n}" for n in events[places].tolist()]
        assert set(np.concatenate(there).tolist()) == set(events.tolist())

    def found(self, keys: list[Key]) -> tuple[np.ndarray, np.ndarray]:
        return find(self.segments, columns(keys), segments.hashes_of(columns(keys), len(keys)))

    def due(self, after: int, until: int) -> set[Key]:
        """The keys that are due in between."""
        found = set()
        for segment, numbers in zip(self.segments, due(self.segments, after, until), strict=True):
            found |= set(
                zip(*(c.take(pa.array(numbers)).to_pylist() for c in segment.content.keys), strict=True)
            )
        return found


def same(found: Content, expected: Mapping[Key, tuple[int, Kept]]) -> None:
    """A content has just what is expected of its keys, in their order."""
    for width in (16, 24):
        rows = [
            (n, mark, row) for n, (mark, value) in enumerate(expected.values()) for row in value.lists[width]
        ]
        runs = found.runs.get(width, Runs.none(width))
        assert runs.lists[:, :6].tolist() == [[n, r, m, a, b, len(e)] for n, m, (r, a, b, e) in rows]
        assert runs.runs[:, :2].tolist() == [[m, k] for _, m, (_, a, _, _) in rows for k in range(a)]
        assert runs.threads[:, :2].tolist() == [[m, k] for _, m, (_, _, b, _) in rows for k in range(b)]
        assert runs.nodes[:, 2].tolist() == [event for _, _, row in rows for event in row[3]]
    values = list(enumerate(expected.values()))
    if any(v.histories for _, v in expected.values()):
        wanted = [[n, m, k] for n, (m, v) in values for k in range(v.histories)]
        assert found.histories[:, [0, 2, 3]].tolist() == wanted
    if any(v.sightings for _, v in expected.values()):
        assert found.sightings[:, [0, 3]].tolist() == [
            [n, m + k] for n, (m, v) in values for k in range(v.sightings)
        ]


@contextmanager
def colliding(different: int | None) -> Iterator[None]:
    """Let hashes take only so many values."""
    real = segments.hashes_of

    def few(of: tuple[pa.Array, ...], rows: int) -> np.ndarray:
        found = real(of, rows)
        return found if different is None else found % np.uint64(different)

    with patch.object(segments, "hashes_of", few):
        yield


def steps() -> st.SearchStrategy[list[dict[Key, Kept] | int]]:
    put = st.dictionaries(st.sampled_from(KEYS), kept(), min_size=1, max_size=4)
    return st.lists(put | put | st.integers(0, 3), min_size=1, max_size=9)


@settings(max_examples=examples(150), deadline=None)
@given(steps(), st.sampled_from([None, 1, 2, 5]), st.integers(-1, 21), st.integers(-1, 21))
def test_segments_remember_as_a_dictionary_does(
    steps: list[dict[Key, Kept] | int], different: int | None, one: int, other: int
) -> None:
    after, until = sorted((one, other))
    with colliding(different):
        model = Model()
        for step in steps:
            if isinstance(step, int):
                model.merge(step)
            else:
                model.put(step)
            model.check()
            expected = {k for k, (_, v) in model.keys.items() if v.something and after < v.due <= until}
            assert model.due(after, until) == expected


def test_what_nobody_names_is_gone_when_all_become_one() -> None:
    model = Model()
    value = Kept({16: ((0, 1, 1, (7,)),), 24: ()})
    model.put({("a", 0.0): value, ("b", 0.0): value})
    model.put({("a", 0.0): Kept({16: (), 24: ()})})
    model.merge(0)
    (one,) = model.segments
    assert one.content.keys[0].to_pylist() == ["b"], "a forgotten key is not mentioned"
    model.put({("b", 0.0): Kept({16: (), 24: ()})})
    model.merge(0)
    (one,) = model.segments
    assert len(one.content.due) == 0
    assert not one.content.events
    assert not len(one.content.texts.numbers)


def test_forgotten_keys_are_mentioned_while_an_older_segment_has_them() -> None:
    model = Model()
    value = Kept({16: ((0, 1, 1, (7,)),), 24: ()})
    model.put({("a", 0.0): value})
    model.put({("a", 0.0): Kept({16: (), 24: ()})})
    model.put({("b", 0.0): value})
    model.merge(1)
    assert len(model.segments) == 2
    model.check()


@pytest.mark.parametrize(
    ("weights", "alive", "first"),
    [
        ([100], 100, 1),
        ([100, 10], 110, 2),
        ([100, 51], 110, 0),
        ([100, 10, 10], 120, 3),
        ([100, 10, 6, 5], 121, 1),
        ([1000, 100, 30, 29, 2], 1161, 2),
        ([100, 1, 1], 40, 0),
    ],
    ids=["one", "a little", "more than half", "two", "later ones", "only the last", "mostly dead"],
)
def test_segments_are_merged_when_it_is_worth_it(weights: list[int], alive: int, first: int) -> None:
    assert Merging(base=0.5, later=1, small=0).first(weights, alive) == first


def test_rows_are_rewritten_a_logarithmic_number_of_times() -> None:
    merging = Merging(base=1e9, later=1, small=0)
    weights, rewritten, most = [1_000_000], 0, 0
    for _ in range(3**7):
        weights.append(1)
        first = merging.first(weights, sum(weights))
        if first < len(weights) - 1:
            weights = [*weights[:first], sum(weights[first:])]
            rewritten += weights[-1]
        most = max(most, len(weights))
    assert most <= 1 + 2 * 8
    assert rewritten / 3**7 <= 10


def test_small_states_are_one_segment() -> None:
    assert Merging(small=10).first([4, 1], 5) == 0
    assert Merging(small=10).first([90, 1], 91) == 2
