"""The running job: events a second from files to outbox, time by stage, start-up, memory, latency.

    python benchmarks/job.py [--events 1000000] [--seconds 30]

The strict three-step pattern of strict_events.py through `cep run` on this machine: a first file warms the
workers up, then the others are renamed in at once. What the job finds is compared with a plain loop over
the same files. Latency: ten events in a file every tenth of a second, each of which raises an alert; from
the rename to the moment at which the outbox took the alert in.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx
import numpy as np
import psutil
import strict_events
from calibration import calibration
from prometheus_client.parser import text_string_to_metric_families

from alerts.outbox import Outbox

CEP = Path(sys.executable).with_name("cep")

JOB = """
[job]
name = "bench"
packs = "bench.rules"
state = "state/"
trigger = "{trigger}"

{feed}
[http]
listen = "127.0.0.1:{port}"
"""

FILES = """
[feeds.e]
source = "files"
path = "inbox/*.jsonl"
"""

ON_RULE = """
pack bench version "1"
stream e { eid: string  ts: timestamp  k: string  price: double  id eid  time ts }
rule every { by k  on e[price >= 0] }
"""


@dataclass(slots=True)
class Job:
    """A running job in a folder of its own. `peak`: the most memory of all its processes, in bytes, and what
    each kind of them had at that moment."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes]
    peak: int = 0
    parts: dict[str, int] = field(default_factory=dict)
    client: httpx.Client = field(default_factory=lambda: httpx.Client(trust_env=False))
    ended: threading.Event = field(default_factory=threading.Event)

    def metrics(self) -> dict[str, float]:
        """Samples by name and, where there is one, `stage` or `outcome`."""
        try:
            text = self.client.get(f"http://127.0.0.1:{self.port}/metrics").text
        except httpx.HTTPError:
            return {}
        found: dict[str, float] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                part = sample.labels.get("stage") or sample.labels.get("outcome")
                found[f"{sample.name} {part}" if part else sample.name] = sample.value
        return found

    def until(self, name: str, least: float) -> dict[str, float]:
        """The metrics once `name` is at least so much. Raises SystemExit if the job ends before."""
        while True:
            found = self.metrics()
            if found.get(name, 0) >= least:
                return found
            if self.process.poll() is not None:
                raise SystemExit((self.folder / "job.log").read_text("utf-8"))
            time.sleep(0.05)

    def until_raised(self, alerts: int, events: float) -> None:
        """Wait until the outbox has so many alerts, or the job has had so many events.

        The database is asked, and the job seldom: answering takes the driver's time.
        """
        database = sqlite3.connect(f"file:{self.folder / 'state' / 'outbox.db'}?mode=ro", uri=True)
        with closing(database):
            while True:
                for _ in range(100):
                    (raised,) = database.execute("SELECT max(number) FROM outbox_alerts").fetchone()
                    if (raised or 0) >= alerts:
                        return
                    time.sleep(0.01)
                if self.metrics().get("cep_events_total accepted", 0) >= events:
                    return
                if self.process.poll() is not None:
                    raise SystemExit((self.folder / "job.log").read_text("utf-8"))

    def processor(self) -> dict[str, float]:
        """Processor seconds so far, by what used them; on a busy machine they say more than the clock."""
        found = {"driver": 0.0, "JVM": 0.0, "workers": 0.0}
        for kind, process in self.processes():
            with suppress(psutil.Error):
                times = process.cpu_times()
                found[kind] += times.user + times.system
        return found

    def processes(self) -> list[tuple[str, psutil.Process]]:
        """All processes of the job, each with its kind.

        But for the one that makes the archive of Spark's classes: the first job of a machine does so once.
        """
        driver, found = psutil.Process(self.process.pid), []
        for process in [driver, *driver.children(recursive=True)]:
            with suppress(psutil.Error):
                if "-Xshare:dump" in process.cmdline():
                    continue
                kind = "JVM" if process.name() == "java" else "driver" if process == driver else "workers"
                found.append((kind, process))
        return found

    def watch_memory(self) -> None:
        """Keeps `peak` until the job ends; shared pages count once for each process (PSS does not)."""
        while not self.ended.wait(0.5):
            parts = {"driver": 0, "JVM": 0, "workers": 0}
            try:
                for kind, process in self.processes():
                    parts[kind] += process.memory_full_info().pss
            except psutil.Error:
                continue
            if sum(parts.values()) > self.peak:
                self.peak, self.parts = sum(parts.values()), parts


@contextmanager
def running(
    pack: str, trigger: str, cores: int | None = None, more: str = "", feed: str = FILES
) -> Iterator[Job]:
    """A job on an empty folder, from before its start; on so many of the machine's cores, or on all.

    `more` comes to the end of its job.toml; `feed` is where its events come from.
    """
    with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as probe:
        folder, port = Path(name), probe.getsockname()[1]
        probe.close()
        (folder / "inbox").mkdir()
        (folder / "bench.rules").write_text(pack, "utf-8")
        (folder / "job.toml").write_text(JOB.format(trigger=trigger, port=port, feed=feed) + more, "utf-8")
        with (folder / "job.log").open("wb") as log:
            command = [str(CEP), "run", str(folder / "job.toml")]
            only = sorted(os.sched_getaffinity(0))[:cores]
            process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, env=dict(os.environ),
                preexec_fn=lambda: os.sched_setaffinity(0, only),
            )  # fmt: skip
        job = Job(folder, port, process)
        watcher = threading.Thread(target=job.watch_memory)
        watcher.start()
        try:
            yield job
        finally:
            job.ended.set()
            watcher.join()
            process.terminate()
            process.wait(120)


def throughput(events: int) -> None:
    """The strict pattern; prints its table."""
    with tempfile.TemporaryDirectory() as generated:
        paths = strict_events.write(Path(generated), events + events // 4, files=5)
        expected = strict_events.matches(paths)
        begun = time.perf_counter()
        with running(strict_events.PACK, "100 milliseconds") as job:
            job.until("cep_batch_duration_seconds_count", 1)
            start_up = time.perf_counter() - begun
            paths[0].rename(job.folder / "inbox" / paths[0].name)
            job.until("cep_events_total accepted", events // 4)
            before, used = job.metrics(), job.processor()
            begun = time.perf_counter()
            for path in paths[1:]:
                path.rename(job.folder / "inbox" / path.name)
            job.until_raised(expected, events + events // 4)
            seconds = time.perf_counter() - begun
            after = job.until("cep_events_total accepted", events + events // 4)
            used = {kind: spent - used[kind] for kind, spent in job.processor().items()}
            outbox = Outbox.open(f"sqlite:///{job.folder / 'state' / 'outbox.db'}", create=False)
            found = len(outbox.alerts())
            outbox.close()
            batches = after["cep_batch_duration_seconds_count"] - before["cep_batch_duration_seconds_count"]
            print(f"{'start-up to the first batch':40} {start_up:8.1f} s")
            print(f"{events:,} events, {batches:.0f} batches{'':19} {seconds:8.2f} s")
            print(f"{'events a second, files to outbox':40} {events / seconds:8,.0f}")
            for stage in ("spark", "decode", "classify", "match", "merge", "outbox"):
                name = f"cep_stage_seconds_total {stage}"
                spent = after.get(name, 0) - before.get(name, 0)
                place = "in it" if stage in ("decode", "classify", "match") else "driver"
                print(f"    {f'{stage} ({place})':36} {spent:8.2f} s")
            by_kind = ", ".join(f"{kind} {spent:.2f}" for kind, spent in used.items())
            print(f"{'processor time':40} {sum(used.values()):8.2f} s: {by_kind}")
            by_kind = ", ".join(f"{kind} {size / 2**20:,.0f}" for kind, size in job.parts.items())
            print(f"{'peak memory, all processes (PSS)':40} {job.peak / 2**20:8,.0f} MiB: {by_kind}")
            print(f"{'alerts':40} {found:8,} ({expected:,} by a plain loop)")
            if found != expected:
                raise SystemExit("the job and the plain loop disagree")


def latency(seconds: int) -> None:
    """A hundred events a second; prints the percentiles."""
    with running(ON_RULE, "1 millisecond") as job:
        job.until("cep_batch_duration_seconds_count", 1)
        renamed: dict[str, int] = {}
        for number in range(seconds * 10 + 100):
            due = time.monotonic() + 0.1
            now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            ids = [f"e{number}-{i}" for i in range(10)]
            lines = [
                json.dumps({"eid": id_, "ts": now, "k": f"k{i}", "price": 1}) for i, id_ in enumerate(ids)
            ]
            made = job.folder / f"{number}.jsonl"
            made.write_text("\n".join(lines) + "\n", "utf-8")
            made.rename(job.folder / "inbox" / made.name)
            renamed.update(dict.fromkeys(ids, time.time_ns()))
            time.sleep(max(0.0, due - time.monotonic()))
        job.until("cep_events_total accepted", len(renamed))
        outbox = Outbox.open(f"sqlite:///{job.folder / 'state' / 'outbox.db'}", create=False)
        stored = outbox.alerts()
        outbox.close()
        taken = {str(one.alert["events"]["e"][0]): one.recorded_at for one in stored}  # type: ignore[index]
        # the first hundred files warm the workers up
        waits = [(taken[id_] - at) / 1e9 for id_, at in list(renamed.items())[1000:]]
        batches = job.metrics()["cep_batch_duration_seconds_count"]
        print(
            f"{'latency at 100 events/s, rename to outbox':40} p50 {np.percentile(waits, 50):.2f} s, ", end=""
        )
        print(f"p99 {np.percentile(waits, 99):.2f} s, greatest {max(waits):.2f} s, {batches:.0f} batches")


def main() -> None:
    """The command line of the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=30)
    options = parser.parse_args()
    print(calibration())
    throughput(options.events)
    latency(options.seconds)
    print(calibration())


if __name__ == "__main__":
    main()
