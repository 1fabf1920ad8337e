"""The real command in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fork_server import ForkServer

SECONDS = 120
"""After which a command that has not ended is a failure."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The output of a command, and its exit code."""

    code: int
    out: str
    err: str


def cep(
    *arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None, feed: str = ""
) -> Outcome:
    """Run `cep` with arguments; no traceback is ever right, so each call checks that there is none.

    With an `env` it is a Python of its own, since that may decide how Python itself begins.
    """
    words = list(map(str, arguments))
    outcome = _started(words, cwd, env, feed) if env else _forked(words, cwd or Path.cwd(), feed)
    assert "Traceback" not in outcome.err, outcome.err
    return outcome


def _started(arguments: list[str], cwd: Path | None, env: Mapping[str, str], feed: str) -> Outcome:
    done = subprocess.run(
        [sys.executable, "-m", "cep.cli.main", *arguments],
        cwd=cwd,
        env={**os.environ, **env},
        input=feed.encode(),
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


def _forked(arguments: list[str], cwd: Path, feed: str) -> Outcome:
    with TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("stdin", "stdout", "stderr")]
        for path, text in zip(files, (feed, "", ""), strict=True):
            path.write_bytes(text.encode())
        code = _server().run(arguments, cwd, files, SECONDS)
        return Outcome(code, *(path.read_bytes().decode() for path in files[1:]))


_server = cache(ForkServer)
