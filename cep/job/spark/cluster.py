"""A session on a standalone cluster: its settings, its executors coming, each of them looked at."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cep.config import Machines
from cep.config.machines import masters
from cep.errors import ConfigurationError, OutsideError
from cep.without_pandas import pandas_by_name
from rules.nouns import counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOT_RUN, NO_PYTHON = "CEP0890", "CEP0892"
_PATIENCE = 30.0
"""Seconds to wait for all cores once there are some, and between two messages."""
_POLL = 0.2
_EXECUTOR = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Duser.timezone=UTC")
"""Options of an executor's JVM, which does as little as that of a job on one machine."""
_DEFAULTS = {"spark.executor.memory": "1g", "spark.task.maxFailures": "4"}


def clustered(machines: Machines, cores: int, jars: Sequence[Path]) -> dict[str, str]:
    """The settings of a session on a cluster, which fetches `jars` from this machine.

    Raises OutsideError where no way leads to its master.
    """
    assert machines.master is not None
    host = machines.host or way_to(machines.master)
    more = machines.conf.get("spark.executor.extraJavaOptions", "")
    return {
        "spark.master": machines.master,
        "spark.cores.max": str(cores),
        "spark.driver.host": host,
        "spark.driver.bindAddress": machines.conf.get("spark.driver.bindAddress", host),
        "spark.jars": ",".join(path.absolute().as_uri() for path in jars),
        "spark.executor.extraJavaOptions": " ".join((*_EXECUTOR, *more.split())),
        **{name: machines.conf.get(name, value) for name, value in _DEFAULTS.items()},
    }


def way_to(master: str) -> str:
    """This machine's address on the way to the first master that has one. Raises OutsideError."""
    said = ""
    for host, port in masters(master):
        try:
            family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
            with socket.socket(family, kind) as probe:
                probe.connect(address)  # sends nothing
                return str(probe.getsockname()[0])
        except OSError as error:
            said = f"no way leads to the master {host}: {(error.strerror or str(error)).lower()}"
    raise OutsideError(said, "correct [spark] master, or write [spark] host", NOT_RUN)


def join(
    session: SparkSession, cores: int, tell: Callable[[str], None], wait: Callable[[float], bool]
) -> bool:
    """Returns True when the cluster has given the job its cores, or some and no more for half a minute.

    `wait` waits for so many seconds, and returns True when the job is to stop: then this returns False.
    """
    told, asked = (begun := time.monotonic()), counted(cores, "core")
    while (there := cores_of(session)) < cores:
        now = time.monotonic()
        if there and now - begun >= _PATIENCE:
            tell(f"the cluster gives {there} of {asked}: the job begins with these, more may come")
            return True
        if now - told >= _PATIENCE:
            told = now
            tell(f"waiting for the cluster, which gives the job none of {asked} yet: see its page")
        if wait(_POLL):
            return False
    return True


def cores_of(session: SparkSession) -> int:
    """The number of tasks that the executors which are there run at once."""
    context = session.sparkContext._jsc.sc()
    return int(context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile()))


def look_at(session: SparkSession, cores: int, ready: Callable[..., object]) -> None:
    """Has `ready` run once for every core: Spark fills all at once, and so comes to each machine.

    Raises what `ready` raises, as Spark tells it, and ConfigurationError where a machine has no Python that
    could run it.
    """
    with pandas_by_name():
        frame = session.range(0, cores, 1, cores).mapInArrow(ready, "id long")  # type: ignore[arg-type]
    try:
        frame.collect()
    except Exception as error:
        raise (without_python(str(error)) or error) from error


_NO_PROGRAM = re.compile(r'Cannot run program "([^"]+)"')
_NO_MODULE = re.compile(r"ModuleNotFoundError: (No module named '[\w.]+')")
_AT = re.compile(r"\(TID \d+\) \(([^ )]+) executor")


def without_python(text: str) -> ConfigurationError | None:
    """The error of a machine on which no worker begins; None for another one."""
    place = _AT.search(text)
    where = f"the machine {place[1]}" if place else "a machine of the cluster"
    install = "install there what runs here, at the path that [spark] python says"
    if found := _NO_PROGRAM.search(text):
        return ConfigurationError(f"{where} has no program {found[1]}", install, NO_PYTHON)
    if found := _NO_MODULE.search(text):
        said = f"the Python of {where} cannot run the job: {found[1]}"
        return ConfigurationError(said, install, NO_PYTHON)
    return None


def ended_by(log: str) -> OutsideError | None:
    """The reason why a cluster ended the job, if Spark's messages tell one; None else."""
    found = re.findall(r"Application has been killed\. Reason: (.*)", log)
    if not found:
        return None
    said = f"the cluster ended the job: {found[-1].rstrip('.')}"
    help_ = "see its page and its workers' logs, then start the job again: it goes on where it stopped"
    return OutsideError(said, help_, NOT_RUN)
