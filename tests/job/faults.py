"""A job with all that it depends on, the faults that each of these may have, and random sequences of them.

The job reads a topic, keeps its outbox on PostgreSQL behind a network that can be cut, delivers by HTTP and
to a topic, and writes what is malformed to another one.
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import psutil
from broker import brokers
from job_folder import PATIENCE, JobFolder, RunningJob, command
from ports import free_port
from postgres import Server, running_server
from rules_of_tests import pack
from tcp_proxy import Fate, TcpProxy, proxy
from topics_of_tests import Topic, describe, feed, topic

from alerts.receive import AlertReceiver

if TYPE_CHECKING:
    from broker import Brokers

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OUTSIDE = 3
"""The exit code of a job that something outside of it ended."""


@dataclass
class World:
    """All of it. `job` is None while none runs; `starts` counts how often one was started."""

    folder: JobFolder
    kafka: Brokers
    topic: Topic
    alerts: Topic
    letters: Topic
    server: Server
    network: TcpProxy
    receiver: AlertReceiver
    random: Random
    stack: ExitStack
    job: RunningJob | None = None
    starts: int = 0
    ended: Counter[int] = field(default_factory=Counter)
    """How jobs ended that nobody had killed or stopped, by exit code."""

    def runs(self) -> RunningJob:
        """The job, started if it does not run. It may have ended: what it depends on did not answer."""
        if self.job is not None and (code := self.job.process.poll()) is not None:
            self.ended[code] += 1
            assert code == OUTSIDE, f"the job ended with {code}:\n{self.folder.told}"
            self.job = None
        if self.job is None:
            self.job = self.stack.enter_context(self.folder.running())
            self.starts += 1
        return self.job

    def gone(self) -> None:
        """Whoever calls has ended the job."""
        self.job = None

    def pause(self, most: float) -> None:
        """Wait for a random time of so many seconds at most."""
        time.sleep(self.random.uniform(0, most))

    def progress(self) -> None:
        """Wait until a batch more is committed, whatever that takes; the job is started again if it ends."""
        before, until = len(self.folder.commits()), time.monotonic() + PATIENCE
        while len(self.folder.commits()) <= before:
            assert time.monotonic() < until, f"no batch:\n{self.folder.told}"
            self.runs()
            time.sleep(0.1)

    def workers(self) -> list[psutil.Process]:
        """The job's Python processes but for the command itself."""
        assert self.job is not None
        pid = self.job.process.pid
        return [one for one in self.folder.processes_of("python") if one.pid != pid]


@contextmanager
def world(root: Path, random: Random) -> Iterator[World]:
    """One with a new topic; what it began has ended at the end."""
    with ExitStack() as stack:
        kafka = stack.enter_context(brokers(root / "kafka"))
        server = stack.enter_context(running_server())
        network = stack.enter_context(proxy(server.folder / ".s.PGSQL.5432"))
        receiver = AlertReceiver([SECRET], port=free_port())
        receiver.start()
        stack.callback(receiver.stop)
        url = f"postgresql://cep@127.0.0.1:{network.port}/postgres"
        folder = JobFolder(root / "job", pack(), (), trigger="50ms", server=url)
        own, alerts, letters = topic(kafka), topic(kafka), topic(kafka)
        desk = f'[receivers.desk]\nkind = "webhook"\nurl = "{receiver.url}"\nsecret = "{SECRET}"\n'
        at = f'servers = "{kafka.servers}"\n'
        stream = f'[receivers.stream]\nkind = "kafka"\ntopic = "{alerts.name}"\n{at}'
        dead = f'[deadletters]\ntopic = "{letters.name}"\n{at}'
        describe(folder, feed(own, "batch_records = 300"), desk, stream, dead)
        yield World(folder, kafka, own, alerts, letters, server, network, receiver, random, stack)


def kill_job(at: World) -> None:
    at.runs().kill()
    at.gone()


def stop_job(at: World) -> None:
    code = at.runs().stop(at.random.choice((signal.SIGTERM, signal.SIGINT)))
    assert code in (143, 130, OUTSIDE), at.folder.told
    at.gone()


def kill_command(at: World) -> None:
    """Spark's JVM and its workers have to notice that nobody asks them any more."""
    job = at.runs()
    job.process.kill()
    job.process.wait()
    at.pause(3)
    job.kill()
    at.gone()


def kill_java(at: World) -> None:
    at.runs()
    _send(at.folder.processes_of("java"), signal.SIGKILL)


def kill_workers(at: World) -> None:
    at.runs()
    _send(at.workers(), signal.SIGKILL)


def hold_java(at: World) -> None:
    at.runs()
    _held(at, at.folder.processes_of("java"), 8)


def hold_workers(at: World) -> None:
    at.runs()
    _held(at, at.workers(), 8)


def hold_all(at: World) -> None:
    """As a machine that sleeps."""
    at.runs()
    _held(at, at.folder.processes(), 15)


def kill_broker(at: World) -> None:
    at.kafka.kill()
    at.pause(8)
    at.kafka.start()


def hold_broker(at: World) -> None:
    (broker,) = at.kafka.every
    broker.hold()
    at.pause(15)
    broker.release()


def kill_server(at: World) -> None:
    at.server.kill()
    at.pause(8)
    at.server.start_again()


def hold_server(at: World) -> None:
    leader = int((at.server.folder / "data" / "postmaster.pid").read_text("utf-8").split()[0])
    process = psutil.Process(leader)
    _held(at, [process, *process.children()], 8)


def cut_network(at: World) -> None:
    at.network.cut()
    at.pause(8)
    at.network.mend()


def lose_a_message(at: World) -> None:
    """Something that the job sends to its outbox is lost, or the answer is."""
    fates: list[Fate] = [at.random.choice(("lost", "answer lost"))]
    skipped = at.random.randrange(40)

    def fate(_: bytes) -> Fate:
        nonlocal skipped
        skipped -= 1
        return fates.pop() if skipped < 0 and fates else "pass"

    at.network.fate = fate
    at.pause(4)


def stop_receiver(at: World) -> None:
    at.receiver.stop()
    at.pause(8)
    at.receiver.start()


def deploy(at: World) -> None:
    """What runs is deployed once more; the job may not get to it."""
    command("deploy", at.folder.root / "packs", "--job", at.folder.description, "--timeout", 5)


FAULTS: tuple[Callable[[World], None], ...] = (
    kill_job, stop_job, kill_command, kill_java, kill_workers, hold_java, hold_workers, hold_all, kill_broker,
    hold_broker, kill_server, hold_server, cut_network, lose_a_message, stop_receiver, deploy,
)  # fmt: skip


def _send(processes: list[psutil.Process], number: signal.Signals) -> None:
    for one in processes:
        with suppress(psutil.Error, ProcessLookupError):
            os.kill(one.pid, number)


def _held(at: World, processes: list[psutil.Process], most: float) -> None:
    _send(processes, signal.SIGSTOP)
    at.pause(most)
    _send(processes, signal.SIGCONT)
