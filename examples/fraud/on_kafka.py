"""The fraud desk's job between topics: `make demo-kafka`.

Starts a broker on this machine, which is gone at the end. Payments come as records of a topic, and alerts go
to one, in transactions. Half way the job is killed in the middle of its work and started again. Then whoever
reads what is committed has each alert once: those of the engine alone, over the same events in files. Exits
with 1 where that is not so.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from broker import BrokerError, Brokers, brokers
from confluent_kafka import Consumer, TopicPartition
from demo_job import DemoError, DemoRun, Job, drain, job, prepare
from fraud.generate import generate
from fraud.topics import alone, halves, make_topics, send, with_topics
from kafka.admin import NewTopic

HERE = Path(__file__).parent
ALERTS = "alerts"
_PARTITIONS = 4
_RECEIVER = f"""
[receivers.stream]
kind = "kafka"
servers = "{{servers}}"
topic = "{ALERTS}"
"""
_SHOWN = 3


def demo(work: Path, payments: int, seed: int) -> None:
    """The whole demo. Raises DemoError where something is missing."""
    begun = time.monotonic()
    place = prepare(HERE, work, ())
    print(f"generating {payments:,} payments ...", flush=True)
    generated = generate(work / "generated", payments, files=40, seed=seed)
    expected = alone(place, generated)
    print(f"the engine alone raises {len(expected):,} alerts", flush=True)
    print("starting a broker ...", flush=True)
    with brokers(work / "brokers") as kafka:
        make_topics(kafka)
        with kafka.admin() as admin:
            admin.create_topics([NewTopic(ALERTS, _PARTITIONS, 1)])
        _describe(place, kafka)
        before, behind = halves(generated)
        with job(place) as running:
            sent = send(kafka, before)
            _until_delivered(running, sent)
            print(f"{sent:,} records are read, {_count(kafka):,} are on the topic of alerts", flush=True)
            raised = _raised(running)
            send(kafka, behind)
            running.until("more alerts", lambda: _raised(running) > raised)
            running.kill()
        print("the job was killed in the middle of the other half; it is started again", flush=True)
        drain(place)
        _compare(_alerts(kafka, "read_committed"), expected, _count(kafka))
    print(f"the fraud demo between topics  {time.monotonic() - begun:.0f} s")


def _describe(place: DemoRun, kafka: Brokers) -> None:
    """The example's job file with topics in place of files and of the desk."""
    text = with_topics(place.job.read_text("utf-8"), kafka)
    head, desk, tail = text.partition("[receivers.desk]")
    assert desk
    rest = tail[tail.index("\n[") :]
    place.job.write_text(head + _RECEIVER.format(servers=kafka.servers) + rest, "utf-8")


def _until_delivered(running: Job, events: int) -> None:
    def done() -> bool:
        now = running.metrics()
        read = now.get("cep_events_total", 0) >= events and _raised(running) > 0
        return read and now.get("cep_outbox_pending", 1) == 0

    running.until(f"{events:,} events and alerts", done)


def _raised(running: Job) -> float:
    return running.metrics().get("cep_alerts_total", 0)


def _count(kafka: Brokers) -> int:
    """The records on the topic of alerts, also those that readers of what is committed do not see."""
    return len(_alerts(kafka, "read_uncommitted"))


def _alerts(kafka: Brokers, level: str) -> list[Mapping[str, Any]]:
    """The alerts on their topic, partition by partition."""
    consumer = Consumer(
        {
            "bootstrap.servers": kafka.servers,
            "group.id": "reader",
            "isolation.level": level,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(ALERTS, number, 0) for number in range(_PARTITIONS)])
    found: list[Mapping[str, Any]] = []
    ended = 0
    try:
        while ended < _PARTITIONS:
            for record in consumer.consume(1_000, 1.0):
                value = record.value()
                if record.error() is not None or value is None:
                    ended += 1
                else:
                    found.append(json.loads(value)["data"])
    finally:
        consumer.close()
    return found


def _compare(
    alerts: Sequence[Mapping[str, Any]], expected: Mapping[str, Mapping[str, Any]], written: int
) -> None:
    """Prints what came out. Raises DemoError where anything is missing, or is there that should not be."""
    for alert in alerts[:_SHOWN]:
        print(f"    {alert['time']} {alert['severity']:8} {alert['rule']}: {alert['summary']}")
    print(f"alerts          {len(alerts):,} on the topic for those who read what is committed")
    if dropped := written - len(alerts):
        print(f"                {dropped:,} more were written when the job was killed, and dropped")
    found = {alert["id"]: alert for alert in alerts}
    if len(found) != len(alerts):
        raise DemoError(f"{len(alerts) - len(found):,} alerts are on the topic more than once")
    if found != expected:
        raise DemoError("the alerts on the topic are not those of the engine alone")
    print("these are the alerts of the engine alone, each once")


def main() -> None:
    """The command line of the demo."""
    parser = argparse.ArgumentParser(description="The fraud desk's job between topics.")
    parser.add_argument("--payments", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--work", type=Path, default=HERE / "work" / "kafka")
    options = parser.parse_args()
    try:
        demo(options.work.resolve(), options.payments, options.seed)
    except (DemoError, BrokerError) as error:
        raise SystemExit(f"demo: {error}") from None


if __name__ == "__main__":
    main()
