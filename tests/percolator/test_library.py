"""A library in its folder: who may write, what readers see, what is reported of damage, which files stay."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from failing_disk import UnsyncedDisk

from percolator.library import writer
from percolator.library.collection import Collection
from percolator.library.compaction import chosen
from percolator.library.damage import DamagedError, LibraryError
from percolator.library.load import load
from percolator.library.manifest import Manifest, Pin, read_manifest
from percolator.library.reader import Reader
from percolator.library.standing import NEVER, StandingQuery, moment
from percolator.library.writer import Library
from percolator.schema import Schema
from percolator.values import DocumentError

SCHEMA = Schema.of({"title": "text", "body": "text english", "lang": "keyword"}, ["body"])


def hits(queries: Collection, text: str, time: int | None = None) -> list[str]:
    return [hit.query.id for hit in queries.match({"body": text}, time=time).hits]


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library.create(tmp_path / "library", SCHEMA, disk=UnsyncedDisk())


def test_everything_of_a_query_survives(library: Library) -> None:
    query = StandingQuery(
        "q\ud800", '"é b" OR x = (c)', 4, {"k": ("v", "w\ud800")}, ("t",), -3, moment("2026-01-01"), "native"
    )
    library.add(query)
    assert Reader.open(library.folder).queries.get("q\ud800") == query
    library.compact()
    assert library.queries.get("q\ud800") == query
    assert Reader.open(library.folder).queries.get("q\ud800") == query
    schema = Reader.open(library.folder).manifest.schema
    assert (schema.text, schema.default) == (SCHEMA.text, ("body",))
    answer = library.queries.match({"body": "c"}, {"k": "v"})
    assert [(hit.query.tags, hit.query.priority, hit.names) for hit in answer.hits] == [(("t",), -3, ("x",))]


def test_ids_of_places_are_those_of_the_queries(library: Library) -> None:
    """From several segments, in memory and mapped; Arrow has no half surrogates."""
    written = ["é", "plain", "q\ud800", "東京", "last"]
    assert library.queries.ids(np.empty(0, np.int32)).to_pylist() == []
    for id_ in written[:2]:
        library.add(StandingQuery(id_, "a"))
    library.compact()
    for id_ in written[2:]:
        library.add(StandingQuery(id_, "a"))
    for queries in (library.queries, Reader.open(library.folder).queries):
        found = queries.match_batch({"body": pa.array(["a"])})
        told = queries.ids(found.query[::-1].repeat(2))
        assert told.type == pa.string()
        told.validate(full=True)
        expected = [queries.query(place).id.replace("\ud800", "?") for place in found.query]
        assert sorted(expected) == sorted(["é", "plain", "q?", "東京", "last"])
        assert told.to_pylist() == [id_ for id_ in expected[::-1] for _ in "ab"]


def test_a_query_hits_until_it_expires_and_can_then_be_taken_out(library: Library) -> None:
    library.add(StandingQuery("q", "a", expires=100))
    library.add(StandingQuery("r", "a", expires=NEVER))
    library.compact()
    library.add(StandingQuery("s", "a", expires=50))
    assert hits(library.queries, "a", 49) == ["q", "r", "s"]
    assert hits(library.queries, "a", 50) == ["q", "r"]
    assert hits(library.queries, "a", 100) == ["r"]
    assert hits(library.queries, "a") == ["q", "r", "s"]
    before = library.pin
    assert library.expire(49) == 0
    assert library.pin == before, "nothing expired, nothing is written"
    assert library.expire(100) == 2
    assert hits(library.queries, "a", 0) == ["r"]


@pytest.mark.slow
def test_one_writes_and_others_read(library: Library) -> None:
    with pytest.raises(LibraryError, match="another process writes"):
        Library.open(library.folder)
    with pytest.raises(LibraryError, match="another process writes"):
        Library.create(library.folder, SCHEMA)
    script = f"""
import sys
from pathlib import Path
from percolator.library.reader import Reader
reader = Reader.open(Path({str(library.folder)!r}))
for _ in sys.stdin:
    reader.refresh()
    found = reader.queries.match({{"body": "a"}})
    print(*reader.pin, *[hit.query.id for hit in found.hits], flush=True)
"""
    reading = [
        subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]

    def ask() -> list[list[str]]:
        found = []
        for process in reading:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("\n")
            process.stdin.flush()
            found.append(process.stdout.readline().split())
        return found

    def now(*ids: str) -> list[list[str]]:
        return [[*map(str, library.pin), *ids]] * 2

    assert ask() == now()
    library.add(StandingQuery("q", "a"))
    assert ask() == now("q")
    library.compact()
    library.add(StandingQuery("r", "a"))
    assert ask() == now("q", "r")
    library.remove("q")
    library.compact(whole=True)
    assert ask() == now("r")
    for process in reading:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) == 0


@pytest.mark.slow
def test_a_compaction_in_the_background_takes_in_what_came_meanwhile(library: Library) -> None:
    for number in range(30):
        library.add(StandingQuery(f"q{number:02}", "a"))
    before = library.pin
    assert library.compact_in_background(whole=True)
    assert not library.compact_in_background()
    library.remove("q00")
    library.add(StandingQuery("q01", "b"))
    library.add(StandingQuery("q99", "a"))
    assert library.finish_compaction(wait=True)
    assert not library.finish_compaction(wait=True)
    assert library.pin.generation == before.generation + 1
    expected = [f"q{number:02}" for number in (*range(2, 30), 99)]
    assert hits(library.queries, "a") == expected
    assert hits(Reader.open(library.folder).queries, "a") == expected
    assert len(hits(Reader.open(library.folder, before).queries, "a")) == 30
    assert library.queries.hit_counts()["q02"] == 1


@pytest.mark.slow
def test_a_compaction_that_another_generation_overtook_is_dropped(library: Library) -> None:
    library.add(StandingQuery("q", "a"))
    library.compact_in_background()
    library.add(StandingQuery("r", "a"))
    library.compact()
    pin = library.pin
    assert not library.finish_compaction(wait=True)
    assert library.pin == pin
    assert hits(library.queries, "a") == ["q", "r"]
    named = set().union(*(read_manifest(library.folder, g).names() for g in (1, 2)))
    assert {path.name for path in library.folder.iterdir()} == {*named, "lock"}


@pytest.mark.slow
def test_many_changes_make_few_segments(library: Library) -> None:
    written = 0
    for number in range(300):
        library.add(StandingQuery(f"q{number}", f"a{number}"))
        if number % 10 == 9:
            names = chosen(library.manifest, library.queries)
            written += 10 + sum(entry.queries for entry in library.manifest.segments if entry.name in names)
            library.compact()
    assert len(library.manifest.segments) <= 5
    assert written < 300 * 6


@pytest.mark.slow
def test_documents_between_changes_meet_few_segments() -> None:
    queries = Collection(SCHEMA)
    for number in range(300):
        queries.add(StandingQuery(f"q{number}", f"a{number}"))
        assert hits(queries, f"a{number} a0") == sorted({"q0", f"q{number}"})
        assert len(queries.parts) <= 9


def test_dead_queries_go_when_they_are_half_of_a_segment(library: Library) -> None:
    for number in range(100):
        library.add(StandingQuery(f"q{number}", "a"))
    library.compact()
    for number in range(51):
        library.remove(f"q{number}")
    library.compact()
    assert [entry.queries for entry in library.manifest.segments] == [49]


def test_old_generations_are_kept_for_pins_and_then_go(tmp_path: Path) -> None:
    pins = []
    with Library.create(tmp_path, SCHEMA, disk=UnsyncedDisk(), kept=3) as library:
        for number in range(6):
            library.add(StandingQuery("q", f"a{number}"))
            pins.append(library.pin)
            library.compact()
        for number, pin in enumerate(pins):
            if pin.generation > library.pin.generation - 3:
                assert hits(Reader.open(tmp_path, pin).queries, f"a{number}") == ["q"]
            else:
                with pytest.raises(LibraryError, match="is not kept; there are 5 to 7"):
                    Reader.open(tmp_path, pin)


@pytest.mark.parametrize(
    ("harm", "reported"),
    [
        (lambda data: data[:-1], "bytes where"),
        (lambda data: data + b"x", "bytes where"),
        (lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:], "have changed since"),
    ],
)
@pytest.mark.parametrize("suffix", [".segment", ".records", "dead"])
def test_damage_is_reported_with_the_file(
    library: Library, suffix: str, harm: Callable[[bytes], bytes], reported: str
) -> None:
    for number in range(200):
        library.add(StandingQuery(f"q{number}", "a"))
    library.compact()
    for number in range(80):
        library.remove(f"q{number}")
    library.compact()
    library.close()
    (path,) = (path for path in library.folder.iterdir() if suffix in path.name)
    path.write_bytes(harm(path.read_bytes()))
    for opened in (Reader.open, Library.open):
        with pytest.raises(DamagedError, match=reported) as raised:
            opened(library.folder)
        assert raised.value.file == path
    path.unlink()
    for opened in (Reader.open, Library.open):
        with pytest.raises(DamagedError, match="the file is missing") as raised:
            opened(library.folder)
        assert raised.value.file == path


def test_a_manifest_that_is_damaged_is_reported_and_nothing_is_removed(library: Library) -> None:
    library.add(StandingQuery("q", "a"))
    library.compact()
    library.close()
    path = library.folder / library.manifest.name
    data = path.read_text()
    before = {path.name for path in library.folder.iterdir()}
    for harmed in (data[:-5], data.replace('"queries": 1', '"queries": 2'), "[]", ""):
        path.write_text(harmed)
        for opened in (Reader.open, Library.open):
            with pytest.raises(DamagedError, match="no manifest"):
                opened(library.folder)
    path.write_text(data.replace('"format": 1', '"format": 2'))
    with pytest.raises(LibraryError, match="format 2; this program reads 1"):
        Reader.open(library.folder)
    assert {path.name for path in library.folder.iterdir()} == before


@pytest.mark.slow
def test_every_damaged_byte_of_the_log_is_reported_unless_it_is_in_the_last_frame(library: Library) -> None:
    library.add(StandingQuery("q", "a"))
    library.add(StandingQuery("r", "a"))
    last = library.pin.offset
    library.add(StandingQuery("s", "a"))
    pin = library.pin
    library.close()
    path = library.folder / library.manifest.log
    data = path.read_bytes()
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        with pytest.raises(DamagedError):
            Reader.open(library.folder, pin)
        if at < last:
            with pytest.raises(DamagedError):
                Reader.open(library.folder)
    for cut in range(last, len(data)):
        path.write_bytes(data[:cut])
        assert Reader.open(library.folder).pin == Pin(1, last), "half of a frame was announced"
        path.write_bytes(data[:cut] + bytes(30))
        assert Reader.open(library.folder).pin == Pin(1, last), "nor was one whose blocks were never written"
    path.write_bytes(data[:last])
    with pytest.raises(DamagedError, match="the log ends at byte"):
        Reader.open(library.folder, pin)


def test_there_must_be_a_library(tmp_path: Path, library: Library) -> None:
    for opened in (Reader.open, Library.open):
        with pytest.raises(LibraryError, match="no such folder"):
            opened(tmp_path / "nowhere")
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(LibraryError, match="there is no library"):
            opened(tmp_path / "empty")
    library.close()
    with pytest.raises(LibraryError, match="there is a library"):
        Library.create(library.folder, SCHEMA)


LINES = [
    '{"id": "a", "query": "x"}',
    "",
    '{"id": "a", "query": "y"}',
    '{"id": "b", "query": "(x", "tags": ["t"]}',
    '{"id": "c", "version": 1, "query": "x"}',
    '{"id": "c", "version": 2, "query": "y"}',
    '{"id": "c", "version": 2, "query": "y"}',
    '{"id": "d", "query": "x", "priority": 1.5}',
    '{"id": "d", "query": "x", "expires": "soon"}',
    '{"id": "d", "query": "x", "filter": {"k": []}}',
    '{"id": "d", "query": "x", "tags": "t"}',
    '{"id": "d", "query": "x", "dialect": "sql"}',
    '{"id": "", "query": "x"}',
    '{"id": "d"}',
    '{"id": "d", "query": "nofield:x"}',
    "[" * 100_000,
    "{",
    '{"id": "e", "query": "NOT x"}',
]


@pytest.mark.parametrize("most_in_log", [0, 1000])
def test_a_load_tells_of_every_line_that_it_refuses(library: Library, most_in_log: int) -> None:
    with patch.object(writer, "MOST_IN_LOG", most_in_log):
        report = library.load(LINES)
    assert [(one.line, one.id, one.refusal.code, one.refusal.position) for one in report.refused] == [
        (3, "a", "PQ22", None),
        (4, "b", "PQ03", 0),
        (7, "c", "PQ22", None),
        *((line, "d", "PQ21", None) for line in range(8, 13)),
        (13, "", "PQ21", None),
        (14, "d", "PQ21", None),
        (15, "d", "PQ10", 0),
        (16, None, "PQ21", None),
        (17, None, "PQ21", None),
    ]
    assert (report.new, report.replaced, report.same) == (3, 1, 0)
    assert report.warnings == [
        (18, "e", "it asks for no word or value: every document is checked against it")
    ]
    assert hits(library.queries, "y") == ["c", "e"]
    assert hits(Reader.open(library.folder).queries, "y") == ["c", "e"]
    again = library.load(LINES[:1])
    assert (again.new, again.replaced, again.same, again.refused) == (0, 0, 1, [])


def test_a_collection_needs_no_folder() -> None:
    queries = Collection(SCHEMA)
    assert len(load(queries, LINES).refused) == 13
    assert sorted(query.id for query in queries) == ["a", "c", "e"]


def test_manifests_have_golden_bytes() -> None:
    text = Manifest(1, Schema.of({"a": "text english", "b": "keyword"})).as_text()
    assert text == (
        '{"format": 1, "generation": 1, "fields": {"a": "text english", "b": "keyword"}, "default": ["a"], '
        '"segments": [], "checksum": 417216600}'
    )
    assert Manifest.from_text(text).as_text() == text


def test_records_of_the_log_have_golden_bytes(library: Library) -> None:
    library.add(StandingQuery("q", "a", tags=("é",), expires=0))
    library.remove("q")
    data = (library.folder / library.manifest.log).read_bytes()
    first = json.dumps(
        {"add": {"id": "q", "version": 1, "query": "a", "tags": ["é"], "expires": "1970-01-01T00:00:00Z"}},
        separators=(",", ":"),
    ).encode()
    assert data[12 : 12 + len(first)] == first
    assert data[24 + len(first) :] == b'{"remove":"q"}'


def test_a_sample_changes_where_queries_are_found_and_no_answer(library: Library) -> None:
    lines = [json.dumps({"id": f"q{n}", "query": f"often AND w{n}"}) for n in range(50)]
    library.load(lines)
    library.compact(whole=True)
    text = "often w7"
    plain = hits(library.queries, text), (library.queries.parts[0].stored.segment.ints.tobytes())
    library.set_sample(pa.table({"body": ["often rare"] * 50 + ["w1"], "more": [1] * 51}))
    library.compact(whole=True)
    sampled = hits(library.queries, text), (library.queries.parts[0].stored.segment.ints.tobytes())
    assert plain[0] == sampled[0] == ["q7"]
    assert plain[1] != sampled[1]
    with pytest.raises(DocumentError, match="body holds strings"):
        library.set_sample(pa.table({"body": [1]}))
    (library.folder / "sample.arrow").write_bytes(b"harm")
    with pytest.raises(DamagedError, match="no documents"):
        library.compact(whole=True)
    assert hits(library.queries, text) == ["q7"]


@pytest.mark.slow
def test_memory_is_shared_between_readers_of_a_host(library: Library) -> None:
    library.load([json.dumps({"id": f"query-{n}", "query": f"a{n} b{n % 97}"}) for n in range(20_000)])
    reader = Reader.open(library.folder)
    (part,) = reader.queries.parts
    stored = part.stored
    assert not stored.segment.ints.flags.owndata
    assert not stored.segment.ints.flags.writeable
    size = sum(path.stat().st_size for path in library.folder.glob("segment-*"))
    assert reader.queries.nbytes < size
