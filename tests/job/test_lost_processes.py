"""A job whose processes are killed, do not come up, or are to stop: sentences, and no alert lost."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from job_folder import PATIENCE, JobFolder, RunningJob, in_process
from rules_of_tests import in_files, pack, payments

pytestmark = pytest.mark.spark
SOAK = pytest.mark.soak

SENTENCES = re.compile(
    r"first start on |going on after batch |starting Spark; |batch \d+ \(|stopping|stopped|  = help: |"
    r"error\[CEP0959\]: (Spark's Java process ended or no longer answers|Java did not start Spark)$|$"
)


def _java(folder: JobFolder) -> list[psutil.Process]:
    """The job's Java, not what it has just begun to start."""
    command = _command(folder)
    found = []
    for process in folder.processes_of("java"):
        with suppress(psutil.NoSuchProcess):
            if process.ppid() == command:
                found.append(process)
    return found


def _command(folder: JobFolder) -> int:
    return next(one.pid for one in folder.processes() if "cep.cli.main" in _line(one))


def _line(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


def _starting(job: RunningJob) -> None:
    job.wait_for(lambda: _java(job.folder), "Java")


def _first_batch(job: RunningJob) -> None:
    job.wait_for((job.folder.state.manifests / "0.json").exists, "the first batch")


def _idle(job: RunningJob) -> None:
    job.wait_for_batch(1)


def _within_a_batch(job: RunningJob) -> None:
    job.wait_for_batch(0)
    begun = len(list(job.folder.state.manifests.glob("*.json")))
    job.folder.put("payment", payments(5, 20_000))
    job.wait_for((job.folder.state.manifests / f"{begun}.json").exists, "the batch after")


def _stopping(job: RunningJob) -> None:
    job.wait_for_batch(0)
    job.process.send_signal(signal.SIGTERM)
    job.wait_for(lambda: "stopping" in job.folder.told, "the request")


@pytest.mark.parametrize(
    ("moment", "code"),
    [
        (_starting, 3),
        pytest.param(_first_batch, 3, marks=SOAK),
        pytest.param(_idle, 3, marks=SOAK),
        (_within_a_batch, 3),
        (_stopping, 143),
    ],
)
def test_a_java_that_is_killed_is_told_in_a_sentence(
    tmp_path: Path, moment: Callable[[RunningJob], None], code: int
) -> None:
    folder = JobFolder(tmp_path / "job", pack(), ("payment",))
    folder.put("payment", payments(3, 2_000))
    with folder.running() as job:
        moment(job)
        for java in _java(folder):
            java.kill()
        assert job.process.wait(PATIENCE) == code
    told = folder.told.splitlines()
    assert [line for line in told if not SENTENCES.match(line)] == []
    assert sum(line.startswith("error") for line in told) == (code == 3)


def _workers(folder: JobFolder) -> list[psutil.Process]:
    """The job's Python workers, not the process that forks them."""
    alike = [process for process in folder.processes() if "-m cep.job.workers.daemon" in _line(process)]
    found = []
    for process in alike:
        with suppress(psutil.Error):  # ended since it was listed
            if process.ppid() in {one.pid for one in alike}:
                found.append(process)
    return found


STOPS_ONCE = """
import os, signal, sys
if any("transform_with_state_driver_worker" in word for word in sys.orig_argv):
    try:
        os.close(os.open(os.environ["CEP_STOPPED"], os.O_CREAT | os.O_EXCL))
        os.kill(os.getpid(), signal.SIGSTOP)
    except FileExistsError:
        pass
"""
"""Run by every Python of the job when it begins."""


@SOAK
def test_a_python_worker_that_does_not_come_up_in_time_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark gives each ten seconds, which a machine under load may not have."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(STOPS_ONCE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    monkeypatch.setenv("CEP_STOPPED", str(tmp_path / "stopped"))
    folder = JobFolder(tmp_path / "job", pack(), ("payment",))
    file = folder.put("payment", payments(3, 2_000))
    with folder.running("--once", "--drain") as job:
        assert job.process.wait(PATIENCE) == 0, folder.told
    assert (tmp_path / "stopped").exists()
    assert (
        "a Python worker did not come up (Python worker failed to connect back); the batch is run again"
        in folder.told
    )
    assert "Traceback" not in folder.told
    assert folder.ids() == {one["id"] for one in in_process(folder, [[("payment", file)]])}


@SOAK
def test_a_console_prints_no_more_once_the_job_is_to_stop(tmp_path: Path) -> None:
    console = '[receivers.screen]\nkind = "console"\n'
    folder = JobFolder(tmp_path / "job", pack(), ("payment",), more=console)
    folder.put("payment", payments(3, 30_000))
    asked = "again to stop now\n"
    with folder.running() as job:
        job.wait_for(lambda: " whale " in folder.told, "an alert on the console")
        assert job.stop(signal.SIGINT) == 130, folder.told
    before, _, after = folder.told.partition(asked)
    assert after.count(" whale ") + after.count(" probing ") <= 1, "the one that was being printed"
    printed = before.count(" whale ") + before.count(" probing ")
    assert printed < len(folder.ids())
    with folder.running("--once") as job:
        assert job.process.wait(PATIENCE) == 0, folder.told
    lines = [line for line in folder.told.splitlines() if re.search(r" (whale|probing) ", line)]
    assert len(lines) == len(folder.ids()), "each once, over both runs"


@pytest.mark.soak
def test_a_worker_that_is_killed_within_a_batch_is_replaced(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path / "job", pack(), ("payment",))
    files = [folder.put("payment", part) for part in in_files(list(payments(3, 40_000)), 2)]
    files[1].rename(aside := folder.root / "aside" / "later.jsonl")
    with folder.running() as job:
        job.wait_for_batch(0)
        begun = len(list(folder.state.manifests.glob("*.json")))
        aside.rename(files[1])
        job.wait_for((folder.state.manifests / f"{begun}.json").exists, "the batch after")
        killed = _workers(folder)
        assert killed
        for worker in killed:
            with suppress(psutil.NoSuchProcess):
                worker.kill()
        job.wait_until_read()
        assert job.stop() == 143, folder.told
    assert folder.ids() >= {
        one["id"]
        for one in in_process(folder, [[("payment", files[0])], [("payment", files[1])]], drain=False)
    }
