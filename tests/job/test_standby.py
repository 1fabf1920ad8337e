"""A job on PostgreSQL with a standby: whatever happens to who runs it, the other goes on, and the alerts are
those of a run that nothing disturbed, once each."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest
from job_folder import JobFolder, RunningJob, in_process
from postgres import Server
from rules_of_tests import in_files, pack, payments
from stores import Schemas
from tcp_proxy import TcpProxy, proxy

pytestmark = pytest.mark.spark
ACCEPTED = 30.0
"""Seconds from what happens to the leader until the first batch of its successor is in the outbox."""


@pytest.fixture
def network(postgres_server: Server) -> Iterator[TcpProxy]:
    with proxy(postgres_server.folder / ".s.PGSQL.5432") as found:
        yield found


def of_group(job: RunningJob, *, number: signal.Signals) -> None:
    """A signal to all processes of a job, but not to those of another job of the folder."""
    process = psutil.Process(job.process.pid)
    for one in [*process.children(recursive=True), process]:
        with suppress(psutil.NoSuchProcess):
            one.send_signal(number)


def waits(folder: JobFolder) -> bool:
    """True if the standby waits with its JVM ready."""
    return "on standby" in folder.told


@pytest.mark.parametrize(
    "what",
    [
        "killed",
        pytest.param("paused", marks=pytest.mark.soak),
        pytest.param("cut off", marks=pytest.mark.soak),
    ],
)
def test_a_standby_takes_over(tmp_path: Path, schemas: Schemas, network: TcpProxy, what: str) -> None:
    direct = schemas.url(tmp_path)
    schema = direct.partition("&")[2]
    cut = f"postgresql://cep@127.0.0.1:{network.port}/postgres?{schema}"
    folder = JobFolder(tmp_path / "job", pack(), ("payment",), server=cut if what == "cut off" else direct)
    parts = in_files(list(payments(9, 3_000, 200)), 30)
    paths = [folder.put("payment", part) for part in parts[:10]]
    with ExitStack() as stack:
        leader = stack.enter_context(folder.running())
        leader.wait_for(lambda: folder.commits(), "a batch")
        folder.server = direct
        folder.describe()
        standby = stack.enter_context(folder.running("--standby"))
        standby.wait_for(lambda: waits(folder), "the standby")
        paths += [folder.put("payment", part) for part in parts[10:20]]
        leader.wait_for(lambda: len(folder.commits()) > 2, "batches")
        if what == "killed":
            of_group(leader, number=signal.SIGKILL)
        elif what == "paused":
            of_group(leader, number=signal.SIGSTOP)
        else:
            network.cut()
        before, begun = len(folder.commits()), time.monotonic()
        paths += [folder.put("payment", part) for part in parts[20:]]
        standby.wait_for(lambda: len(folder.commits()) > before, "a batch of the standby")
        taken = time.monotonic() - begun
        print(f"{what}: the standby's first batch after {taken:.1f} s")
        assert taken < ACCEPTED
        if what == "paused":
            of_group(leader, number=signal.SIGCONT)
        network.mend()
        assert leader.process.wait(60) == (-signal.SIGKILL if what == "killed" else 3), folder.told
        if what != "killed":
            assert "has taken over the job" in folder.told
            assert "CEP0832" in folder.told
        standby.wait_until_read()
        assert standby.stop() == 128 + signal.SIGTERM, folder.told
        ended = folder.told
        with folder.running("--once", "--drain") as last:
            assert last.process.wait() == 0, folder.told
    assert "takes over the job from process" in ended
    found = folder.alerts()
    expected = {alert["id"]: alert for alert in in_process(folder, [[("payment", p)] for p in paths])}
    assert len(expected) > 20
    assert len(found) == len(expected)
    for alert in found:
        assert {k: v for k, v in alert.items() if k != "batch"} == expected[alert["id"]]
    assert "Traceback" not in folder.told
