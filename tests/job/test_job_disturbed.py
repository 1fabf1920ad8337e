"""Disturbing a job from outside, while it runs or is down, adds, loses and changes no alert."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from job_folder import PATIENCE, JobFolder, RunningJob, command, in_process
from rules_of_tests import in_files, pack, payments

from cep.errors import JobError
from cep.job.state_folder import manifest

pytestmark = pytest.mark.spark

EVENTS = list(payments(5, 3_000))


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    return JobFolder(tmp_path / "job", pack(), ("payment",))


def _expected(folder: JobFolder) -> list[Any]:
    """The ids of what the engine raises over all files of the inbox, before time ends."""
    files = [("payment", path) for path in sorted((folder.root / "inbox" / "payment").iterdir())]
    return sorted(alert["id"] for alert in in_process(folder, [[one] for one in files], drain=False))


def _raised(folder: JobFolder) -> list[Any]:
    return sorted(alert["id"] for alert in folder.alerts())


@contextmanager
def _locked(outbox: Path) -> Iterator[None]:
    """The outbox while somebody else has a write under way."""
    other = sqlite3.connect(outbox, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        yield
    finally:
        other.close()


def test_an_outbox_that_stays_locked_stops_the_job_which_then_goes_on(
    folder: JobFolder, spark: Callable[..., Any]
) -> None:
    first, second = in_files(EVENTS, 2)
    folder.put("payment", first)
    with folder.running() as job:
        job.wait_for_batch(0)
        with _locked(folder.outbox):
            folder.put("payment", second)
            assert job.process.wait(PATIENCE) == 3
            assert f"the outbox {folder.outbox} is locked by another process" in folder.told
            again = command("run", folder.description, "--once")
            assert again.returncode == 3
            assert f"the outbox {folder.outbox} is locked by another process" in again.stderr
    folder.once(spark)
    assert _raised(folder) == _expected(folder)
    assert "Traceback" not in folder.told + again.stderr


def test_a_deploy_may_be_the_first_act_after_a_crash_and_be_taken_back(folder: JobFolder) -> None:
    newer, older = folder.root / "newer.rules", folder.root / "packs" / "pack.rules"
    newer.write_text(pack(big="amount > 80"), "utf-8")
    first, second, third = in_files(EVENTS, 3)
    folder.put("payment", first)

    def deploy(path: Path) -> tuple[int, str]:
        ended = command("deploy", path, "--job", folder.description)
        return ended.returncode, ended.stdout + ended.stderr

    with folder.running() as job:
        job.wait_for_batch(0)
        folder.put("payment", second)
        _kill_within_the_batch_of_a_file(job)
    begun = _last_with_files(folder)
    before = manifest.read(folder.state.manifests, begun)
    assert before is not None
    for path in (newer, older.parent):
        code, told = deploy(path)
        assert (code, "no job runs on the state folder" in told) == (3, True), told
    assert list(folder.state.requests.iterdir()) == []
    with folder.running() as job:
        job.wait_for(lambda: "going on after batch" in folder.told, "its start")
        code, told = deploy(newer)
        assert (code, "Traceback" in told) == (0, False), told
        code, told = deploy(older.parent)
        assert (code, "Traceback" in told) == (0, False), told
        folder.put("payment", third)
        job.wait_until_read()
        assert job.stop() == 143
    after = manifest.read(folder.state.manifests, begun)
    assert after is not None
    assert after.revisions == before.revisions, "the open batch is the one that it was"
    deployed = [
        one for n in range(begun, len(folder.commits())) if (one := manifest.read(folder.state.manifests, n))
    ]
    assert next(d.previous for one in deployed for d in one.deployed) == before.revisions["desk"]
    assert deployed[-1].revisions == before.revisions, "equal texts are the same revision"
    assert _raised(folder) == _expected(folder)


def _last_with_files(folder: JobFolder) -> int:
    return max(int(path.stem) for path in folder.state.manifests.glob("*.files"))


def _kill_within_the_batch_of_a_file(job: RunningJob) -> None:
    """SIGKILL as soon as the next batch with a file has its manifest."""
    folder, last = job.folder, _last_with_files(job.folder)
    job.wait_for(
        lambda: (n := _last_with_files(folder)) > last and (folder.state.manifests / f"{n}.json").exists(),
        "the manifest of a batch with a file",
    )
    job.kill()


def test_a_copy_of_a_state_folder_in_use_is_refused_or_comes_to_the_same(
    folder: JobFolder, spark: Callable[..., Any]
) -> None:
    """As a backup that did not wait; the copy is put back in place of the folder."""
    parts = in_files(EVENTS, 6)
    copies: list[Path] = []
    with folder.running() as job:
        job.wait_for_batch(0)
        for part in parts:
            folder.put("payment", part)
            copy = folder.root / f"copy{len(copies)}"
            _copied(folder.state.root, copy)
            copies.append(copy)
        job.wait_until_read()
        assert job.stop() == 143
    whole, expected = _raised(folder), _expected(folder)
    assert whole == expected
    whole_ones = 0
    for copy in copies:
        shutil.rmtree(folder.state.root)
        copy.rename(folder.state.root)
        with suppress(JobError):
            folder.once(spark)
            assert _raised(folder) == expected
            whole_ones += 1
    assert whole_ones, "one of them at least can be gone on with"


def _copied(source: Path, target: Path) -> None:
    """A copy, file by file, of a folder in which files come and go meanwhile."""
    for path in sorted(source.rglob("*")):
        if "scratch" in path.relative_to(source).parts:
            continue
        place = target / path.relative_to(source)
        try:
            if path.is_dir():
                place.mkdir(parents=True, exist_ok=True)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, place)
        except FileNotFoundError:
            continue
