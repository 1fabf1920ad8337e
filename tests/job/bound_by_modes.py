"""Runs commands of `cep` as a user whom the modes of files bind, also where the tests run as root.

As a program: reads [[path, mode, [argument, ...]], ...] as JSON from stdin, runs each command while the path
has that mode, and writes [[exit code, what it printed], ...].
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import os
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

Case = tuple[str, int, Sequence[str]]
_DROP, _DAC_OVERRIDE, _DAC_READ_SEARCH = 24, 1, 2  # prctl(2), capabilities(7)


def bound_by_modes() -> None:
    """For `preexec_fn`: the program that is begun may not pass over the modes of files."""
    if os.getuid() == 0:
        for capability in (_DAC_OVERRIDE, _DAC_READ_SEARCH):
            ctypes.CDLL(None).prctl(_DROP, capability, 0, 0, 0)


def run(cases: Sequence[Case]) -> list[tuple[int, str]]:
    """Exit code and output of each command, run one after the other in one process."""
    ended = subprocess.run(
        [sys.executable, __file__], input=json.dumps(cases), capture_output=True, text=True,
        preexec_fn=bound_by_modes, check=True,
    )  # fmt: skip
    return [(code, told) for code, told in json.loads(ended.stdout)]


def _main() -> None:
    from cep.cli.main import main

    found = []
    for name, mode, arguments in json.load(sys.stdin):
        path, told = Path(name), io.StringIO()
        before = stat.S_IMODE(path.stat().st_mode)
        path.chmod(mode)
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
            try:
                code = main(list(arguments))
            except SystemExit as ended:
                code = int(ended.code or 0)
        path.chmod(before)
        found.append((code, told.getvalue()))
    print(json.dumps(found))


if __name__ == "__main__":
    _main()
