"""The page of a job at work: each page's time on the server, and how soon a new alert is in a browser.

    python benchmarks/page.py [--alerts 1000000] [--rate 1000] [--times 200] [--streams 200] [--seconds 20]

Fills an outbox in SQLite with alerts of a day, serves the page over it from a thread as a job does, and has
another process write `rate` alerts a second, assigned to episodes, a batch a second. Then, with a slower
writer (20 a second, five batches), the time from an alert's record to its row in Chromium, and to many
streams at once, with the memory and the processor time that those take; none of this with `--streams 0`.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
from calibration import calibration
from playwright.sync_api import sync_playwright

from alerts.alert import Alert
from alerts.due import Settled
from alerts.identity import alert_id
from alerts.notation import timestamp
from alerts.outbox import BatchRecord, Outbox
from alerts.outbox.episodes import assign_some
from alerts.raised import Raised
from alerts.web_server import Limits, WebServer
from cep.config import Job, load_job
from cep.job.shipping import packs as stored_packs
from cep.job.state_folder.folder import StateFolder
from cep.job.state_folder.manifest import Result
from cep.web.access.policy import Access
from cep.web.desk.desk import JobDesk
from cep.web.page.app import PageSettings, page
from rules.packs import load
from rules.typed import Pack

PACKS = Path(__file__).parents[1] / "examples" / "fraud" / "packs"
SECOND = 10**9
DAY = 86_400 * SECOND
KEYS = 20_000
SLOW = 20
JOB = """
[job]
name = "page"
packs = "packs/"
state = "state/"
[feeds.payment]
source = "files"
path = "inbox/payment/*.jsonl"
[feeds.chargeback]
source = "files"
path = "inbox/chargeback/*.jsonl"
[receivers.archive]
kind = "file"
path = "alerts.jsonl"
[http]
listen = "127.0.0.1:0"
"""
PAGES = (
    "/", "/alerts", "/alerts?rule=velocity", "/alerts?severity=critical", "/alerts?key=card_id%3Dc17",
    "/alerts/{id}", "/episodes", "/rules", "/rules/fraud/velocity", "/silences", "/receivers", "/feeds",
    "/packs", "/deadletters", "/batches",
)  # fmt: skip


def main() -> None:
    """Prints the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--alerts", type=int, default=1_000_000)
    options.add_argument("--rate", type=int, default=1_000)
    options.add_argument("--times", type=int, default=200)
    options.add_argument("--streams", type=int, default=200)
    options.add_argument("--seconds", type=float, default=20.0)
    options.add_argument("--folder", type=Path, help="where an earlier run left its outbox, or this one does")
    options.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.write is not None:
        write(given.write, given.rate)
        return
    print(calibration())
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        begun = time.perf_counter()
        job, outbox = filled(folder, given.alerts)
        print(f"{given.alerts:,} alerts in the outbox after {time.perf_counter() - begun:,.0f} s")
        with served(job, outbox) as place:
            with writing(folder, given.rate):
                pages(place, given.times, given.rate)
            if not given.streams:
                return
            with writing(folder, SLOW):
                in_browser(place, given.seconds)
                asyncio.run(streams(place, given.streams, given.seconds))
        outbox.close()


def pack() -> Pack:
    """The pack whose rules raise the alerts."""
    found = load([PACKS]).pack
    assert found is not None
    return found


def raised(number: int, at: int, of: Pack) -> Raised:
    """An alert of one of the pack's rules, some far more often than others."""
    rule = of.rules[min(int(np.sqrt(number * 7919 % 169)), 12)]
    card = f"c{number * 104_729 % KEYS}"
    id_ = alert_id(of.name, rule.name, "s", "match", [card], [("first", [f"p{number}"])])
    made = Alert(
        id_, of.name, of.revision, rule.name, "match", rule.severity, timestamp(at // SECOND * SECOND),
        {"card_id": card}, f"{number} on {card} at t{number % 977}, 41.3 is usual",
        {"amount": number, "terminal_id": f"t{number % 977}"}, {"first": [f"p{number}"]}, ["card"], None,
    )  # fmt: skip
    return Raised.of(made, at, (number,), None)


def record(outbox: Outbox, job: Job, batch: int, some: list[Raised], now: int) -> None:
    """One batch, and its alerts in episodes."""
    result = Result({"fraud": pack_revision()}, now, {("payment", "0"): now}, {}, now, 0, None, {}, {}, False)
    outbox.record(BatchRecord(batch, f"d{batch}", result.as_dict()), some, job.routes)
    newest = outbox.alerts(limit=1, newest_first=True)[0].number
    sent = range(newest - len(some) + 1, newest + 1)
    outbox.settle([Settled("archive", one, "delivered", 1, "written", None, now) for one in sent])
    with outbox.writing() as connection:
        while assign_some(connection, lambda _pack, _rule: 3_600 * SECOND):
            pass


_revision: list[str] = []


def pack_revision() -> str:
    """The revision of the pack, read once."""
    if not _revision:
        _revision.append(pack().revision)
    return _revision[0]


def filled(folder: Path, count: int) -> tuple[Job, Outbox]:
    """The job of a folder, and its outbox with so many alerts of the last day."""
    (folder / "job.toml").write_text(JOB, "utf-8")
    job = load_job(folder / "job.toml", {}).need()
    state = StateFolder(job.state)
    state.make()
    state.packs.mkdir(exist_ok=True)
    of, step, now = pack(), 10_000, [0]
    stored_packs.store(state.packs, of)
    filling = Outbox.open(job.outbox_url({}), durable=False, clock=lambda: now[0])
    there = filling.alerts(limit=1, newest_first=True)
    begin, starts = time.time_ns() - DAY, range(there[0].number if there else 0, count, step)
    for batch, first in enumerate(starts):
        now[0] = begin + DAY * first // count
        record(filling, job, batch, [raised(n, now[0], of) for n in range(first, first + step)], now[0])
    filling.finish()
    filling.close()
    return job, Outbox.open(job.outbox_url({}))


def write(folder: Path, rate: int) -> None:
    """Writes alerts until it is stopped."""
    job, of = load_job(folder / "job.toml", {}).need(), pack()
    outbox = Outbox.open(job.outbox_url({}))
    last = outbox.last_batch()
    number, batch = outbox.alerts(limit=1, newest_first=True)[0].number, last.number + 1 if last else 0
    every = 1.0 if rate > 100 else 0.2
    due = time.monotonic()
    print("ready", flush=True)
    while True:
        now, some = time.time_ns(), max(1, int(rate * every))
        record(outbox, job, batch, [raised(number + n, now, of) for n in range(some)], now)
        number, batch, due = number + some, batch + 1, due + every
        time.sleep(max(0.0, due - time.monotonic()))


@contextmanager
def writing(folder: Path, rate: int) -> Iterator[None]:
    """Another process writes within it."""
    command = [sys.executable, __file__, "--write", str(folder), "--rate", str(rate)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        try:
            yield
        finally:
            process.terminate()


class Timed:
    """An application, and the seconds that each request took on the server, as it was asked for: by the clock
    and of processor time, of the whole process, in which nobody else does anything meanwhile."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.spent: list[float] = []
        self.busy: list[float] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        begun, busy = time.perf_counter(), time.process_time()
        await self.app(scope, receive, send)
        self.spent.append(time.perf_counter() - begun)
        self.busy.append(time.process_time() - busy)


class Place:
    """A page that is served: where, by which application."""

    def __init__(self, address: str, outbox: Outbox, timed: Timed) -> None:
        self.address = address
        self.outbox = outbox
        self.timed = timed


@contextmanager
def served(job: Job, outbox: Outbox) -> Iterator[Place]:
    """The page, in a thread of this process."""
    desk = JobDesk(outbox, job, {})
    timed = Timed(page(desk, Access.of(job, {}, "127.0.0.1"), PageSettings("k" * 32, streams_each=1_000)))
    listening = socket.create_server(("127.0.0.1", 0))
    server = WebServer(timed, listening, Limits(streams=1_000))  # type: ignore[arg-type]
    server.start()
    try:
        yield Place(f"http://127.0.0.1:{listening.getsockname()[1]}", outbox, timed)
    finally:
        server.stop()


def told(seconds: list[float]) -> str:
    """Median and 99th percentile in milliseconds, as two columns."""
    return " | ".join(f"{np.percentile(seconds, part) * 1e3:,.1f}" for part in (50, 99))


def pages(place: Place, times: int, rate: int) -> None:
    """Each page, asked one after the other, in turns."""
    newest = place.outbox.alerts(limit=1, newest_first=True)[0].alert["id"]
    spent: dict[str, tuple[list[float], list[float]]] = {path: ([], []) for path in PAGES}
    with httpx.Client(base_url=place.address, trust_env=False, timeout=60) as client:
        for _ in range(60):  # until the day is counted, and templates are compiled
            client.get("/")
        for path in PAGES:
            assert client.get(path.format(id=newest)).status_code == 200, path
        for _ in range(times):
            for path in PAGES:
                place.timed.spent.clear()
                place.timed.busy.clear()
                client.get(path.format(id=newest))
                for some, took in zip(spent[path], (place.timed.spent, place.timed.busy), strict=True):
                    some += took
    print(f"\n| page, beside {rate:,} alerts/s | p50 ms | p99 ms | processor time p50 | p99 |")
    print("| --- | --- | --- | --- | --- |")
    for path, (seconds, busy) in spent.items():
        print(f"| `{path}` | {told(seconds)} | {told(busy)} |")


def in_browser(place: Place, seconds: float) -> None:
    """The time from an alert's record to its row in a browser."""
    with sync_playwright() as playwright:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        tab = browser.new_page()
        tab.goto(f"{place.address}/alerts")
        tab.evaluate(
            """() => { window.seen = []; new MutationObserver(changes => { for (const one of changes)
            for (const row of one.addedNodes) if (row.dataset)
            window.seen.push([row.dataset.id, Date.now()]); })
            .observe(document.getElementById("incoming"), {childList: true}); }"""
        )
        tab.wait_for_timeout(seconds * 1e3)
        seen = tab.evaluate("window.seen")
        browser.close()
    late = [at / 1e3 - found.recorded_at / 1e9 for id_, at in seen if (found := place.outbox.alert(id_))]
    print("\n| from the outbox | alerts | p50 ms | p99 ms |\n| --- | --- | --- | --- |")
    print(f"| to a row in Chromium | {len(late):,} | {told(late)} |")


async def streams(place: Place, count: int, seconds: float) -> None:
    """The same for many streams at once, and what they cost the process that serves them."""
    host, port = place.address.removeprefix("http://").split(":")
    newest = place.outbox.alerts(limit=1, newest_first=True)[0].number
    gc.collect()
    me = psutil.Process()
    memory, busy = me.memory_info().rss, sum(me.cpu_times()[:2])
    numbers: list[tuple[int, float]] = []

    async def listen() -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET /alerts/stream?after={newest} HTTP/1.1\r\nhost: {host}\r\n\r\n".encode())
        while line := await reader.readline():
            if line.startswith(b"id: "):
                numbers.append((int(line[4:]), time.time()))

    tasks = [asyncio.create_task(listen()) for _ in range(count)]
    await asyncio.sleep(seconds)
    held, spent = me.memory_info().rss - memory, sum(me.cpu_times()[:2]) - busy
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    with place.outbox.reading() as connection:
        from alerts.outbox.stored import recorded_at

        at = recorded_at(connection, sorted({number for number, _ in numbers}))
    late = [seen - at[number] / 1e9 for number, seen in numbers]
    print(f"| to {count} streams | {len(late):,} | {told(late)} |")
    print(
        f"\n{count} streams, both ends of them: {held / count / 1024:,.0f} KiB each, "
        f"{100 * spent / seconds:.0f} % of a core for {len(late) / seconds:,.0f} rows a second"
    )


if __name__ == "__main__":
    main()
