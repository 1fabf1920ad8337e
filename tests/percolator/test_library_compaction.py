"""Many changes in the log become a segment by themselves, and nobody who changes or reads notices."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count
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


def numbers() -> Iterator[int]:
    """One after the other, a hundred a second at most, until a process of some seconds must have ended."""
    until = time.monotonic() + 120
    for number in count():
        assert time.monotonic() < until
        time.sleep(0.01)
        yield number


@pytest.mark.slow
def test_a_segment_is_made_beside_changes_that_go_on(folder: Path) -> None:
    with opened(folder, 10) as library:
        first = library.pin.generation
        reader = Reader.open(folder)
        expected: set[str] = set()
        for number in numbers():
            if number % 3 == 2:
                library.remove(f"q{number - 1}")
                expected.discard(f"q{number - 1}")
            else:
                library.add(StandingQuery(f"q{number}", f"w{number % 2}"))
                expected.add(f"q{number}")
            assert library.failed is None
            if library.pin.generation >= first + 2:
                break
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
def test_one_that_fails_is_told_and_tried_again_later(folder: Path) -> None:
    with opened(folder, 5) as library:
        sample = folder / "sample.arrow"
        sample.write_bytes(b"no sample of documents")
        for number in numbers():
            library.add(StandingQuery(f"q{number}", "a"))
            if library.failed is not None:
                break
        assert "the library is as it was" in library.failed
        sample.unlink()
        before = library.pin.generation
        for more in numbers():
            library.add(StandingQuery(f"r{more}", "a"))
            if library.pin.generation > before:
                break
        assert len(hits(library, "a")) == number + more + 2
