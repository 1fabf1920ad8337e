"""A process that runs one command after the other: a line of JSON in, a line of JSON out."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A running process and the file with what it writes beside its answers."""

    process: subprocess.Popen[str]
    log: Path

    def ask(self, command: str, **arguments: object) -> Answer:
        """Runs a command. Raises SystemExit with the end of the log if the process ends instead."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"do": command, **arguments}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            said = self.log.read_text("utf-8", "replace")[-4000:]
            raise SystemExit(f"{self.process.args!r} ended at {command!r}:\n{said}")
        found: Answer = json.loads(line)
        return found

    def peak(self) -> int:
        """The most memory that the process had at once, in bytes."""
        return peak_memory(self.process.pid)


def peak_memory(process: int) -> int:
    """The most memory that a process had at once (the kernel's VmHWM), in bytes."""
    for line in Path(f"/proc/{process}/status").read_text("utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise SystemExit(f"/proc/{process}/status has no VmHWM")


@contextmanager
def conversation(
    command: Sequence[str], log: Path, cores: int | None = None, environment: Mapping[str, str] | None = None
) -> Iterator[Conversation]:
    """A process for as long as the block runs, bound to so many of the cores that we may use."""
    allowed = sorted(os.sched_getaffinity(0))
    bound = set(allowed[-cores:] if cores else allowed)
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, **(environment or {})},
            # Before the program starts: a JVM chooses its collector by the cores that it sees then.
            preexec_fn=lambda: os.sched_setaffinity(0, bound),
        )
    try:
        yield Conversation(process, log)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
