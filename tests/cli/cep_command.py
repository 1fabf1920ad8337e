"""The real command in a subprocess."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """The output of a command, and its exit code."""

    code: int
    out: str
    err: str


def cep(
    *arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None, feed: str = ""
) -> Outcome:
    """Run `cep` with arguments; no traceback is ever right, so each call checks that there is none."""
    done = subprocess.run(
        [sys.executable, "-m", "cep.cli.main", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        input=feed.encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    outcome = Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in outcome.err, outcome.err
    return outcome
