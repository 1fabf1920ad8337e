"""A job that has to catch up: many records wait in a topic when it begins. Speed and memory by the million.

    python benchmarks/kafka_catch_up.py [--events 10000000] [--cores 2]

The strict three-step pattern of strict_events.py over a topic of four partitions on a broker of this machine.
After all that waited, a million more come at once: that is the steady speed, of a warm job in four batches. A
plain loop counts the alerts, too. Memory is that of all the job's processes, in which shared pages count once
(PSS); `waiting` is what the job tells of the topic.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import job
import kafka_in
import psutil
import strict_events
from calibration import calibration
from kafka_in import Brokers, brokers

STEP = 1_000_000


def memory(of: job.Job) -> dict[str, int]:
    """MiB by kind of process."""
    found = {"driver": 0, "JVM": 0, "workers": 0}
    for kind, process in of.processes():
        try:
            found[kind] += process.memory_full_info().pss >> 20
        except psutil.Error:
            continue
    return found


def lines(path: Path) -> Iterator[bytes]:
    """Those of a file."""
    with path.open("rb") as file:
        yield from file


def catch_up(of: Brokers, events: int, cores: int) -> None:
    """Prints a row for each million, then the ratio to the steady speed."""
    every = events + STEP
    with tempfile.TemporaryDirectory() as folder:
        paths = strict_events.write(Path(folder), every, files=every // STEP)
        kafka_in.ended(paths[-1], every)
        expected, name = strict_events.matches(paths), kafka_in.topic(of, "behind")
        for number, path in enumerate(paths[:-1]):
            kafka_in.sending(of, name, lines(path), number, bytes)()
        feed = kafka_in.FEED.format(servers=of.servers, topic=name)
        print("| events | events/s | processor s | driver, JVM, workers MiB | waiting |")
        print("| --- | --- | --- | --- | --- |")
        with job.running(strict_events.PACK, "100 milliseconds", cores, feed=feed) as one:
            speeds = [_taken(one, million) for million in range(STEP, events + 1, STEP)]
            show = kafka_in.sending(of, name, lines(paths[-1]), len(paths), bytes)
            one.until("cep_events_total accepted", events)
            begun = time.perf_counter()
            show()
            one.until("cep_events_total accepted", every + kafka_in.PARTITIONS)
            steady = (STEP + kafka_in.PARTITIONS) / (time.perf_counter() - begun)
            one.until_raised(expected, every + kafka_in.PARTITIONS)
            raised = one.until("cep_alerts_total", expected)["cep_alerts_total"]
        if raised != expected:
            raise SystemExit(f"the job raised {raised:,.0f} alerts, a plain loop {expected:,}")
        later = statistics.median(speeds[1:])
        print(
            f"catching up {later:,.0f} events/s (least {min(speeds[1:]):,.0f}), steady {steady:,.0f}: "
            f"{later / steady:.2f}; peak {one.peak >> 20:,} MiB; {expected:,} alerts, as a plain loop finds"
        )


def _taken(one: job.Job, until: int) -> float:
    """Events a second of the last million, whose row is printed."""
    begun, used = time.perf_counter(), sum(one.processor().values())
    found = one.until("cep_events_total accepted", until)
    seconds = time.perf_counter() - begun
    spent, parts = sum(one.processor().values()) - used, memory(one)
    waiting = found.get("cep_feed_waiting_records", float("nan"))
    print(
        f"| {until:,} | {STEP / seconds:,.0f} | {spent:.1f} | {', '.join(f'{n:,}' for n in parts.values())} "
        f"| {waiting:,.0f} |",
        flush=True,
    )
    return STEP / seconds


def main() -> None:
    """The command line of the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    print(calibration())
    with tempfile.TemporaryDirectory() as folder, brokers(Path(folder) / "broker") as of:
        catch_up(of, options.events, options.cores)
    print(calibration())


if __name__ == "__main__":
    main()
