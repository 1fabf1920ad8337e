"""One broker: a JVM on a folder and ports, which can be killed, held and started again on the same."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cep.errors import OutsideError
from cep.job.spark.jars.fetched import jars
from cep.job.spark.java import require_java

HERE = Path(__file__).parent
LEAVING = 20.0
"""Seconds for a broker to end when it is told to."""
HEAP = ("-Xms48m", "-Xmx256m")
_JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Djava.net.preferIPv4Stack=true")
_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of prctl(2)."""


class BrokerError(Exception):
    """A broker that cannot be started, or ended on its own; says why."""


def _with_parent() -> Callable[[], object] | None:
    """A function for a process that becomes a JVM: it asks to be killed when the thread that made it ends."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def java(main: str, *arguments: object, options: tuple[str, ...] = HEAP) -> list[str]:
    """The command line of a program of the broker's jars. Raises BrokerError where Java or the jars lack."""
    try:
        program, found = require_java(os.environ), jars(HERE)
    except OutsideError as error:
        raise BrokerError(f"{error.message}; {error.help}") from error
    quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
    classes = os.pathsep.join(map(str, found))
    return [str(program), *options, *_JVM, quiet, "-cp", classes, main, *map(str, arguments)]


def lacking() -> str:
    """Why no broker can be started on this machine; empty if one can."""
    try:
        java("kafka.Kafka")
    except BrokerError as error:
        return str(error)
    return ""


@dataclass(slots=True)
class Broker:
    """A broker of a folder, whose properties say everything else; it is `port` that clients come to."""

    folder: Path
    number: int
    port: int
    properties: Mapping[str, object]
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def log(self) -> Path:
        """The file with what the broker prints."""
        return self.folder / "broker.log"

    def format(self, cluster: str, *options: object) -> None:
        """Makes the folder of its log. Raises BrokerError."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        lines = (f"{name}={value}" for name, value in self.properties.items())
        self._settings.write_text("\n".join([*lines, f"log.dirs={self.folder / 'log'}\n"]), "utf-8")
        line = java("kafka.tools.StorageTool", "format", "-t", cluster, "-c", self._settings, *options)
        told = subprocess.run(line, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if told.returncode:
            raise BrokerError(f"the broker's folder cannot be made:\n{told.stdout}{told.stderr}")

    @property
    def _settings(self) -> Path:
        return self.folder / "server.properties"

    def start(self) -> None:
        """Starts it on what its folder holds. It ends with the thread that calls this, however that ends."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                java("kafka.Kafka", self._settings),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_with_parent(),
            )

    def check(self) -> None:
        """Raises BrokerError if it has ended, with the end of what it printed."""
        if self.process is None or self.process.poll() is not None:
            said = self.log.read_text("utf-8", "replace")[-3000:]
            raise BrokerError(f"broker {self.number} has ended:\n{said}")

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
