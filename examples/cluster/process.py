"""One process of a cluster, master or worker: a JVM, which can be killed, held and started again."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from cep.errors import OutsideError
from cep.job.spark.java import require_java

LEAVING = 20.0
"""Seconds for a process to end when it is told to."""
_JVM = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of prctl(2)."""
_SCALA = "2.13"


class ClusterError(Exception):
    """A process that cannot be started, or ended on its own; says why."""


def _with_parent() -> Callable[[], object] | None:
    """A function for a process that becomes a JVM: it asks to be killed when the thread that made it ends."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def spark_home() -> Path:
    """The folder of the package pyspark, which is a whole Spark. Raises ClusterError."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise ClusterError("there is no pyspark in this Python; pip install pyspark")
    return Path(found.origin).parent


@dataclass(slots=True)
class Daemon:
    """A program of Spark with its arguments, whose working folder is its own."""

    main: str
    arguments: Sequence[object]
    folder: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def log(self) -> Path:
        """The file with what it prints."""
        return self.folder / "log"

    def start(self) -> None:
        """Starts it. It ends with the thread that calls this, however that ends. Raises ClusterError."""
        try:
            program = require_java(os.environ)
        except OutsideError as error:
            raise ClusterError(f"{error.message}; {error.help}") from error
        self.folder.mkdir(parents=True, exist_ok=True)
        home = spark_home()
        properties = [f"-D{name}={value}" for name, value in self.settings.items()]
        line = [str(program), *_JVM, *properties, "-cp", f"{home}/jars/*", self.main]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*line, *map(str, self.arguments)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={**os.environ, "SPARK_HOME": str(home), "SPARK_SCALA_VERSION": _SCALA, **self.environ},
                start_new_session=True,
                preexec_fn=_with_parent(),
            )

    @property
    def runs(self) -> bool:
        """True while it does."""
        return self.process is not None and self.process.poll() is None

    def check(self) -> None:
        """Raises ClusterError if it has ended, with the end of what it printed."""
        if not self.runs:
            said = self.log.read_text("utf-8", "replace")[-3000:]
            raise ClusterError(f"{self.main} has ended:\n{said}")

    def kill(self) -> None:
        """Ends it as a power cut would end its process: kill -9."""
        self._send(signal.SIGKILL)
        if self.process is not None:
            self.process.wait()

    def hold(self) -> None:
        """Stops it without ending it; `release` lets it go on."""
        self._send(signal.SIGSTOP)

    def release(self) -> None:
        self._send(signal.SIGCONT)

    def stop(self) -> None:
        """Ends it in order, or by force where that takes too long."""
        if self.process is None:
            return
        self._send(signal.SIGCONT)
        self._send(signal.SIGTERM)
        try:
            self.process.wait(LEAVING)
        except subprocess.TimeoutExpired:
            self.kill()

    def _send(self, number: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(number)
