"""A server of tests is gone with the process that started it, also where that process is killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import database
import psutil
import pytest
from postgres import need

pytestmark = pytest.mark.slow
STARTS = """
import sys
from database import running_server
with running_server() as server:
    print(server.folder, flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_process_leaves_no_server(number: signal.Signals) -> None:
    need()
    process = subprocess.Popen(
        [sys.executable, "-c", STARTS],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(database.__file__).parents[1],
    )  # fmt: skip
    assert process.stdout is not None
    folder = Path(process.stdout.readline().strip())
    leader = psutil.Process(int((folder / "data" / "postmaster.pid").read_text("utf-8").split()[0]))
    assert leader.is_running()
    process.send_signal(number)
    process.communicate()
    leader.wait(60)
    deadline = time.monotonic() + 60
    while folder.exists():
        assert time.monotonic() < deadline, "its folder stays"
        time.sleep(0.05)
