"""The cost of a job's port: page, API and metrics, while nobody looks and while many do.

    python benchmarks/idle_page.py [--seconds 20] [--rate 1000] [--turns 3]

A process records `rate` alerts a second, a batch a second, as a job does, with the port of a job or without,
in turns: its processor time. With the port, nobody asks; or somebody has looked at three pages and gone; or
Prometheus asks for metrics every 20 s and a supervisor for health every 5; or 200 browsers have the live
table open, each read by a connection of another process. Threads are counted apart: what
those of the port took is exact where the whole differs by the noise of the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import httpx
from burst import prepared
from calibration import calibration
from page import pack, raised, record, served

from cep.job.running.health import Standing
from cep.job.running.port import answering
from cep.job.running.stopping import Stop
from cep.web.metrics import Metrics

CASES = (
    "no port", "a port", "looked at before", "metrics and health are asked for", "200 live tables are open",
)  # fmt: skip
_TABLES = 200


def main() -> None:
    """Prints the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--seconds", type=int, default=20)
    options.add_argument("--rate", type=int, default=1_000)
    options.add_argument("--turns", type=int, default=3)
    options.add_argument("--case", help=argparse.SUPPRESS)
    options.add_argument("--tables", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.tables is not None:
        asyncio.run(watch(given.tables))
        return
    if given.case is not None:
        work(given.case, given.seconds, given.rate)
        return
    print(calibration())
    took: dict[str, list[tuple[float, float]]] = {case: [] for case in CASES}
    for _ in range(given.turns):
        for case, found in took.items():
            asked = [sys.executable, __file__, "--case", case, "--seconds", str(given.seconds)]
            asked += ["--rate", str(given.rate)]
            said = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split()
            found.append((float(said[0]), float(said[1])))
    print(f"\n| {given.rate:,} alerts a second, {given.seconds} s | processor time s | of it the port's s |")
    print("| --- | --- | --- |")
    for case, found in took.items():
        whole, own = (statistics.median(column) for column in zip(*found, strict=True))
        print(f"| {case} | {whole:.2f} | {own:.3f} ({100 * own / given.seconds:.2f} % of a core) |")


def work(case: str, seconds: int, rate: int) -> None:
    """Records alerts; prints the processor time of the process, and that of its other threads."""
    with tempfile.TemporaryDirectory() as folder:
        job, outbox = prepared(Path(folder), 0)
        standing = Standing(job, Stop())
        standing.outbox = outbox
        metrics, of, number = Metrics(), pack(), 0
        assert job.http is not None
        port = 18_000 + os.getpid() % 10_000
        listening = replace(job, http=replace(job.http, port=port))
        over = threading.Event()
        with ExitStack() as stack:
            if case == CASES[4]:
                place = stack.enter_context(served(job, outbox))
                watching = [sys.executable, __file__, "--tables", place.address.removeprefix("http://")]
                tables = stack.enter_context(subprocess.Popen(watching, stdout=subprocess.PIPE))
                stack.callback(tables.kill)
                assert tables.stdout is not None
                tables.stdout.readline()
            elif case == CASES[2]:
                place = stack.enter_context(served(job, outbox))
                for path in ("/", "/alerts", "/episodes"):
                    httpx.get(place.address + path, trust_env=False, timeout=60).raise_for_status()
            elif case != CASES[0]:
                stack.enter_context(answering(listening, {}, metrics, standing))
            if case == CASES[3]:
                metrics.watch_outbox(outbox, ["archive"], print)
                threading.Thread(
                    target=ask, args=(f"http://127.0.0.1:{port}", over), name="asks", daemon=True
                ).start()
            begun, before = time.process_time(), others()
            for batch in range(seconds):
                due, now = time.monotonic() + 1, time.time_ns()
                record(outbox, job, batch, [raised(number + n, now, of) for n in range(rate)], now)
                number += rate
                time.sleep(max(0.0, due - time.monotonic()))
            print(time.process_time() - begun, others() - before)
            over.set()
        outbox.close()


def ask(address: str, over: threading.Event) -> None:
    """Prometheus and a supervisor, from a process of their own."""
    urls = [f"{address}/healthz"] * 3 + [f"{address}/metrics"]
    for place in range(1_000_000):
        subprocess.run(["curl", "-s", "-o", os.devnull, urls[place % 4]], check=False)
        if over.wait(5):
            return


async def watch(address: str) -> None:
    """Live tables, until the process is ended; says when all are open."""
    host, port = address.split(":")

    async def table(opened: asyncio.Semaphore) -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET /alerts/stream?after=0 HTTP/1.1\r\nhost: {host}\r\n\r\n".encode())
        await reader.readline()
        opened.release()
        while await reader.read(1 << 16):
            pass

    opened = asyncio.Semaphore(0)
    tasks = [asyncio.create_task(table(opened)) for _ in range(_TABLES)]
    for _ in tasks:
        await opened.acquire()
    print("open", flush=True)
    await asyncio.gather(*tasks)


def others() -> float:
    """Seconds of processor time of threads of this process, but for those that record and ask."""
    own, found = {threading.get_native_id()}, 0
    own |= {one.native_id or 0 for one in threading.enumerate() if one.name == "asks"}
    for task in Path("/proc/self/task").iterdir():
        if int(task.name) not in own:
            found += int((task / "schedstat").read_text().split()[0])
    return found / 1e9


if __name__ == "__main__":
    main()
