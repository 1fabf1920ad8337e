"""A file is what it was, or it is said what it is now; a deploy's files are known by their checksums."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from rules_of_tests import pack, payments

from cep.decode.blocks import decoder
from cep.decode.formats import BY_NAME
from cep.errors import ConfigurationError, OutsideError
from cep.files import sealed
from cep.job.shipping import packs
from cep.job.shipping.blobs import Sender
from cep.job.shipping.folders import Shared
from cep.job.shipping.task import Task
from cep.job.state_folder import deploy_requests, extents
from cep.job.state_folder.folder import StateFolder
from cep.job.state_folder.manifest import Manifest
from cep.job.workers.mapper import Lanes, Watching, _Mapping
from cep.job.workers.worker import Worker
from cep.packs.compile import compile_plan
from cep.sources.files import extents as of_files
from cep.sources.files.extents import WHOLE, FileExtent, difference, extent
from cep.sources.files.files import Files
from cep.sources.files.splits import splits
from cep.sources.source import Feed
from rules.packs import load_texts

Change = Callable[[Path], object]
FEEDS = {"payment": Feed("payment", Files("unread.jsonl"), BY_NAME)}
SOURCES = {"s": Files("unread.jsonl")}
OTHER = "does not hold what it held"


def written(path: Path, data: bytes, place: int, *, time: bool = True) -> None:
    """Overwrites a part; `time`: the file's time tells of it."""
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(place)
        file.write(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + time))


def added(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more")


@pytest.mark.parametrize(
    ("change", "at_once", "thorough"),
    [
        (Path.stat, None, None),
        (lambda path: os.utime(path, (1, 1)), None, None),
        (added, None, None),
        (lambda path: path.unlink(), "is missing", "is missing"),
        (lambda path: (path.unlink(), path.mkdir()), "is a folder now", "is a folder now"),
        (lambda path: os.truncate(path, 3), "has 3 bytes; it had 10", "has 3 bytes; it had 10"),
        (lambda path: written(path, b"x", 5), OTHER, OTHER),
        (lambda path: written(path, b"x", 5, time=False), None, OTHER),
        (lambda path: path.write_bytes(b"0123x56789 more"), OTHER, OTHER),
    ],
)  # fmt: skip
def test_a_file_is_compared_with_what_it_was(
    tmp_path: Path, change: Change, at_once: str | None, thorough: str | None
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"0123456789")
    was = extent("s", str(path))
    change(path)
    assert difference(was) == at_once
    assert difference(was, thorough=True) == thorough


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (added, None),
        (lambda path: written(path, b"x", 5), OTHER),
        (lambda path: written(path, b"5", 5), None),
    ],
)
def test_a_file_that_an_earlier_program_looked_at_is_compared_by_its_hash(
    tmp_path: Path, change: Change, said: str | None
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"0123456789")
    was = replace(extent("s", str(path)), digest=sha256(path.read_bytes()).hexdigest())
    change(path)
    assert difference(was, thorough=True) == said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (added, None),
        (lambda path: os.utime(path, (1, 1)), "was written again, with the same length"),
        (lambda path: written(path, b"x", 5), OTHER),
        (lambda path: written(path, b"x", WHOLE + 5), OTHER),
        (lambda path: written(path, b"x", WHOLE // 2 + 5), "was written again, with the same length"),
        (lambda path: written(path, b"x", WHOLE // 2 + 5, time=False), None),
    ],
)
@pytest.mark.slow
def test_a_long_file_is_known_by_its_ends_and_its_time(
    tmp_path: Path, change: Change, said: str | None
) -> None:
    path = tmp_path / "a.jsonl"
    path.touch()
    os.truncate(path, WHOLE + 4096)
    was = extent("s", str(path))
    change(path)
    assert difference(was, thorough=True) == said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"0")
    was = extent("s", str(path))
    path.chmod(0)
    assert difference(was, thorough=True) == "may not be read: permission denied"


def mapping_of(folder: Path, came: Watching) -> _Mapping:
    """A mapper's work in batch 7 of a job that has one pack."""
    running, shared = load_texts([("p.rules", pack())]).need(), Shared(folder, folder, folder, folder)
    packs.store(folder, running)
    task = Task(Manifest(7, {running.name: running.revision}, 1, 0), False, "x", 0)
    return _Mapping(Lanes(shared, 1, (0,), FEEDS), Worker(shared), task, Sender(folder, "x"), came)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda path: os.truncate(path, 10), "has 10 bytes"),
        (lambda path: path.unlink(), "is missing"),
        (lambda path: written(path, b"x", 5), OTHER),
    ],
)
def test_a_file_that_changes_while_it_is_read_stops_the_batch(
    tmp_path: Path, change: Change, said: str
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in payments(1, 50)))
    plan = compile_plan([load_texts([("p.rules", pack())]).need()])
    was = extent("payment", str(path))
    mapping = mapping_of(tmp_path, Watching(FEEDS))
    (split,) = splits(str(path), was.length)
    blocks = mapping._blocks(was, split, decoder(plan.streams["payment"]))
    assert len(next(blocks).events.table) == 50
    change(path)
    with pytest.raises(ConfigurationError, match=rf"the file {path} of batch 7 {said}"):
        list(blocks)


def test_a_file_that_grew_is_digested_once_and_not_for_every_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digested: list[int] = []
    real = of_files._digest
    monkeypatch.setattr(
        of_files, "_digest", lambda file, length, *of: digested.append(length) or real(file, length, *of)
    )
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in payments(1, 50)))
    plan = compile_plan([load_texts([("p.rules", pack())]).need()])
    was = extent("payment", str(path))
    added(path)
    came = Watching(FEEDS)
    mapping = mapping_of(tmp_path, came)
    digested.clear()
    using = decoder(plan.streams["payment"])
    cut = splits(str(path), was.length, block=was.length // 7)
    found = [block for split in cut for block in mapping._blocks(was, split, using)]
    assert len(cut) > 5
    assert sum(len(block.events.table) for block in found) == 50
    assert digested == [was.length]
    written(path, b"x", 5)
    with pytest.raises(ConfigurationError, match=OTHER):
        list(mapping._blocks(was, cut[-1], using))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"batch":3,"files":[]}', '{"batch":3,"files":[],"checksum":"x"}']
)
def test_a_damaged_list_of_files_is_told_with_its_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "3.files").write_text(text)
    with pytest.raises(ConfigurationError, match=r"the list of files .*3\.files (is|has) "):
        extents.load(tmp_path, SOURCES, 3, "ab")


def test_a_list_of_files_of_another_batch_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    one = extents.store(tmp_path, 3, [extent("s", str(tmp_path / "a"))])
    assert [e.path for e in extents.load(tmp_path, SOURCES, 3, one)] == [str(tmp_path / "a")]
    (tmp_path / "3.files").write_text(json.dumps(sealed({"batch": 3, "files": []})))
    with pytest.raises(ConfigurationError, match="is of another batch than its manifest"):
        extents.load(tmp_path, SOURCES, 3, one)


def test_the_list_of_a_batch_is_written_as_it_always_was(tmp_path: Path) -> None:
    sources = {"login": Files("/in/*.csv"), "payment": Files("/in/*.jsonl")}
    files = [
        FileExtent("login", "/in/ü b.csv", 7, 1767600000123456789, "ab12"),
        FileExtent("payment", "/in/a.jsonl", 0, 5),
    ]
    digest = "9e272dc5f0c719747d733e3e70bee20b955b7d12c5885aab0415f2fbd9ee6af2"
    assert extents.store(tmp_path, 3, files) == digest
    assert (tmp_path / "3.files").read_text("utf-8") == (
        f'{{"batch":3,"checksum":"{digest}","files":[["login","/in/ü b.csv",7,1767600000123456789,"ab12"],'
        '["payment","/in/a.jsonl",0,5,""]]}'
    )
    assert list(extents.load(tmp_path, sources, 3, digest)) == files


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    made = StateFolder(tmp_path / "state")
    made.make()
    return made


def test_a_damaged_request_is_refused_and_the_others_are_taken(folder: StateFolder) -> None:
    for number in "12":
        deploy_requests.submit(
            folder, deploy_requests.Request(number, "desk", "r", (("p.rules", "pack desk"),))
        )
    path = folder.requests / "1.json"
    path.write_text(path.read_text().replace("pack desk", "pack disk"))
    assert [one.id for one in deploy_requests.waiting(folder)] == ["2"]
    answer = deploy_requests.answered(folder, "1")
    assert answer is not None
    assert not answer.taken
    assert answer.refused == f"the request {path} is not what was written: its checksum differs"
    assert answer.help == "deploy the pack again"
    assert not path.exists()


def test_a_damaged_answer_is_told(folder: StateFolder) -> None:
    deploy_requests.answer(folder, deploy_requests.Answer("1", "desk", "r", batch=12))
    path = folder.answers / "1.json"
    path.write_text(path.read_text().replace("12", "13"))
    with pytest.raises(OutsideError, match=rf"the answer {path} of the job is not what was written"):
        deploy_requests.answered(folder, "1")


def test_a_checksum_is_of_what_is_said_and_not_of_how() -> None:
    value = {"b": 1, "a": [1, "ü"]}
    assert sealed(value) == sealed(dict(reversed(value.items())))
    assert sealed(value)["checksum"] == "296089cff25d9c2864185255140be99bfbe354f5c78595b3824eb34a94882da1"
