"""Events by POST: how many a second a job takes, and how soon it answers.

    python benchmarks/http_in.py [--seconds 5]

A server as that of a job, in a process of its own, with a log on this disk; nothing reads it. Clients, as
many as stand in the table, keep their connections and send bodies of so many events of 150 bytes one after
the other. Then 100 requests a second of one event each. The same with a log in a bucket of moto's on
loopback, in a process of its own, too: it answers in some milliseconds and one request at a time, and what
holds elsewhere is how many events come to an object.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil
from calibration import calibration

from cep.buckets import Bucket
from cep.config.job import Token
from cep.secrets import Secret
from cep.sources.http.intake import Intake
from cep.sources.http.segments import Position
from cep.web.access.policy import Access
from cep.web.access.tokens import Tokens
from cep.web.api.routes import application
from cep.web.server import bind, serving

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / "strategies")]
TOKEN = "bench-0123456789-0123456789"
PATH = "/api/v1/events/payment"


def store() -> None:
    """Has a bucket until its standard input ends; prints a place in it and its store's address."""
    import object_store

    with object_store.running() as found:
        print(found.bucket().url, found.endpoint, flush=True)
        sys.stdin.read()


def serve(folder: str, endpoint: str) -> None:
    """Serves until its standard input ends; prints the port, at the end in how many groups events came."""
    import object_store
    from starlette.applications import Starlette
    from starlette.routing import Mount

    known = object_store.REGION, object_store.KEY, object_store.SECRET
    place = Bucket(folder, endpoint, *known).path if endpoint else Path(folder)
    intake = Intake(place, 1 << 40)
    intake.start(Position())
    tokens = (Token("shop", Secret("${SHOP}", ROOT), ("ingest",)),)
    access = Access(Tokens.of(tokens, {"SHOP": TOKEN}), open_reading=True)
    app = Starlette(
        routes=[Mount("/api/v1", app=application(access, lambda: None, lambda: {"payment": intake}))]
    )
    listening = bind("127.0.0.1", 0)
    with serving(app, listening):
        print(listening.getsockname()[1], flush=True)
        sys.stdin.read()
    intake.stop()
    print(intake.groups)


def body(size: int, number: int) -> bytes:
    """So many payments, which differ from those of another number."""
    return b"".join(
        json.dumps(
            {"payment_id": f"p{number}-{n}", "at": "2026-01-05T09:00:00Z", "card_id": f"c{n % 977}",
             "terminal_id": f"t{n % 91}", "amount": n / 7, "country": "DE", "channel": "web"}
        ).encode() + b"\n"
        for n in range(size)
    )  # fmt: skip


def client(port: int, size: int, until: float, spent: list[float], pause: float = 0.0) -> None:
    """Sends bodies until a moment; the seconds that each answer took."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"content-type": "application/x-ndjson", "authorization": f"Bearer {TOKEN}"}
    bodies = [body(size, number) for number in range(4)]
    number, due = 0, time.monotonic()
    while (now := time.monotonic()) < until:
        if pause:
            time.sleep(max(0.0, due - now))
            due += pause
        begun = time.monotonic()
        connection.request("POST", PATH, bodies[number % 4], headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 202
        spent.append(time.monotonic() - begun)
        number += 1


def measured(process: subprocess.Popen[str], port: int, clients: int, size: int, seconds: float) -> None:
    """Prints a row."""
    spent: list[float] = []
    until, begun = time.monotonic() + seconds, time.monotonic()
    busy = sum(psutil.Process(process.pid).cpu_times()[:2])
    threads = [threading.Thread(target=client, args=(port, size, until, spent)) for _ in range(clients)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    took, busy = time.monotonic() - begun, sum(psutil.Process(process.pid).cpu_times()[:2]) - busy
    rate = len(spent) * size / took
    p50, p99 = np.percentile(spent, [50, 99]) * 1e3
    print(
        f"| {clients} | {size:,} | {rate:,.0f} | {1e6 * busy / (len(spent) * size):,.1f} "
        f"| {p50:,.1f} | {p99:,.1f} |"
    )


def begun(*arguments: str) -> subprocess.Popen[str]:
    """This program as a process of its own."""
    command = [sys.executable, __file__, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> str:
    """The answer of such a process at its end."""
    return process.communicate()[0]


def rows(place: str, *arguments: str, seconds: float) -> None:
    """Prints the table of a place."""
    server = begun("--serve", *arguments)
    assert server.stdout is not None
    port = int(server.stdout.readline())
    print(f"\n| {place}: clients | events a body | events/s | us of the server an event | p50 ms | p99 ms |")
    print("| --- | --- | --- | --- | --- | --- |")
    for clients, size in ((1, 1), (16, 1), (1, 100), (8, 100), (1, 10_000), (4, 10_000)):
        measured(server, port, clients, size, seconds)
    ended(server)
    server = begun("--serve", *arguments)
    assert server.stdout is not None
    spent: list[float] = []
    port = int(server.stdout.readline())
    client(port, 1, time.monotonic() + seconds, spent, pause=0.01)
    p50, p99 = np.percentile(spent, [50, 99]) * 1e3
    groups = ended(server).strip()
    print(f"\n100 requests a second: p50 {p50:.1f} ms, p99 {p99:.1f} ms; {len(spent)} in {groups} groups")


def main() -> None:
    """Prints the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--seconds", type=float, default=5.0)
    options.add_argument("--serve", nargs="+", help=argparse.SUPPRESS)
    options.add_argument("--store", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.serve is not None:
        serve(*[*given.serve, ""][:2])
        return
    if given.store:
        store()
        return
    print(calibration())
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        rows("on disk", f"{folder}/log", seconds=given.seconds)
    bucket = begun("--store")
    assert bucket.stdout is not None
    rows("in a bucket", *bucket.stdout.readline().split(), seconds=given.seconds)
    ended(bucket)


if __name__ == "__main__":
    main()
