"""A master and its workers: started, ready, ended."""

from __future__ import annotations

import json
import random
import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.process import ClusterError, Daemon

READY = 90.0
"""Seconds for all workers to be known to the master."""
_POLL = 0.1
_WORKER = "org.apache.spark.deploy.worker.Worker"
_MASTER = "org.apache.spark.deploy.master.Master"


@dataclass(slots=True)
class Cluster:
    """Machines that run. `page` is the address of the master's page."""

    folder: Path
    port: int
    page: str
    head: Daemon
    workers: list[Daemon]

    @property
    def master(self) -> str:
        """What [spark] master says."""
        return f"spark://127.0.0.1:{self.port}"

    def add(self, cores: int = 1, memory: str = "2g") -> Daemon:
        """One more worker, which the master may not know yet. Raises ClusterError."""
        number = len(self.workers)
        folder = self.folder / f"worker-{number}"
        places = ("--host", f"127.0.0.{number + 2}", "--webui-port", 0, "--work-dir", folder / "work")
        one = Daemon(
            _WORKER,
            (*places, "--cores", cores, "--memory", memory, self.master),
            folder,
            {"SPARK_LOCAL_DIRS": str(folder / "scratch"), "SPARK_LOCAL_IP": f"127.0.0.{number + 2}"},
        )
        one.start()
        self.workers.append(one)
        return one

    def ready(self) -> None:
        """Waits until the master knows all workers that run. Raises ClusterError."""
        until = time.monotonic() + READY
        while self._known() < sum(one.runs for one in self.workers):
            self.head.check()
            if time.monotonic() > until:
                raise ClusterError(f"the workers did not come in {READY:.0f} s: see {self.head.log}")
            time.sleep(_POLL)

    def _known(self) -> int:
        try:
            return int(self.told()["aliveworkers"])
        except (OSError, ValueError):
            return -1

    def told(self) -> dict[str, Any]:
        """The master's words on workers and applications. Raises OSError while it does not answer."""
        with urllib.request.urlopen(f"{self.page}json/", timeout=5) as answer:
            return dict(json.load(answer))

    def kill(self) -> None:
        """Ends all of it by force."""
        for one in (*self.workers, self.head):
            one.kill()


@contextmanager
def cluster(folder: Path, workers: int = 2, cores: int = 1, memory: str = "2g") -> Iterator[Cluster]:
    """A master and so many workers of so many cores in a folder, ready; they have ended when the block has.

    A master that is started again knows its workers and applications. Raises ClusterError where there is no
    Java, or one of them does not start.
    """
    port, page = _free_ports(2)
    known = {"spark.deploy.recoveryMode": "FILESYSTEM", "spark.deploy.recoveryDirectory": f"{folder}/known"}
    (folder / "known").mkdir(parents=True, exist_ok=True)
    head = Daemon(
        _MASTER,
        ("--host", "127.0.0.1", "--port", port, "--webui-port", page),
        folder / "master",
        {"SPARK_LOCAL_IP": "127.0.0.1"},
        {**known, "spark.master.rest.enabled": "false", "spark.worker.timeout": "20"},
    )
    made = Cluster(folder, port, f"http://127.0.0.1:{page}/", head, [])
    try:
        head.start()
        for _ in range(workers):
            made.add(cores, memory)
        made.ready()
        yield made
    finally:
        made.kill()


def _free_ports(count: int) -> list[int]:
    """Ports that nothing listens on, below those that systems hand out."""
    found: list[int] = []
    for port in random.SystemRandom().sample(range(20_000, 32_000), 1000):
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            return found
    raise ClusterError("every port is taken")
