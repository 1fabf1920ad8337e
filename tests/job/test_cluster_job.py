"""A job on a cluster of several machines: the same alerts as on one, whichever of its processes is killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from cluster import Cluster, cluster
from job_folder import PATIENCE, JobFolder, command, in_process
from rules_of_tests import in_files, pack, payments

pytestmark = pytest.mark.spark
SOAK = pytest.mark.soak
STOPPED = 128 + signal.SIGTERM


def _section(machines: Cluster, cores: int = 2, more: str = "") -> str:
    return (
        f'[spark]\nmaster = "{machines.master}"\ncores = {cores}\n{more}\n'
        '[spark.conf]\nspark.executor.memory = "600m"\n'
    )


@contextmanager
def _job(root: Path, workers: int = 2) -> Iterator[tuple[Cluster, JobFolder]]:
    """A cluster, and a job for it that reads packs of the checkout on every machine."""
    environ = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *_path()])}
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = environ["PYTHONPATH"]
    try:
        with cluster(root / "machines", workers) as machines:
            more = _section(machines)
            yield machines, JobFolder(root / "job", pack(), ("payment",), "50ms", more=more, environ=environ)
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def _path() -> list[str]:
    return [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]


def _executors(machines: Cluster) -> list[psutil.Process]:
    """The executors of the cluster's workers."""
    found = []
    for worker in machines.workers:
        if worker.process is not None and worker.runs:
            with suppress(psutil.Error):
                found += psutil.Process(worker.process.pid).children()
    return found


def _kill_executor(machines: Cluster) -> None:
    _executors(machines)[0].kill()


def _kill_worker(machines: Cluster) -> None:
    """A machine goes, with all that ran on it; another one comes."""
    worker = machines.workers[0]
    gone = _executors(machines)[0]
    worker.kill()
    with suppress(psutil.Error):
        gone.kill()
    machines.add()


def _kill_python(machines: Cluster) -> None:
    for executor in _executors(machines):
        for child in executor.children(recursive=True):
            with suppress(psutil.Error):
                if "python" in child.name():
                    child.kill()


def _kill_every_machine(machines: Cluster) -> None:
    for executor in _executors(machines):
        executor.kill()
    for worker in machines.workers:
        worker.kill()
    time.sleep(2)
    machines.add()
    machines.add()


def _begin_the_master_anew(machines: Cluster) -> None:
    machines.head.kill()
    time.sleep(2)
    machines.head.start()


def _hold_an_executor(machines: Cluster) -> None:
    held = _executors(machines)[0]
    held.suspend()
    time.sleep(5)
    held.resume()


@pytest.mark.parametrize(
    "disturb",
    [
        _kill_worker,
        pytest.param(_kill_executor, marks=SOAK),
        pytest.param(_kill_python, marks=SOAK),
        pytest.param(_kill_every_machine, marks=SOAK),
        pytest.param(_begin_the_master_anew, marks=SOAK),
        pytest.param(_hold_an_executor, marks=SOAK),
    ],
)
def test_the_alerts_are_those_of_one_machine(tmp_path: Path, disturb: Callable[[Cluster], None]) -> None:
    parts = in_files(list(payments(9, 6_000, 200)), 12)
    with _job(tmp_path) as (machines, folder):
        paths = [folder.put("payment", part) for part in parts[:3]]
        with folder.running() as job:
            job.wait_for_batch(0)
            paths += [folder.put("payment", part) for part in parts[3:6]]
            disturb(machines)
            paths += [folder.put("payment", part) for part in parts[6:]]
            job.wait_until_read()
            assert job.stop() == STOPPED, folder.told
        found = folder.alerts()
    batches = [[("payment", one)] for one in paths]
    expected = {alert["id"]: alert for alert in in_process(folder, batches, drain=False)}
    assert len(expected) > 100
    assert len(found) == len(expected)
    assert {one["id"]: {k: v for k, v in one.items() if k != "batch"} for one in found} == expected
    assert "Traceback" not in folder.told


def test_what_a_cluster_lacks_is_told(tmp_path: Path) -> None:
    with _job(tmp_path, workers=0) as (machines, folder):
        folder.put("payment", payments(1, 100))
        folder.more = _section(machines, 1, 'python = "/nowhere/python"')
        folder.describe()
        with folder.running() as job:
            # no machine at all: the job waits, and says so
            job.wait_for(lambda: "gives the job none of 1 core yet" in folder.told, "the words")
            # a machine comes while it waits, and has no such interpreter
            machines.add()
            assert job.process.wait(PATIENCE) == 2, folder.told
    assert "error[CEP0892]: the machine 127.0.0.2 has no program /nowhere/python\n" in folder.told
    # a master that is gone
    ended = command("run", folder.description, environ=folder.environ)
    assert ended.returncode == 2
    assert "error[CEP0890]: no master answers at 127.0.0.1:" in ended.stderr
