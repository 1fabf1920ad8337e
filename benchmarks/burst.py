"""A burst: very many alerts in one batch, with receivers that are grouped, throttled, or told of each.

    python benchmarks/burst.py [--alerts 50000] [--wait 30] [--stored 0] [--only desk cards pager each]

Records the batch, then delivers it to receivers in a process of their own until all have all of it, and asks
for pages meanwhile: seconds until every alert was decided about, and until each receiver had it; milliseconds
of pages on the server; processor time. It fails if an alert is lost or comes twice. `desk` gets groups by
rule, `cards` by rule and card, `pager` five notifications a second, `each` every alert by itself. With
`--stored`, so many alerts were delivered before.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import tempfile
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import httpx
import numpy as np
from calibration import calibration
from page import JOB, pack, pack_revision, raised, record, served

from alerts.dispatch import Dispatcher
from alerts.grouping import Grouping, Manner, Rate
from alerts.listeners import Listeners
from alerts.outbox import BatchRecord, Outbox
from alerts.outbox.episodes import assign_some
from alerts.receivers.webhook import WebhookReceiver
from alerts.routing import Route
from alerts.settings import Settings
from cep.config import Job, load_job
from cep.job.shipping import packs as stored_packs
from cep.job.state_folder.folder import StateFolder
from cep.job.state_folder.manifest import Result

SECOND = 10**9
NAMES = ("desk", "cards", "pager", "each")
PAGES = (
    "/",
    "/alerts",
    "/alerts?rule=velocity",
    "/episodes",
    "/rules",
    "/rules/fraud/velocity",
    "/receivers",
)
RATE = Rate(5, SECOND, "5 per second")


class Receivers(BaseHTTPRequestHandler):
    """Takes every notification, and counts what it is about."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    lock = threading.Lock()
    alerts: ClassVar[Counter[str]] = Counter()
    notifications: ClassVar[Counter[str]] = Counter()
    seen: ClassVar[set[tuple[str, str]]] = set()

    def do_POST(self) -> None:
        """Answer 204."""
        body = self.rfile.read(int(self.headers["content-length"]))
        name, data = self.path.strip("/"), json.loads(body)["data"]
        one = (name, self.headers["webhook-id"])
        with self.lock:
            if one not in self.seen:
                self.seen.add(one)
                self.alerts[name] += data.get("count", 1)
                self.notifications[name] += 1
        self.send_response_only(204)
        self.end_headers()

    def do_GET(self) -> None:
        """Tell what came: by receiver, alerts and notifications."""
        with self.lock:
            told = json.dumps(
                {name: (self.alerts[name], self.notifications[name]) for name in NAMES}
            ).encode()
        self.send_response_only(200)
        self.send_header("content-length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def receive(ready: multiprocessing.SimpleQueue[int]) -> None:
    """Serve the receivers."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receivers)
    ready.put(server.server_port)
    server.serve_forever()


def main() -> None:
    """Prints the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--alerts", type=int, default=50_000)
    options.add_argument("--wait", type=float, default=30.0)
    options.add_argument("--stored", type=int, default=0)
    options.add_argument("--only", nargs="*", default=NAMES)
    given = options.parse_args()
    print(calibration())
    ready: multiprocessing.SimpleQueue[int] = multiprocessing.SimpleQueue()
    process = multiprocessing.Process(target=receive, args=(ready,), daemon=True)
    process.start()
    with tempfile.TemporaryDirectory() as folder:
        job, outbox = prepared(Path(folder), given.stored)
        try:
            burst(job, outbox, ready.get(), given)
        finally:
            process.terminate()
            outbox.close()


def burst(job: Job, outbox: Outbox, port: int, given: argparse.Namespace) -> None:
    """Record the batch, and deliver it, while pages are asked for."""
    names, secret = given.only, ["whsec_" + "A" * 32]
    receivers = [WebhookReceiver(one, f"http://127.0.0.1:{port}/{one}", secret) for one in names]
    wait = int(given.wait * SECOND)
    manners = {
        "desk": Manner(Grouping(("rule",), wait, 10 * wait)),
        "cards": Manner(Grouping(("rule", "card_id"), wait, 10 * wait)),
        "pager": Manner(rate=RATE),
    }
    held: Counter[tuple[str, str]] = Counter()
    dispatcher = Dispatcher(
        outbox, receivers, settings=Settings(manners),
        listeners=Listeners(held=lambda *one: held.update([one]), report=print),
    )  # fmt: skip
    dispatcher.start()
    of = pack()
    some = [raised(given.stored + n, time.time_ns(), of) for n in range(given.alerts)]
    began, spent = time.perf_counter(), time.process_time()
    outbox.record(BatchRecord(1_000_000, "burst", result()), some, [Route(name) for name in names])
    dispatcher.wake()
    print(f"\n{given.alerts:,} alerts beside {given.stored:,} in one batch: recorded in {since(began):.1f} s")
    decided: dict[str, float] = {}
    there: dict[str, float] = {}
    with served(job, outbox) as place, httpx.Client(base_url=place.address, trust_env=False) as client:
        pages: dict[str, list[float]] = {path: [] for path in PAGES}
        with outbox.writing() as connection:
            more = assign_some(connection, lambda _pack, _rule: 3_600 * SECOND)
        while len(there) < len(names) or more:
            if more:
                with outbox.writing() as connection:
                    more = assign_some(connection, lambda _pack, _rule: 3_600 * SECOND)
            for path, seconds in pages.items():
                place.timed.spent.clear()
                assert client.get(path, timeout=60).status_code == 200
                seconds += place.timed.spent
                time.sleep(0.1)
            told = httpx.get(f"http://127.0.0.1:{port}/", trust_env=False).json()
            for name in names:
                alerts, _ = told[name]
                looked_at = alerts + sum(held[name, why] for why in ("grouped", "throttled"))
                if name not in decided and looked_at >= given.alerts:
                    decided[name] = since(began)
                if name not in there and alerts >= given.alerts:
                    there[name] = since(began)
    took, busy = since(began), time.process_time() - spent
    print("| receiver | s until all were decided about | s until all were there | notifications |")
    print("| --- | --- | --- | --- |")
    for name in names:
        alerts, count = told[name]
        assert alerts == given.alerts, f"{name}: {alerts} alerts, none may be lost or come twice"
        print(f"| {name} | {decided[name]:.1f} | {there[name]:.1f} | {count:,} |")
    print(f"\n{took:.0f} s, {busy:.0f} s of processor time in the job's process, pages in it")
    print("| page meanwhile | asked | p50 ms | p99 ms |\n| --- | --- | --- | --- |")
    for path, seconds in pages.items():
        p50, p99 = (np.percentile(seconds, part) * 1e3 for part in (50, 99))
        print(f"| `{path}` | {len(seconds)} | {p50:,.0f} | {p99:,.0f} |")
    assert dispatcher.stop()


def since(began: float) -> float:
    """Seconds since then."""
    return time.perf_counter() - began


def result() -> dict[str, object]:
    """The result of a batch, as JSON."""
    now = time.time_ns()
    revisions = {"fraud": pack_revision()}
    return Result(revisions, now, {("payment", "0"): now}, {}, now, 0, None, {}, {}, False).as_dict()


def prepared(folder: Path, stored: int) -> tuple[Job, Outbox]:
    """A job, and its outbox with so many alerts that were delivered."""
    (folder / "job.toml").write_text(JOB, "utf-8")
    job = load_job(folder / "job.toml", {}).need()
    state = StateFolder(job.state)
    state.make()
    state.packs.mkdir(exist_ok=True)
    of = pack()
    stored_packs.store(state.packs, of)
    filling = Outbox.open(job.outbox_url({}), durable=False)
    for first in range(0, stored, 10_000):
        some = [raised(n, time.time_ns(), of) for n in range(first, first + 10_000)]
        record(filling, job, first // 10_000, some, time.time_ns())
    filling.close()
    return job, Outbox.open(job.outbox_url({}))


if __name__ == "__main__":
    main()
