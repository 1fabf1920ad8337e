"""A job whose port is attacked goes on; one whose Java process is killed says so in one sentence."""

from __future__ import annotations

import re
import resource
import signal
import socket
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from job_folder import JobFolder, get
from ports import free_port
from rules_of_tests import in_files, pack, payments

pytestmark = pytest.mark.spark

HANDLES = 256
ATTACKERS = 1_500
HALF = b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: "


def _handles(number: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def test_half_sent_requests_by_the_thousand_cost_the_job_nothing(tmp_path: Path) -> None:
    port = free_port()
    folder = JobFolder(tmp_path / "job", pack(), ("payment",), more=f'[http]\nlisten = "127.0.0.1:{port}"\n')
    parts = in_files(list(payments(7, 600)), 3)
    folder.put("payment", parts[0])
    before = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    _handles(HANDLES)
    try:
        with folder.running() as job, ExitStack() as held:
            _handles(before)
            job.wait_for_batch(0)
            for part in parts[1:]:
                for _ in range(ATTACKERS // 2):
                    one = held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
                    one.sendall(HALF)
                assert get(f"http://127.0.0.1:{port}/healthz")[0] == 200
                assert psutil.Process(job.process.pid).num_fds() < HANDLES
                folder.put("payment", part)
                job.wait_until_read()
            assert get(f"http://127.0.0.1:{port}/healthz")[0] == 200
            assert get(f"http://127.0.0.1:{port}/metrics")[0] == 200
            assert job.stop(signal.SIGTERM) == 143, folder.told
    finally:
        _handles(before)
    assert "malformed" not in folder.told
    assert not re.search("Traceback|uvicorn|asyncio|socket", folder.told)
    assert folder.logged == ""
