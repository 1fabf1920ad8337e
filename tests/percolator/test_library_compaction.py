"""Many changes in the log become a segment by themselves, and nobody who changes or reads notices."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from failing_disk import UnsyncedDisk

from percolator.library.reader import Reader
from percolator.library.standing import StandingQuery
from percolator.library.writer import Library
from percolator.schema import Schema

SCHEMA = Schema.of({"body": "text"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Library.create(tmp_path / "library", SCHEMA, disk=UnsyncedDisk()).close()
    return tmp_path / "library"


def opened(folder: Path, compact_at: int | None) -> Library:
    return Library.open(folder, disk=UnsyncedDisk(), compact_at=compact_at)


def hits(library: Library | Reader, text: str) -> list[str]:
    return [hit.query.id for hit in library.queries.match({"body": text}).hits]


def the_compaction_ends(library: Library) -> None:
    """Waits for the process that compacts; it is left for the library to be heard.

    The process is asked for by its number: just begun, it may not have its command line yet.
    """
    if library._child is not None:
        os.waitid(os.P_PID, library._child.pid, os.WEXITED | os.WNOWAIT)


@pytest.mark.slow
def test_a_segment_is_made_beside_changes_that_go_on(folder: Path) -> None:
    with opened(folder, 10) as library:
        first = library.pin.generation
        reader = Reader.open(folder)
        expected: set[str] = set()
        for number in range(40):
            if number % 3 == 2:
                library.remove(f"q{number - 1}")
                expected.discard(f"q{number - 1}")
            else:
                library.add(StandingQuery(f"q{number}", f"w{number % 2}"))
                expected.add(f"q{number}")
            assert library.failed is None
            if number in (14, 35):
                the_compaction_ends(library)
        assert library.pin.generation == first + 2
        reader.refresh()
        assert hits(library, "w0 w1") == hits(reader, "w0 w1") == sorted(expected)
    with opened(folder, None) as library:
        assert hits(library, "w0 w1") == sorted(expected)


def test_none_is_made_where_none_is_wanted(folder: Path) -> None:
    with opened(folder, None) as library:
        before = library.pin.generation
        for number in range(2_100):
            library.add(StandingQuery(f"q{number}", "a"))
        assert not library.finish_compaction(wait=True)
        assert library.pin.generation == before


@pytest.mark.slow
def test_one_that_fails_is_reported_and_tried_again_later(folder: Path) -> None:
    with opened(folder, 5) as library:
        sample = folder / "sample.arrow"
        sample.write_bytes(b"no sample of documents")
        for number in range(5):
            library.add(StandingQuery(f"q{number}", "a"))
        the_compaction_ends(library)
        before = library.pin.generation
        library.add(StandingQuery("r", "a"))
        assert library.failed is not None
        assert "the library is as it was" in library.failed
        sample.unlink()
        for number in range(6):
            library.add(StandingQuery(f"s{number}", "a"))
        the_compaction_ends(library)
        assert library.pin.generation == before
        library.add(StandingQuery("t", "a"))
        assert library.pin.generation == before + 1
        assert library.failed is None
        assert len(hits(library, "a")) == 13
