"""A job that reads a topic beside one that reads files: events a second to the outbox, and latency.

    python benchmarks/kafka_in.py [--events 1000000] [--turns 3] [--seconds 30] [--cores 2]
        [--formats json avro protobuf]

The strict three-step pattern of strict_events.py through `cep run`, by turns from files and from a topic of
four partitions on a broker of this machine, over the same events. Those that warm the job up come first; all
others then come at once: files are renamed in, records are in one transaction, which is committed. The alerts
of both are counted by a plain loop, too. Latency: ten records every tenth of a second, each of which raises
an alert; from before a record is sent to the moment at which the outbox took the alert in. With several
formats a topic of each is read in turn; without seconds there is no latency.

A job runs on so many cores. The broker has the others, or the same ones where the machine has no more.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from zlib import crc32

import job
import numpy as np
import strict_events
from calibration import calibration
from confluent_kafka import Producer
from kafka.admin import NewTopic
from topic_formats import formats

from alerts.outbox import Outbox

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

from broker import Brokers, brokers

__all__ = ["Brokers", "brokers"]

PARTITIONS = 4
FEED = """
[feeds.e]
source = "kafka"
servers = "{servers}"
topic = "{topic}"
"""
_QUEUED = 10_000_000
_HELD_MS = 600_000
_WARM = 100
"""Rounds of ten records that warm the workers up before latency is measured."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The cost of all events but the first of one job: seconds, processor seconds by kind; peak memory."""

    seconds: float
    used: dict[str, float]
    peak: int


def topic(of: Brokers, name: str) -> str:
    """A new topic."""
    with of.admin() as admin:
        admin.create_topics([NewTopic(name, PARTITIONS, 1)])
        while len(admin.describe_topics([name])[0]["partitions"]) < PARTITIONS:
            time.sleep(0.05)
    return name


def partition(key: str) -> int:
    """The partition that the events of a key come to."""
    return crc32(key.encode()) % PARTITIONS


def ended(path: Path, events: int) -> None:
    """Adds an event to each partition, a second after all others: the watermark passes those.

    Of several partitions the one that is behind holds the last events of the others back.
    """
    time_ = np.datetime64(strict_events.START + events + 1_000, "ms")
    keys = {partition(key): key for key in (f"end{number}" for number in range(100))}
    with path.open("a", encoding="ascii") as out:
        out.writelines(
            f'{{"eid":"{key}","ts":"{time_}Z","k":"{key}","price":99.0}}\n' for key in keys.values()
        )


def sending(
    of: Brokers, name: str, lines: Iterable[bytes], number: int, record: Callable[[bytes], bytes]
) -> Callable[[], object]:
    """The function that lets readers see these lines as records, which the topic has already; keys stay in
    order."""
    producer = Producer(
        {
            "bootstrap.servers": of.servers,
            "transactional.id": f"{name}-{number}",
            "transaction.timeout.ms": _HELD_MS,
            "linger.ms": 20,
            "batch.size": 1 << 18,
            "queue.buffering.max.messages": _QUEUED,
        }
    )
    producer.init_transactions()
    producer.begin_transaction()
    for line in lines:
        producer.produce(name, record(line), partition=partition(json.loads(line)["k"]))
    producer.flush()
    return producer.commit_transaction


def of_files(paths: Sequence[Path]) -> Callable[[job.Job, int], Callable[[], object]]:
    """A function that puts files before a job: the first alone, then the others."""

    def shown(into: job.Job, stage: int) -> Callable[[], object]:
        chosen = paths[:1] if stage == 0 else paths[1:]
        copies = [(into.folder / path.name, into.folder / "inbox" / path.name) for path in chosen]
        for path, (copy, _) in zip(chosen, copies, strict=True):
            copy.write_bytes(path.read_bytes())
        return lambda: [copy.rename(there) for copy, there in copies]

    return shown


def of_topic(
    of: Brokers, name: str, paths: Sequence[Path], record: Callable[[bytes], bytes]
) -> Callable[[job.Job, int], Callable[[], object]]:
    """A function that puts the lines of the same files before a job as records."""

    def shown(_: job.Job, stage: int) -> Callable[[], object]:
        chosen = paths[:1] if stage == 0 else paths[1:]
        lines = (line for path in chosen for line in path.read_bytes().splitlines())
        return sending(of, name, lines, stage, record)

    return shown


def turn(
    feed: str,
    cores: int,
    events: int,
    expected: int,
    shown: Callable[[job.Job, int], Callable[[], object]],
) -> Turn:
    """One job over all events, a quarter more of which come first. Raises SystemExit on other alerts."""
    first, every = events // 4, events + events // 4 + PARTITIONS
    with job.running(strict_events.PACK, "100 milliseconds", cores, feed=feed) as one:
        one.until("cep_batch_duration_seconds_count", 1)
        shown(one, 0)()
        one.until("cep_events_total accepted", first)
        show, used = shown(one, 1), one.processor()
        begun = time.perf_counter()
        show()
        one.until_raised(expected, every)
        seconds = time.perf_counter() - begun
        one.until("cep_events_total accepted", every)
        used = {kind: spent - used[kind] for kind, spent in one.processor().items()}
        outbox = Outbox.open(f"sqlite:///{one.folder / 'state' / 'outbox.db'}", create=False)
        found = len(outbox.alerts())
        outbox.close()
    if found != expected:
        raise SystemExit(f"the job raised {found:,} alerts, a plain loop {expected:,}")
    return Turn(seconds, used, one.peak)


def throughput(of: Brokers, events: int, turns: int, cores: int, chosen: Sequence[str]) -> None:
    """Files and a topic of each format by turns; prints each, and the ratios of the medians."""
    taken: dict[str, list[float]] = {"files": [], **{name: [] for name in chosen}}
    with tempfile.TemporaryDirectory() as folder:
        paths = strict_events.write(Path(folder), events + events // 4, files=5)
        ended(paths[-1], events + events // 4)
        expected = strict_events.matches(paths)
        known = formats(Path(folder))
        for number in range(turns):
            kinds = [("files", job.FILES, of_files(paths))]
            for format_ in chosen:
                name = topic(of, f"events-{format_}-{number}")
                feed = FEED.format(servers=of.servers, topic=name) + known[format_].feed
                kinds.append((format_, feed, of_topic(of, name, paths, known[format_].record)))
            for kind, of_kind, shown in kinds:
                one = turn(of_kind, cores, events, expected, shown)
                taken[kind].append(one.seconds)
                used = ", ".join(f"{part} {spent:.2f}" for part, spent in one.used.items())
                print(f"{kind}: {events / one.seconds:9,.0f} events/s, {one.seconds:6.2f} s", end="; ")
                print(f"processor seconds: {used}; {one.peak / 2**20:,.0f} MiB", flush=True)
    files, *topics = (statistics.median(taken[kind]) for kind in ("files", *chosen))
    print(f"median: files {events / files:,.0f} events/s", end="")
    for format_, records in zip(chosen, topics, strict=True):
        print(f", topic of {format_} {events / records:,.0f}: {files / records:.2f}", end="")
    print()


def latency(of: Brokers, seconds: int, cores: int) -> None:
    """A hundred records a second; prints the percentiles."""
    name = topic(of, "latency")
    producer = Producer({"bootstrap.servers": of.servers, "linger.ms": 0})
    feed = FEED.format(servers=of.servers, topic=name)
    with job.running(job.ON_RULE, "1 millisecond", cores, feed=feed) as one:
        one.until("cep_batch_duration_seconds_count", 1)
        sent: dict[str, int] = {}
        for number in range(seconds * 10 + _WARM):
            due = time.monotonic() + 0.1
            now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            for i in range(10):
                id_ = f"e{number}-{i}"
                sent[id_] = time.time_ns()
                value = {"eid": id_, "ts": now, "k": f"k{i}", "price": 1}
                producer.produce(name, json.dumps(value), partition=i % PARTITIONS)
            producer.flush()
            time.sleep(max(0.0, due - time.monotonic()))
        one.until("cep_events_total accepted", len(sent))
        outbox = Outbox.open(f"sqlite:///{one.folder / 'state' / 'outbox.db'}", create=False)
        stored = outbox.alerts()
        outbox.close()
        batches = one.metrics()["cep_batch_duration_seconds_count"]
    taken = {str(alert.alert["events"]["e"][0]): alert.recorded_at for alert in stored}  # type: ignore[index]
    waits = [(taken[id_] - at) / 1e9 for id_, at in list(sent.items())[_WARM * 10 :]]
    half, most = np.percentile(waits, [50, 99])
    print(
        f"latency at 100 records/s, sent to outbox: p50 {half:.2f} s, p99 {most:.2f} s, "
        f"greatest {max(waits):.2f} s, {batches:.0f} batches"
    )


def main() -> None:
    """The command line of the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--formats", nargs="+", default=["json"], choices=["json", "avro", "protobuf"])
    options = parser.parse_args()
    print(calibration())
    with tempfile.TemporaryDirectory() as folder, brokers(Path(folder) / "broker") as of:
        throughput(of, options.events, options.turns, options.cores, options.formats)
        if options.seconds:
            latency(of, options.seconds, options.cores)
    print(calibration())


if __name__ == "__main__":
    main()
