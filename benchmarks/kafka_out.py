"""Alerts from an outbox to a topic in transactions, through the whole dispatcher: alerts a second, latency.

    python benchmarks/kafka_out.py [--alerts 200000] [--turns 3] [--seconds 20] [--server URL]

The outbox is SQLite, or the empty database at URL, postgresql://user@host/name. Each turn begins with as many
alerts in it, of about 610 bytes (840 as an event), on disk as in a job; what is counted ends when all are on
a topic of four partitions and the outbox has that each was delivered, connecting included. What is on the
topic is read back and compared with the outbox.

Broker, dispatcher and reader share the machine.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
from calibration import calibration
from confluent_kafka import Consumer, TopicPartition
from kafka.admin import NewTopic

from alerts.alert import Alert
from alerts.dispatch import Dispatcher
from alerts.identity import alert_id
from alerts.listeners import Listeners
from alerts.notation import timestamp
from alerts.outbox import BatchRecord, Outbox
from alerts.raised import Raised
from alerts.receivers.kafka import KafkaReceiver, Topic
from alerts.routing import Route

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

from broker import Brokers, brokers

PARTITIONS = 4
_SECOND = 1_000_000_000
_BATCH = 20_000
_TEN = 10


def some_alerts(first: int, count: int) -> list[Raised]:
    """Alerts as a rule over payments raises them, 50,000 cards in turn."""
    return [_raised(number) for number in range(first, first + count)]


def _raised(number: int) -> Raised:
    card, ids = f"card-{number % 50_000:05}", [f"payment-{number}-{n}" for n in range(4)]
    alert = Alert(
        id=alert_id("fraud", "card_testing", "s1", "match", [card], [("probe", ids[:3]), ("big", ids[3:])]),
        pack="fraud",
        revision="1616eb8ec4eaaf23",
        rule="card_testing",
        kind="match",
        severity="high",
        time=timestamp(number * _SECOND),
        key={"card_id": card},
        summary=f"3 probes on {card}, then 900.25 in NG by merchant-{number % 977}, which never sold to it",
        emit={"card_id": card, "n": 3, "amount": 900.25, "country": "NG", "merchant": number % 977},
        events={"probe": ids[:3], "big": ids[3:]},
        tags=["card-testing", "probes"],
        runbook="https://desk.example/runbooks/card-testing",
    )
    return Raised.of(alert, number * _SECOND, (number,), None)


def topic(of: Brokers, name: str) -> str:
    """A new topic."""
    with of.admin() as admin:
        admin.create_topics([NewTopic(name, PARTITIONS, 1)])
        while len(admin.describe_topics([name])[0]["partitions"]) < PARTITIONS:
            time.sleep(0.05)
    return name


@contextmanager
def reading(of: Brokers, name: str) -> Iterator[Consumer]:
    """A reader of what is committed on all partitions, from the beginning."""
    consumer = Consumer(
        {
            "bootstrap.servers": of.servers,
            "group.id": "benchmark",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 5,
        }
    )
    consumer.assign([TopicPartition(name, number, 0) for number in range(PARTITIONS)])
    try:
        yield consumer
    finally:
        consumer.close()


def ids_on(of: Brokers, name: str, count: int) -> list[str]:
    """The ids of the records of a topic: as many as there are to be, and those that come within a second."""
    found: list[str] = []
    with reading(of, name) as consumer:
        while some := consumer.consume(10_000, 30.0 if len(found) < count else 1.0):
            found += [dict(one.headers() or [])["id"].decode() for one in some]  # type: ignore[union-attr]
    return found


@contextmanager
def delivering(of: Brokers, outbox: Outbox, receiver: str, name: str) -> Iterator[Dispatcher]:
    """A dispatcher that has its connection: the first of a broker makes the topics of transactions."""
    wire = KafkaReceiver(receiver, Topic(of.servers, name, {}))
    dispatcher = Dispatcher(outbox, [wire], listeners=Listeners(report=print))
    dispatcher.start()
    try:
        yield dispatcher
    finally:
        dispatcher.stop()


def throughput(of: Brokers, url: str, alerts: int, turns: int) -> None:
    """Turns; prints each, and the median."""
    taken: list[float] = []
    me, broker = psutil.Process(), psutil.Process(of.every[0].process.pid)
    with closing(Outbox.open(url)) as outbox:
        for number in range(turns):
            receiver, name = f"stream{number}", topic(of, f"alerts-{number}")
            expected: list[str] = []
            for first in range(0, alerts, _BATCH):
                some = some_alerts(number * alerts + first, min(_BATCH, alerts - first))
                batch = BatchRecord(number * 1_000 + first // _BATCH, "d", {})
                expected += [one.id for one in outbox.record(batch, some, [Route(receiver)]).alerts]
                del some
            outbox.finish()
            used = [_processor(one) for one in (me, broker)]
            begun = time.perf_counter()
            with delivering(of, outbox, receiver, name) as dispatcher:
                if not dispatcher.drain(600):
                    raise SystemExit("alerts wait for ever")
                seconds = time.perf_counter() - begun
            mine, its = (_processor(p) - before for p, before in zip((me, broker), used, strict=True))
            taken.append(seconds)
            print(f"{alerts / seconds:9,.0f} alerts/s, {seconds:6.2f} s; processor", end=" ")
            print(
                f"us an alert: dispatcher {mine / alerts * 1e6:.1f}, broker {its / alerts * 1e6:.1f}",
                flush=True,
            )
            if sorted(ids_on(of, name, alerts)) != sorted(expected):
                raise SystemExit("the topic and the outbox disagree")
    print(f"median: {alerts / statistics.median(taken):,.0f} alerts/s, each on the topic once")


def _processor(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def latency(of: Brokers, url: str, seconds: int) -> None:
    """A hundred alerts a second; prints the percentiles."""
    name = topic(of, "latency")
    waits: list[float] = []
    recorded: dict[str, float] = {}
    with (
        closing(Outbox.open(url)) as outbox,
        delivering(of, outbox, "latency", name) as dispatcher,
        reading(of, name) as consumer,
    ):
        count = seconds * 10

        def record() -> None:
            due = time.monotonic()
            for number in range(count):
                some = some_alerts(100_000_000 + number * _TEN, _TEN)
                recorded[some[-1].id] = time.perf_counter()
                outbox.record(BatchRecord(1_000_000 + number, "d", {}), some, [Route("latency")])
                dispatcher.wake()
                due += 0.1
                time.sleep(max(0.0, due - time.monotonic()))

        thread = threading.Thread(target=record)
        thread.start()
        left = count * _TEN
        while left > 0 and (some := consumer.consume(100, 0.001)) is not None:
            left -= len(some)
            for one in some:
                id_ = dict(one.headers() or [])["id"].decode()  # type: ignore[union-attr]
                if id_ in recorded:
                    waits.append(time.perf_counter() - recorded[id_])
        thread.join()
    waits = sorted(waits[20:])  # the first connects
    p50, p99 = (waits[int(len(waits) * share)] for share in (0.5, 0.99))
    said = f"p50 {p50 * 1e3:.0f} ms, p99 {p99 * 1e3:.0f} ms"
    print(f"latency at 100 alerts a second: {said} ({len(waits)} batches)")


def main() -> None:
    """Prints the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--alerts", type=int, default=200_000)
    options.add_argument("--turns", type=int, default=3)
    options.add_argument("--seconds", type=int, default=20)
    options.add_argument("--server")
    given = options.parse_args()
    print(calibration())
    with tempfile.TemporaryDirectory() as folder, brokers(Path(folder) / "kafka") as of:
        url = given.server or f"sqlite:///{folder}/outbox.db"
        throughput(of, url, given.alerts, given.turns)
        latency(of, url, given.seconds)


if __name__ == "__main__":
    main()
