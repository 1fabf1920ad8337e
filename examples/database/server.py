"""A server of PostgreSQL in a folder of its own, started, killed, ended.

It listens on a socket there and on no port, and runs as an unprivileged user where this process is root's:
its programs refuse root. Texts are ordered as people do, not by bytes, as most servers have it.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MISSING = "PostgreSQL's server is missing: run `make tools`, or on Debian `sudo apt-get install postgresql`"
SETTINGS = (
    "listen_addresses=''",
    "fsync=off",
    "shared_buffers=16MB",
    "max_connections=80",
    "wal_level=minimal",
    "max_wal_senders=0",
    "lock_timeout=60s",
)
_AS = {"user": "postgres"} if os.geteuid() == 0 else {}


class ServerError(Exception):
    """A server that cannot be started; says why."""


def programs() -> Path:
    """The folder of the server's programs. Raises ServerError where they are missing."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    found = shutil.which("initdb", path=os.pathsep.join([*map(str, debian[-1:]), os.environ["PATH"]]))
    if found is None:
        raise ServerError(MISSING)
    return Path(found).resolve().parent


def lacking() -> str:
    """Why no server can be started on this machine; empty if one can."""
    try:
        programs()
    except ServerError as error:
        return str(error)
    return ""


@dataclass(frozen=True)
class Server:
    """A server that may be stopped, killed and started again. `folder` has its data, socket and log."""

    programs: Path
    folder: Path

    def url(self, database: str = "postgres", options: str = "") -> str:
        """The address of a database."""
        return f"postgresql://cep@/{database}?host={self.folder}{options}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        said = " ".join(f"-c {one}" for one in SETTINGS)
        log = str(self.folder / "log")
        self._run("pg_ctl", "start", "-w", "-t", "60", "-l", log, "-o", f"-k {self.folder} {said}")

    def stop(self, how: str = "immediate") -> None:
        """Stop it, and wait until it has ended."""
        self._run("pg_ctl", "stop", "-w", "-m", how)

    def kill(self) -> None:
        """End it at once, with what serves its connections."""
        leader = int((self.folder / "data" / "postmaster.pid").read_text("utf-8").split()[0])
        children = subprocess.run(["pgrep", "-P", str(leader)], capture_output=True, text=True, check=False)
        for pid in (leader, *map(int, children.stdout.split())):
            os.kill(pid, signal.SIGKILL)

    def start_again(self) -> None:
        """Start it after it was killed, once what it left behind has ended."""
        while True:
            try:
                return self.start()
            except subprocess.CalledProcessError:
                *_, last = re.findall("FATAL: +(.*)", (self.folder / "log").read_text("utf-8"))
                assert re.search("pre-existing shared memory|lock file", last), last

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self.programs / program, "-D", self.folder / "data", *arguments],
            check=True, stdout=subprocess.DEVNULL, cwd=self.folder, **_AS,
        )  # fmt: skip


@contextmanager
def running_server() -> Iterator[Server]:
    """A new server, which is gone at the end. Raises ServerError."""
    where = programs()
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # a socket's path is short
    try:
        if _AS:
            shutil.chown(folder, _AS["user"])
        server = Server(where, folder)
        order = ("--encoding=UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en")
        server._run("initdb", "-A", "trust", "-U", "cep", "--no-sync", *order)
        with _ended_with_us(folder):
            server.start()
            try:
                yield server
            finally:
                server.stop()
    finally:
        shutil.rmtree(folder)


@contextmanager
def _ended_with_us(folder: Path) -> Iterator[None]:
    """Within the block, if this process ends in whatever way the server does, too, and its folder is gone.

    A shell waits for the end of a pipe that this process alone can write to.
    """
    script = (
        f"read -r line && exit; pid=$(head -n 1 {folder}/data/postmaster.pid); kill -QUIT $pid; "
        f"while kill -0 $pid; do sleep 0.1; done; rm -rf {folder}"
    )
    watcher = subprocess.Popen(
        ["sh", "-c", script], stdin=subprocess.PIPE, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield
    finally:
        watcher.communicate(b"ended\n")
