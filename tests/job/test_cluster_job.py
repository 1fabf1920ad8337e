"""A job on a cluster of several machines: the same alerts as on one, whichever of its processes is killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import object_store
import psutil
import pytest
from cluster import Cluster, cluster
from job_folder import PATIENCE, JobFolder, command, in_process
from object_store import SECRET
from rules_of_tests import in_files, pack, payments
from stores import Schemas

pytestmark = pytest.mark.spark
SOAK = pytest.mark.soak
STOPPED = 128 + signal.SIGTERM


def _section(machines: Cluster, cores: int = 2, more: str = "") -> str:
    return (
        f'[spark]\nmaster = "{machines.master}"\ncores = {cores}\n{more}\n'
        '[spark.conf]\nspark.executor.memory = "600m"\n'
    )


@contextmanager
def _job(root: Path, workers: int = 2, **more: Any) -> Iterator[tuple[Cluster, JobFolder]]:
    """A cluster, and a job for it that reads packs of the checkout on every machine; `more` is its own."""
    environ = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *_path()])}
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = environ["PYTHONPATH"]
    try:
        with cluster(root / "machines", workers) as machines:
            environ |= more.pop("environ", {})
            text = _section(machines) + more.pop("more", "")
            folder = JobFolder(
                root / "job",
                pack() + more.pop("rules", ""),
                ("payment",),
                "50ms",
                more=text,
                environ=environ,
                **more,
            )
            yield machines, folder
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


QUERIES = """queries watchlist { from "watchlist.jsonl" }
stream note { id: string  text: text  at: timestamp  id id  time at  lateness 1 second }
rule noted { on note matching watchlist  emit query }
"""


@SOAK
def test_its_state_and_its_queries_may_be_in_a_bucket(tmp_path: Path, schemas: Schemas) -> None:
    parts = in_files(list(payments(9, 6_000, 200)), 12)
    notes = [{"id": f"n{n}", "text": "all is well", "at": f"2026-01-05T08:{n:02}:00Z"} for n in range(12)]
    with object_store.running() as store:
        bucket = store.bucket()
        with _job(
            tmp_path, server=schemas.url(tmp_path), bucket=bucket, rules=QUERIES,
            more=object_store.section(bucket), environ={"S3_SECRET": SECRET},
        ) as (machines, folder):  # fmt: skip
            watchlist = folder.root / "packs" / "watchlist.jsonl"
            watchlist.write_text('{"id": "q1", "query": "well"}', "utf-8")
            (folder.root / "inbox" / "note").mkdir()
            folder.streams = ("payment", "note")
            folder.describe()
            paths = []
            with folder.running() as job:
                for part, note in zip(parts, notes, strict=True):
                    paths += [("payment", folder.put("payment", part)), ("note", folder.put("note", [note]))]
                    if len(paths) == 12:
                        job.wait_for_batch(1)
                        _kill_worker(machines)
                job.wait_until_read()
                assert job.stop() == STOPPED, folder.told
            found = folder.alerts()
            expected = {one["id"]: one for one in in_process(folder, [paths], drain=False)}
    assert sum(one["rule"] == "noted" for one in found) == 11
    assert len(expected) > 100
    assert {one["id"]: {k: v for k, v in one.items() if k != "batch"} for one in found} == expected
    assert len(found) == len(expected)
    assert "Traceback" not in folder.told


@SOAK
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
