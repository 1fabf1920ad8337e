"""The fraud desk's job on more than one machine: `make demo-cluster`.

Starts a broker, a PostgreSQL server, and a cluster of a master and two workers, all on this machine and each
gone at the end. Payments come as records of a topic, the job's tasks run on the workers, its outbox is the
server's. Half way a worker is killed with all that runs on it. Then the alerts are compared with those of the
engine alone, over the same events in files. Exits with 1 where they differ.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
from broker import BrokerError, Brokers, brokers
from cluster import Cluster, ClusterError, cluster
from database import Server, ServerError, running_server
from demo_job import DemoError, DemoRun, Job, desk, drain, job, prepare
from fraud.generate import Generated, generate
from fraud.topics import alone, halves, make_topics, send, with_topics

from alerts.outbox import Outbox
from cep.job.state_folder import dead_letters

HERE = Path(__file__).parent


def demo(work: Path, payments: int, seed: int) -> None:
    """The whole demo. Raises DemoError where something is missing."""
    begun = time.monotonic()
    place = prepare(HERE, work, ())
    print(f"generating {payments:,} payments ...", flush=True)
    generated = generate(work / "generated", payments, files=40, seed=seed)
    expected = alone(place, generated)
    print(f"the engine alone raises {len(expected):,} alerts", flush=True)
    print("starting a broker, a database server, a master and two workers ...", flush=True)
    with brokers(work / "brokers") as kafka, running_server() as server:
        make_topics(kafka)
        with cluster(work / "machines", workers=2) as machines:
            _describe(place, kafka, server, machines)
            with desk(place):
                _go(place, kafka, machines, generated)
            _compare(place, server, expected, generated)
    print(f"the fraud demo on a cluster  {time.monotonic() - begun:.0f} s")


def _go(place: DemoRun, kafka: Brokers, machines: Cluster, generated: Generated) -> None:
    """Half of the events, a worker killed, the other half; then the job is drained."""
    taken = 0
    with job(place) as running:
        for number, files in enumerate(halves(generated)):
            sent = send(kafka, files)
            if number:
                _kill(machines)
            taken += sent
            _until_read(running, taken)
            print(f"{sent:,} records are read", flush=True)
    drain(place)


def _until_read(running: Job, events: int) -> None:
    running.until(f"{events:,} events", lambda: running.metrics().get("cep_events_total", 0) >= events)


def _kill(machines: Cluster) -> None:
    """A machine goes, with its executor, while records wait; another one comes."""
    worker = machines.workers[0]
    assert worker.process is not None
    gone = psutil.Process(worker.process.pid).children()
    worker.kill()
    for executor in gone:
        with suppress(psutil.Error):
            executor.kill()
    machines.add()
    print("a worker was killed with its executor; another one came", flush=True)


def _describe(place: DemoRun, kafka: Brokers, server: Server, machines: Cluster) -> None:
    """The example's job file with topics, the database and the cluster in it."""
    text = with_topics(place.job.read_text("utf-8"), kafka)
    more = f'\n[outbox]\nurl = "{server.url()}"\n[spark]\nmaster = "{machines.master}"\ncores = 2\n'
    place.job.write_text(text + more, "utf-8")


@contextmanager
def _opened(server: Server) -> Iterator[Outbox]:
    outbox = Outbox.open(server.url(), create=False)
    try:
        yield outbox
    finally:
        outbox.close()


def _compare(place: DemoRun, server: Server, expected: dict[str, Any], generated: Generated) -> None:
    """Prints what came out. Raises DemoError where anything is missing, or is there that should not be."""
    with _opened(server) as outbox:
        found = {stored.alert["id"]: stored.alert for stored in outbox.alerts()}
        pending = outbox.pending("desk")
        with outbox.reading() as connection:
            dead = dead_letters.count(connection)
    received = {alert["id"] for alert in place.received()}
    print(f"alerts          {len(found):,} in the outbox, {len(received):,} verified by the receiver")
    print(f"dead letters    {dead:,} kept of {generated.malformed:,} malformed records")
    if found != expected:
        raise DemoError("the alerts of the cluster are not those of the engine alone")
    if received != found.keys() or pending:
        raise DemoError("what the receiver verified is not what the outbox holds")
    if dead != generated.malformed:
        raise DemoError(
            f"{generated.malformed:,} malformed records were sent, {dead:,} dead letters were kept"
        )
    print("these are the alerts of the engine alone, each once")


def main() -> None:
    """The command line of the demo."""
    parser = argparse.ArgumentParser(description="The fraud desk's job on more than one machine.")
    parser.add_argument("--payments", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--work", type=Path, default=HERE / "work" / "cluster")
    options = parser.parse_args()
    try:
        demo(options.work.resolve(), options.payments, options.seed)
    except (DemoError, BrokerError, ClusterError, ServerError) as error:
        raise SystemExit(f"demo: {error}") from None


if __name__ == "__main__":
    main()
