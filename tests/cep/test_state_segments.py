"""Segments remember what a dictionary of keys would, whatever is put, forgotten and merged, and when."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.hashing.shards import hashes_of
from cep.operators.patterns.kernel import layout
from cep.operators.patterns.runtime.runs import RunRows, Runs
from cep.shard.memory import Merging
from cep.state import gathering
from cep.state.gathering import Gathered, gathered, merged
from cep.state.keyed_rows import FlatRows, events_of, size_of
from cep.state.keyed_rows import Kept as KeptRows
from cep.state.keys import Keys
from cep.state.numbered import Numbered
from cep.state.segments import Content, Segment, indexed

Key = tuple[str, float]
END = layout.END_OF_TIME
KEYS: list[Key] = [(name, number) for name in ("", "a", "b", "ü") for number in (0.0, 1.5)]


@dataclass(frozen=True)
class Kept:
    """The memory of a key: by width lists of (rule, runs, alternatives, events), and when it is due."""

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
        st.lists(st.integers(0, 99), min_size=1, max_size=4).map(tuple),
    )
    lists = st.lists(one, max_size=2, unique_by=lambda row: row[0]).map(lambda rows: tuple(sorted(rows)))
    return st.builds(
        Kept,
        st.fixed_dictionaries({16: lists, 24: lists}),
        st.integers(0, 2),
        st.integers(0, 2),
        st.integers(-20, 20) | st.just(END),
    )


def columns(keys: list[Key]) -> tuple[pa.Array, pa.Array]:
    return pa.array([k for k, _ in keys], pa.string()), pa.array([n for _, n in keys], pa.float64())


def hashed(keys: list[Key], different: int | None) -> np.ndarray:
    """Hashes of keys, that take only so many values."""
    found = hashes_of(columns(keys), len(keys))
    return found if different is None else found % np.uint64(different)


def content(of: Mapping[Key, Kept], whole: frozenset[Key], mark: int, different: int | None) -> Content:
    """The content in which each row is marked, so that rows of different batches differ."""
    hashes = dict(zip(of, hashed(list(of), different).tolist(), strict=True))
    of = {key: of[key] for key in sorted(of, key=lambda key: (hashes[key], key))}
    runs = {}
    for width in (16, 24):
        lists, rows, alternatives, nodes = [], [], [], []
        for number, value in enumerate(of.values()):
            for rule, n_runs, n_alternatives, events in value.lists[width]:
                lists.append((number, rule, mark, n_runs, n_alternatives, len(events), value.due))
                rows += [(mark, k, 0, 0) for k in range(n_runs)]
                alternatives += [alternative(width, mark, k, len(events) - 1) for k in range(n_alternatives)]
                nodes += [(k - 1, mark, event, event) for k, event in enumerate(events)]
        shaped = zip(
            (lists, rows, alternatives, nodes),
            (layout.KEPT_LIST, layout.KEPT_RUN, width, layout.NODE),
            strict=True,
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
        keys=columns(list(of)),
        hashes=np.array([hashes[key] for key in of], np.uint64),
        whole=np.array([key in whole for key in of], bool),
        due=np.array([value.due for value in of.values()], np.int64),
        rows={
            "runs": RunRows({width: of_width for width, of_width in runs.items() if len(of_width.lists)}),
            "histories": FlatRows(np.array(histories, np.int64).reshape(-1, 5)),
            "sightings": FlatRows(np.array(sightings, np.int64).reshape(-1, 4)),
        },
        events={"e": Numbered(own, pa.table({"@id": [f"e{n}" for n in own.tolist()]}))} if len(own) else {},
        texts=Numbered(np.array([mark]), pa.table({"t": [f"t{mark}"]})),
    )


def alternative(width: int, mark: int, number: int, node: int) -> list[int]:
    """An alternative that has taken the events of its list up to a node."""
    row = [0] * width
    row[layout.T_NEXT], row[layout.T_STATE], row[layout.T_NODE] = mark, number, node
    return row


Words = list[tuple[int, Kept]]
"""What is remembered of a key: what batches (by number) have said, the first of them everything."""


@dataclass
class Model:
    """Segments, and beside them a dictionary of what they are to remember."""

    different: int | None = None
    segments: list[Segment] = field(default_factory=list)
    keys: dict[Key, Words] = field(default_factory=dict)
    batch: int = 0

    def put(self, of: Mapping[Key, Kept], more: frozenset[Key] = frozenset()) -> None:
        """Say what there is of some keys, or what `more` there is; events get numbers of this batch."""
        self.batch += 1
        own = {key: self.numbered(value, key in more) for key, value in of.items()}
        own = {key: value for key, value in own.items() if value.something or key not in more}
        said = content(own, frozenset(own.keys() - more), self.batch, self.different)
        self.segments.append(indexed(self.batch, said))
        for key, value in own.items():
            before = self.keys.get(key, []) if key in more else []
            self.keys[key] = [*before, (self.batch, value)]

    def numbered(self, value: Kept, more: bool) -> Kept:
        lists = {
            width: tuple(
                (r, a, b, tuple(100 * self.batch + event for event in events)) for r, a, b, events in rows
            )
            for width, rows in value.lists.items()
        }
        return Kept(lists, 0, 0, value.due) if more else replace(value, lists=lists)

    def merge(self, first: int) -> None:
        """Let the segments from one on become one."""
        first = min(first, len(self.segments))
        if self.segments[first:]:

            def marks(rows: KeptRows) -> np.ndarray:
                of_runs = [runs.runs[:, layout.KEPT_START] for runs in by_width(rows).values()]
                return np.unique(np.concatenate([np.zeros(0, np.int64), *of_runs]))

            one = merged(self.segments[first:], self.segments[-1].number, first == 0, marks)
            self.segments = [*self.segments[:first], one]

    def check(self, wanted: frozenset[Key]) -> None:
        """Everything that can be asked of the segments is as the dictionary has it."""
        asked = np.array([key in wanted for key in KEYS])
        found = gathered(self.segments, columns(KEYS), hashed(KEYS, self.different), asked, (END, END))
        names = named(found.keys)
        assert [names[number] for number in found.asked.tolist()] == KEYS
        assert found.hashes.tolist() == sorted(hashed(KEYS, self.different).tolist())
        known = {name for name, known in zip(names, found.known.tolist(), strict=True) if known}
        assert {key for key in wanted if something(self.keys.get(key, []))} <= known
        same(found.rows, {name: self.keys[name] if name in known else [] for name in names})
        found = gathered(self.segments, columns([]), hashed([], None), np.zeros(0, bool), None)
        names = named(found.keys)
        assert sorted(names) == sorted(key for key, words in self.keys.items() if something(words))
        same(found.rows, {name: self.keys[name] for name in names})
        self.check_most(asked, found)
        events = events_of(found.rows)
        there = [np.zeros(0, np.int64)]
        for segment in self.segments:
            for of_stream in segment.content.events.values():
                places, rows = of_stream.find(events)
                there.append(events[places])
                ids = of_stream.table.column("@id").take(pa.array(rows)).to_pylist()
                assert ids == [f"e{n}" for n in events[places].tolist()]
        assert set(np.concatenate(there).tolist()) == set(events.tolist())

    def check_most(self, asked: np.ndarray, all_of_it: Gathered) -> None:
        """The keys asked for weigh what a segment of them would; where that is most, everything is found."""
        hashes = hashed(KEYS, self.different)
        weight = 0
        for segment in self.segments:
            mine = segment.having(np.unique(hashes[asked]))
            weight += segment.weight_of(mine)
            numbers = np.arange(len(mine))
            assert segment.weight_of(mine) == len(mine) + size_of(segment.cut(mine, numbers))
            assert segment.weight_of(np.arange(len(segment))) == segment.weight
        some, most = (
            gathered(self.segments, columns(KEYS), hashes, asked, (END, END), weight + more)
            for more in (1, 0)
        )
        assert (some.everything, most.everything) == (False, True)
        names = named(most.keys)
        assert [names[number] for number in most.asked.tolist()] == KEYS == sorted(names, key=KEYS.index)
        same(most.rows, {name: self.keys.get(name, []) for name in names})
        assert events_of(most.rows).tolist() == events_of(all_of_it.rows).tolist()

    def due(self, after: int, until: int) -> set[Key]:
        """The keys that are due in between."""
        found = gathered(self.segments, columns([]), hashed([], None), np.zeros(0, bool), (after, until))
        names = named(found.keys)
        same(found.rows, {name: self.keys[name] for name in names})
        return set(names)


def named(keys: Keys) -> list[tuple[object, ...]]:
    """The values of keys, in order of their numbers."""
    return list(keys.python(range(keys.count)).values())


def something(words: Words) -> bool:
    """True if anything is remembered of a key."""
    return any(value.something for _, value in words)


def same(found: KeptRows, expected: Mapping[Key, Words]) -> None:
    """There is just what is expected of keys, in their order."""
    for width in (16, 24):
        runs = by_width(found).get(width, Runs.none(width))
        rows = [
            (
                n,
                rule,
                [
                    (mark, value.due, row)
                    for mark, value in words
                    for row in value.lists[width]
                    if row[0] == rule
                ],
            )
            for n, words in enumerate(expected.values())
            for rule in sorted({row[0] for _, value in words for row in value.lists[width]})
        ]
        assert runs.lists.tolist() == [
            [
                n, rule, max(mark for mark, _, _ in parts), sum(row[1] for _, _, row in parts),
                sum(row[2] for _, _, row in parts), sum(len(row[3]) for _, _, row in parts),
                min(due for _, due, _ in parts),
            ]
            for n, rule, parts in rows
        ]  # fmt: skip
        parts = [(mark, row) for _, _, of_list in rows for mark, _, row in of_list]
        assert runs.runs[:, :2].tolist() == [[mark, k] for mark, row in parts for k in range(row[1])]
        assert runs.alternatives[:, :2].tolist() == [[mark, k] for mark, row in parts for k in range(row[2])]
        assert runs.nodes[:, 2].tolist() == [event for _, row in parts for event in row[3]]
        taken = [list(row[3]) for _, row in parts for _ in range(row[2])]
        assert [chain for chain in chains(runs) if chain] == [events for events in taken if events]
    values = list(enumerate(expected.values()))
    histories = [[n, mark, k] for n, words in values for mark, v in words for k in range(v.histories)]
    assert flat(found, "histories", [0, 2, 3]) == histories
    sightings = [[n, mark + k] for n, words in values for mark, v in words for k in range(v.sightings)]
    assert flat(found, "sightings", [0, 3]) == sightings


def by_width(found: KeptRows) -> Mapping[int, Runs]:
    """The runs."""
    return found["runs"].by_width if "runs" in found else {}


def flat(found: KeptRows, kind: str, columns: list[int]) -> list[list[int]]:
    """Some columns of flat rows."""
    return found[kind].rows[:, columns].tolist() if kind in found and len(found[kind].rows) else []


def chains(runs: Runs) -> Iterator[list[int]]:
    """The events that each alternative has taken, the first one first."""
    first = 0
    of_list = np.repeat(np.arange(len(runs.lists)), runs.lists[:, layout.KEPT_ALTS])
    firsts = runs.firsts()[:, 2]
    for row, number in zip(runs.alternatives, of_list.tolist(), strict=True):
        taken: list[int] = []
        first, node = firsts[number], row[layout.T_NODE]
        while node >= 0 and runs.lists[number, layout.KEPT_NODES]:
            taken.append(int(runs.nodes[first + node, layout.N_EVENT]))
            node = runs.nodes[first + node, layout.N_PREVIOUS]
        yield taken[::-1]


Step = tuple[dict[Key, Kept], frozenset[Key]] | int
"""What is said of keys, and of which of them it is said what more there is; or a merge."""


def steps() -> st.SearchStrategy[list[Step]]:
    some = st.frozensets(st.sampled_from(KEYS))
    put = st.tuples(st.dictionaries(st.sampled_from(KEYS), kept(), min_size=1, max_size=4), some)
    return st.lists(put | put | st.integers(0, 3), min_size=1, max_size=9)


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(
    steps(), st.sampled_from([None, 1, 2, 5]), st.frozensets(st.sampled_from(KEYS)), st.integers(-21, 21),
    st.integers(-21, 21),
)  # fmt: skip
def test_segments_remember_as_a_dictionary_does(
    steps: list[Step], different: int | None, wanted: frozenset[Key], one: int, other: int
) -> None:
    after, until = sorted((one, other))
    model = Model(different)
    for step in steps:
        if isinstance(step, int):
            model.merge(step)
        else:
            model.put(*step)
        model.check(wanted)
        # No batch leaves anything overdue.
        least = {
            key: min(value.due for _, value in words if value.something)
            for key, words in model.keys.items()
            if something(words)
        }
        overdue = {key for key, due in least.items() if due <= after}
        expected = {key for key, due in least.items() if after < due <= until}
        assert model.due(after, until) - overdue == expected


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
    model.check(frozenset(KEYS))


@pytest.mark.parametrize(
    ("asked", "most", "everything"),
    [(0.9, 0.5, True), (0.2, 0.5, False), (0.9, 2.0, False), (1.0, math.inf, False)],
    ids=["most", "some", "never", "without a bound"],
)
def test_where_most_keys_are_asked_for_all_are_recalled(asked: float, most: float, everything: bool) -> None:
    """Whether a sample of them says so, which is as large as it has to be, or all of a few."""
    for count in (200, 2 * gathering.SAMPLED * gathering.ENOUGH):
        keys = [(f"k{n}", 0.0) for n in range(count)]
        segment = indexed(
            1, content({key: Kept({16: (), 24: ()}, 1, 0, 1) for key in keys}, frozenset(keys), 1, None)
        )
        mine = keys[: int(asked * count)]
        bound = most * segment.weight
        with patch.object(Segment, "having", autospec=True, side_effect=Segment.having) as having:
            found = gathered(
                [segment], columns(mine), hashed(mine, None), np.ones(len(mine), bool), (0, 0), bound
            )
        assert found.everything == everything
        assert found.keys.count == (count if everything else len(mine))
        looked_for = [len(call.args[1]) for call in having.call_args_list]
        enough = len(mine) >= gathering.SAMPLED * gathering.ENOUGH
        if everything and enough:
            assert looked_for == [-(-len(mine) // gathering.SAMPLED)], "the others are not looked for"


@pytest.mark.parametrize(
    ("weights", "alive", "first"),
    [
        ([100], 100, 1),
        ([100, 10], 110, 2),
        ([100, 63], 110, 0),
        ([100, 10, 10], 120, 3),
        ([100, 10, 6, 5], 121, 1),
        ([1000, 100, 30, 29, 2], 1161, 2),
        ([100, 1, 1], 40, 0),
        ([5, 100], 105, 2),
        ([60, 100], 160, 2),
        ([5, 100, 20, 20], 145, 4),
        ([5, 100, 10, 6, 5], 126, 2),
        ([5, 100, 63], 168, 0),
        ([5, 100, 63, 300], 468, 4),
    ],
    ids=[
        "one",
        "a little",
        "more than half and a bit",
        "two",
        "later ones",
        "only the last",
        "mostly dead",
        "little before",
        "more before",
        "a little after it",
        "later ones after it",
        "too much after it",
        "all before are little",
    ],
)
def test_segments_are_merged_when_it_is_worth_it(weights: list[int], alive: int, first: int) -> None:
    assert Merging(base=0.5, later=1, small=0).first(weights, alive) == first


def test_shards_that_began_together_do_not_merge_together() -> None:
    """Every batch brings as much to all shards, and as much as the base weighs in 100 batches."""
    merging = Merging(small=0)
    when = []
    for shard in range(16):
        base = 1_000_000 + 17 * shard
        batches = range(1, 200)
        when.append(next(n for n in batches if merging.first([base, 10_000 * n], base + 10_000 * n) == 0))
    assert 75 <= min(when) < 85
    assert 115 < max(when) <= 126
    assert max(when.count(batch) for batch in when) <= 3


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
