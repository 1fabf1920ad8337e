"""`cep doctor` without Spark: what is there, what is missing, and how to get it."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cep_command import Outcome, cep

from alerts.receive import AlertReceiver
from cep.doctor import disk, machine
from cep.doctor.finding import Finding
from cep.job.state_folder import lock
from cep.job.state_folder.folder import StateFolder
from cep.new_job.writing import SECRET, write_job

pytestmark = pytest.mark.slow  # most tests start a command that loads the job's parts


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Path]:
    """A new job's folder, with a receiver that listens and a port that is free."""
    folder = tmp_path / "fraud"
    write_job(folder)
    with AlertReceiver([(folder / SECRET).read_text("utf-8").strip()]) as receiver:
        change(folder, "http://127.0.0.1:8091/", receiver.url)
        change(folder, "127.0.0.1:8090", "127.0.0.1:0")
        yield folder


def change(folder: Path, before: str, after: str) -> None:
    file = folder / "job.toml"
    text = file.read_text("utf-8")
    assert before in text
    file.write_text(text.replace(before, after), "utf-8")


def looked(folder: Path, **environ: str) -> tuple[Outcome, dict[str, dict[str, Any]]]:
    """What the command came to, and its checks by name; the last of a name."""
    told = cep("doctor", "--quick", "--job", "job.toml", "--format", "json", cwd=folder, env=environ)
    return told, {one["check"]: one for one in json.loads(told.out)["checks"]}


def test_a_machine_that_has_everything(job: Path) -> None:
    before = sorted(job.rglob("*"))
    told, checks = looked(job)
    assert [one for one in checks.values() if one["level"] == "error"] == []
    assert told.code == 0
    for name in (
        "Python",
        "packages",
        "kernels",
        "memory",
        "clock",
        "Java",
        "state folder",
        "outbox",
        "port",
    ):
        assert name in checks
    assert checks["receiver desk"]["level"] == "ok"
    assert sorted(job.rglob("*")) == before, "it leaves nothing behind"


def test_without_a_job_the_machine_is_looked_at(tmp_path: Path) -> None:
    told = cep("doctor", "--quick", cwd=tmp_path)
    assert told.code == 0
    assert "Java:" in told.out
    assert "receiver" not in told.out
    assert list(tmp_path.iterdir()) == []


def test_a_java_that_is_missing_is_told_with_how_to_get_it(job: Path, tmp_path: Path) -> None:
    told, checks = looked(job, JAVA_HOME=str(tmp_path / "no"))
    assert told.code == 3
    assert checks["Java"]["level"] == "error"
    assert "openjdk-17" in checks["Java"]["help"]


def test_a_mistake_in_the_job_file_is_told_with_its_line(job: Path) -> None:
    change(job, 'kind = "webhook"', 'kind = "webhok"')
    told, checks = looked(job)
    assert told.code == 2
    assert checks["job file"]["code"].startswith("CEP07")
    assert "job.toml:11:" in checks["job file"]["message"]


def test_a_secret_that_is_missing_is_an_error(job: Path) -> None:
    (job / SECRET).unlink()
    told, checks = looked(job)
    assert told.code == 2
    assert SECRET in checks["job file"]["message"]


def test_a_port_that_is_taken_is_an_error_unless_the_job_itself_has_it(job: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        change(job, "127.0.0.1:0", f"127.0.0.1:{taken.getsockname()[1]}")
        told, checks = looked(job)
        assert told.code == 3
        assert (checks["port"]["level"], checks["port"]["code"]) == ("error", "CEP0958")

        folder = StateFolder(job / "state")
        folder.make()
        with lock.held(folder):
            told, checks = looked(job)
        assert told.code == 0
        assert "runs this job" in checks["port"]["message"]


def test_a_receiver_that_takes_no_connection_is_a_warning(job: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    text = (job / "job.toml").read_text("utf-8")
    url = next(line for line in text.splitlines() if line.startswith("url"))
    change(job, url, f'url = "http://127.0.0.1:{port}/"')
    told, checks = looked(job)
    assert told.code == 0
    assert checks["receiver desk"]["level"] == "warning"
    assert f"127.0.0.1:{port} takes no connection" in checks["receiver desk"]["message"]


def test_an_outbox_that_is_none_is_an_error(job: Path) -> None:
    (job / "state").mkdir()
    (job / "state" / "outbox.db").write_bytes(b"no database at all" * 100)
    told, checks = looked(job)
    assert told.code == 3
    assert checks["outbox"]["level"] == "error"
    assert checks["outbox"]["help"]


def test_a_package_of_another_version_or_none_is_named_with_its_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = {"numpy": "1.0", "pyspark": "4.2.0"}

    def version(name: str) -> str:
        if name not in there:
            raise machine.metadata.PackageNotFoundError(name)
        return there[name]

    asked = ["numpy==2.4.6", "pyspark==4.2.0", "h11==0.16.0", 'ruff==1; extra == "dev"', "urllib3>=2"]
    monkeypatch.setattr(machine.metadata, "requires", lambda _: asked)
    monkeypatch.setattr(machine.metadata, "version", version)
    found = list(machine.check_packages())
    assert [(one.level, one.said.split()[0], one.help.split()[-1]) for one in found] == [
        ("warning", "numpy", "numpy==2.4.6"),
        ("error", "h11", "h11==0.16.0"),
    ]


@pytest.mark.parametrize(
    ("free", "seconds", "level"),
    [
        (10 << 30, 0.001, "ok"),
        (1 << 30, 0.001, "warning"),
        (10 << 20, 0.001, "error"),
        (10 << 30, 0.2, "warning"),
    ],
)
def test_a_disk_is_judged_by_its_room_and_its_pace(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int, seconds: float, level: str
) -> None:
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    monkeypatch.setattr(disk, "fsync_time", lambda _: seconds)
    (found,) = disk.check_disk(tmp_path / "not" / "there", "disk")
    assert found.level == level
    assert str(tmp_path) in found.said
    assert bool(found.help) == (level != "ok")


def test_memory_is_what_is_free_or_what_a_container_may_have(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told, limit = tmp_path / "meminfo", tmp_path / "memory.max"
    told.write_text("MemTotal:       2000 kB\nMemAvailable:   1000 kB\n")
    monkeypatch.setattr(machine, "_MEMORY", told)
    monkeypatch.setattr(machine, "_LIMITS", (limit,))
    assert machine.available_memory() == 1_024_000
    limit.write_text("500000\n")
    assert machine.available_memory() == 500_000
    limit.write_text("max\n")
    assert machine.available_memory() == 1_024_000
    (found,) = machine.check_memory()
    assert isinstance(found, Finding)
    assert found.level == "warning"
    told.unlink()
    assert list(machine.check_memory()) == []
