"""A file of queries compiled from the set before it comes to what it comes to from nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.plan.plan import HitStream, hit_streams
from cep.standing.answers import QuerySet
from cep.standing.compiled import compiled, name_of
from cep.standing.kept import NONE, KeptQueries
from cep.standing.store import QueryStore
from percolator.library.damage import DamagedError
from percolator.library.load import LoadReport
from rules.packs import load

PACK = """
pack p version "1"
stream article { url: string  title: text  at: timestamp  id url  time at }
queries w { from "w.jsonl" }
rule r { on article matching w }
"""
WORDS = ["a", "b", "c", "d"]


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """A line: good ones, those that refuse one another, costly, doubtful, bad ones, blank ones."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(st.sampled_from([b"", b" ", b"{", b"[]", b'{"id": "q1"}', b'{"id": "q2", "query": "("}']))
    one, other = draw(st.sampled_from(WORDS)), draw(st.sampled_from(WORDS))
    text = draw(
        st.sampled_from(
            [one, f"{one} AND {other}", f'"{one} {other}"', f"x = ({one})", f"NOT {one}", f"{one} or {other}"]
        )
    )
    found: dict[str, object] = {"id": f"q{draw(st.integers(0, 60))}", "query": text}
    if kind == 1:
        found["version"] = draw(st.integers(1, 3))
    if kind == 2:
        found["tags"] = [one]
    return json.dumps(found).encode()


def stream_of(folder: Path, content: list[bytes]) -> HitStream:
    """The hits of a pack whose file has these lines."""
    folder.mkdir(exist_ok=True)
    (folder / "p.rules").write_text(PACK, "utf-8")
    (folder / "w.jsonl").write_bytes(b"\n".join(content))
    (found,) = hit_streams(load([folder / "p.rules"]).need())
    return found


def answers(queries: KeptQueries, hits: HitStream) -> object:
    """All that is told of documents of every pair of words."""
    titles = pa.array([f"{one} {other}" for one in WORDS for other in WORDS], pa.string())
    times = np.zeros(len(titles), np.int64)
    found = QuerySet(queries, hits.documents).answers(lambda _: titles, times, named=True)
    assert found.names is not None
    return (
        found.documents.tolist(), found.query.to_pylist(), found.tags.to_pylist(), found.names.to_pylist(),
        found.undecided, found.unnamed,
    )  # fmt: skip


@pytest.mark.slow
@given(st.lists(lines(), max_size=20), st.integers(0, 60), st.data())
@settings(max_examples=examples(40), deadline=None)
def test_what_a_set_is_made_from_makes_no_difference(
    drawn: list[bytes], count: int, data: st.DataObject
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        earlier, content = NONE, [*drawn, *numbered(count, first=100)]
        for number in range(5):
            hits = stream_of(folder, content)
            anew, again = compiled(hits), compiled(hits, earlier)
            assert told(again.report) == told(anew.report)
            assert len(again.kept) == len(anew.kept)
            assert answers(again.kept, hits) == answers(anew.kept, hits)
            assert again.kept.costs(3)[0] == pytest.approx(anew.kept.costs(3)[0])
            place = folder / str(number)
            place.mkdir()
            again.kept.save(place)
            earlier = KeptQueries.open(place)
            assert answers(earlier, hits) == answers(anew.kept, hits)
            content = data.draw(edited(content))


def told(report: LoadReport) -> object:
    """All that a user is told of the lines."""
    words = list(map(str, report.lookalikes))
    return report.new, report.replaced, report.same, list(map(str, report.refused)), report.warnings, words


@st.composite
def edited(draw: st.DrawFn, content: list[bytes]) -> list[bytes]:
    """The lines with some left out, changed, added, or all in another order."""
    begin, length = draw(st.integers(0, len(content))), draw(st.sampled_from([0, 0, 1, 10, 50]))
    found = content[:begin] + content[begin + length :]
    for line in draw(st.lists(lines(), max_size=6)):
        found.insert(draw(st.integers(0, len(found))), line)
    return draw(st.permutations(found)) if draw(st.integers(0, 3)) == 0 else found


def numbered(count: int, first: int = 0) -> list[bytes]:
    """That many queries."""
    return [json.dumps({"id": f"q{n}", "query": f"w{n}"}).encode() for n in range(first, first + count)]


def test_a_changed_line_leaves_the_parts_as_they_are(tmp_path: Path) -> None:
    store = QueryStore(tmp_path / "queries")
    first = stream_of(tmp_path, numbered(100))
    store.put(first)
    changed = [b'{"id": "q7", "query": "other"}' if n == 7 else line for n, line in enumerate(numbered(100))]
    second = stream_of(tmp_path, changed)
    assert len(store.earlier(second)) == 100
    store.put(second)
    old, new = store.folder / name_of(first), store.folder / name_of(second)
    assert (old / "0.segment").stat().st_ino == (new / "0.segment").stat().st_ino
    assert [len(part.dead) for part in KeptQueries.open(new).parts] == [100, 1]
    assert [part.living for part in KeptQueries.open(new).parts] == [99, 1]
    for path in old.iterdir():
        path.unlink()
    old.rmdir()
    assert len(QueryStore(store.folder).load(second)) == 100, "it does not need the one before"


def test_a_part_of_which_half_is_dead_is_made_anew_and_smaller_ones_stay(tmp_path: Path) -> None:
    titles = [b'{"id": "t%d", "query": "%s"}' % (n, WORDS[n % 4].encode()) for n in range(20)]
    kept = compiled(stream_of(tmp_path, numbered(100))).kept
    kept = compiled(stream_of(tmp_path, [*numbered(100), *titles]), kept).kept
    assert [part.living for part in kept.parts] == [100, 20]
    hits = stream_of(tmp_path, [*numbered(50), *titles])
    found = compiled(hits, kept).kept
    assert [part.living for part in found.parts] == [20, 50]
    assert answers(found, hits) == answers(compiled(hits).kept, hits)
    hits = stream_of(tmp_path, [*numbered(50), *titles[1:]])
    found = compiled(hits, found).kept
    assert [part.living for part in found.parts] == [19, 50]
    assert answers(found, hits) == answers(compiled(hits).kept, hits)


@pytest.mark.slow
def test_parts_stay_few(tmp_path: Path) -> None:
    kept = NONE
    for count in range(1, 120):
        kept = compiled(stream_of(tmp_path, numbered(count)), kept).kept
        assert len(kept) == count
        assert len(kept.parts) <= 5


def test_a_set_of_other_queries_is_none_to_begin_from(tmp_path: Path) -> None:
    store = QueryStore(tmp_path / "queries")
    store.put(stream_of(tmp_path, numbered(50)))
    assert len(store.earlier(stream_of(tmp_path, [b'{"id": "x", "query": "y"}']))) == 0


@pytest.mark.parametrize("name", ["0.segment", "0.records", "lines.npy", "files.json"])
def test_a_damaged_set_is_compiled_anew_and_nothing_is_compiled_from_it(tmp_path: Path, name: str) -> None:
    store = QueryStore(tmp_path / "queries")
    hits = stream_of(tmp_path, numbered(30))
    store.put(hits)
    place = store.folder / name_of(hits)
    whole = {path.name: path.read_bytes() for path in place.iterdir()}
    damaged = bytearray(whole[name])
    damaged[len(damaged) // 2] ^= 1
    (place / name).write_bytes(damaged)
    longer = stream_of(tmp_path, numbered(31))
    assert len(QueryStore(store.folder).earlier(longer)) == 0
    stream_of(tmp_path, numbered(30))
    again = QueryStore(store.folder)
    again.put(hits)
    assert {path.name: path.read_bytes() for path in place.iterdir()} == whole
    assert answers(KeptQueries.open(place), hits) == answers(compiled(hits).kept, hits)


def test_what_was_long_not_used_goes(tmp_path: Path) -> None:
    store = QueryStore(tmp_path / "queries")
    first = stream_of(tmp_path, numbered(20))
    store.put(first)
    second = stream_of(tmp_path, numbered(21))
    store.put(second)
    for path in store.folder.iterdir():
        os.utime(path, (1000, 1000))
    store.put(second)
    assert store.prune(2000) == 2
    assert {path.name for path in store.folder.iterdir()} == {
        name_of(second), second.queries.content + ".jsonl",
    }  # fmt: skip
    assert len(store.load(second)) == 21


def test_a_removal_that_is_cut_leaves_no_half_of_a_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class PowerCutError(Exception):
        pass

    def half(path: Path) -> None:
        (path / "0.records").unlink()
        raise PowerCutError

    store = QueryStore(tmp_path / "queries")
    hits = stream_of(tmp_path, numbered(20))
    store.put(hits)
    os.utime(store.folder / name_of(hits), (1000, 1000))
    with monkeypatch.context() as patched:
        patched.setattr("cep.standing.store.shutil.rmtree", half)
        with pytest.raises(PowerCutError):
            store.prune(2000)
    store.put(hits)
    assert len(store.load(hits)) == 20


def test_two_files_of_a_pack_are_compiled_once_each(tmp_path: Path) -> None:
    store = QueryStore(tmp_path / "queries")
    both = [stream_of(tmp_path / name, numbered(20, first)) for name, first in (("a", 0), ("b", 100))]
    for hits in both:
        store.put(hits)
    changed = [stream_of(tmp_path / name, numbered(21, first)) for name, first in (("a", 0), ("b", 100))]
    found = [compiled(hits, store.earlier(hits)) for hits in changed]
    again = [compiled(hits, store.earlier(hits)) for hits in changed]
    assert all(one is other for one, other in zip(found, again, strict=True))


def test_damage_is_told(tmp_path: Path) -> None:
    place = tmp_path / "set"
    place.mkdir()
    compiled(stream_of(tmp_path, numbered(20))).kept.save(place)
    whole = (place / "lines.npy").read_bytes()
    for cut in (0, 50, len(whole) - 1):
        (place / "lines.npy").write_bytes(whole[:cut])
        with pytest.raises(DamagedError):
            KeptQueries.open(place)
