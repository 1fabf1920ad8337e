"""Sets of queries in a bucket: there whole or not at all, and gone when nobody can ask for them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from object_store import ObjectStore

from cep.files import write_whole
from cep.standing import bucket

if TYPE_CHECKING:
    from upath import UPath

LATER = 3_600.0
SET, FILE = "a1b2", "c3d4.jsonl"


@pytest.fixture
def kept(s3: ObjectStore) -> UPath:
    return s3.bucket().path / "queries"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A machine that has a set and a file of queries."""
    folder = tmp_path / "here"
    (folder / SET / "segments").mkdir(parents=True)
    (folder / SET / "texts").write_bytes(b"texts")
    (folder / SET / "segments" / "0").write_bytes(b"segment")
    (folder / FILE).write_bytes(b"queries")
    return folder


def names(kept: UPath) -> list[str]:
    return sorted(path.relative_to(kept).as_posix() for path in kept.rglob("*") if path.is_file())


def send(kept: UPath, here: Path) -> None:
    bucket.send(here / SET, kept)
    bucket.send(here / FILE, kept)
    assert names(kept) == [f"{SET}.list", f"{SET}/segments/0", f"{SET}/texts", FILE]


def test_what_one_machine_sends_another_has(kept: UPath, here: Path, tmp_path: Path) -> None:
    assert not bucket.fetch(SET, kept, tmp_path / "none")
    send(kept, here)
    for name in (SET, FILE):
        assert bucket.fetch(name, kept, tmp_path / "there" / name if name == SET else tmp_path / name)
    assert (tmp_path / "there" / SET / "segments" / "0").read_bytes() == b"segment"
    assert (tmp_path / FILE).read_bytes() == b"queries"
    (kept / SET / "texts").write_bytes(b"text")
    assert not bucket.fetch(SET, kept, tmp_path / "half"), "a file has another size than was said"


def test_a_new_object_is_made_once_and_may_be_sent_twice(kept: UPath) -> None:
    """As by a client that has not heard that the first request did its work."""
    for _ in range(2):
        write_whole(kept / FILE, b"queries", new=True)
    with pytest.raises(FileExistsError):
        write_whole(kept / FILE, b"others", new=True)
    assert (kept / FILE).read_bytes() == b"queries"


def test_what_nobody_can_ask_for_goes(kept: UPath, here: Path, tmp_path: Path) -> None:
    assert bucket.forget(kept, tmp_path / "other", time.time() + LATER) == 0, "there is nothing"
    send(kept, here)
    assert bucket.forget(kept, tmp_path / "other", time.time() - LATER) == 0, "it was sent just now"
    assert bucket.forget(kept, here, time.time() + LATER) == 0, "it is in use here"
    assert bucket.forget(kept, tmp_path / "other", time.time() + LATER) == 2
    assert names(kept) == []


@pytest.mark.parametrize("left", [0, 1])
def test_half_a_set_goes_that_a_killed_process_left(
    kept: UPath, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: int
) -> None:
    send(kept, here)
    calls, remove = [left], bucket.remove_files

    def killed(paths: list[UPath]) -> None:
        if not calls[0]:
            raise KeyboardInterrupt
        calls[0] -= 1
        remove(paths)

    with monkeypatch.context() as patch:
        patch.setattr(bucket, "remove_files", killed)
        with pytest.raises(KeyboardInterrupt):
            bucket.forget(kept, tmp_path / "other", time.time() + LATER)
    assert bucket.fetch(SET, kept, tmp_path / "there") == (not left)
    assert bucket.forget(kept, tmp_path / "other", time.time() + LATER) == 2
    assert names(kept) == []
