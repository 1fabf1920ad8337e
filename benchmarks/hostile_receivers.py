"""The cost of a hostile receiver to the others: alerts a second to a good one beside it.

    python benchmarks/hostile_receivers.py [--alerts 2000] [--before FOLDER] [--only NAME...]

Each line is one outbox with as many alerts for a good receiver and for a hostile one, both in processes of
their own, delivered until the good one has them all: alerts a second, and microseconds of processor time of
the delivering process for each. `nobody` is the good one alone, `good` another such, `dead` a port on which
nobody listens; the hostile ones send without end replies `100 Continue`, headers, a header's byte a second, a
body, or chunks of a byte. With `--before`, a checkout of another version, both take turns.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, repeat
from pathlib import Path

from calibration import calibration

HERE = Path(__file__).parents[1]
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n" * 500
HARMS: dict[str, tuple[bytes, bytes, float]] = {
    "100s": (b"", CONTINUE, 0.0),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"a: b\r\n" * 500, 0.0),
    "trickle": (b"HTTP/1.1 200 OK\r\n", b"a", 1.0),
    "body": (b"HTTP/1.1 500 Oh\r\ncontent-length: 10000000000\r\n\r\n", b"a" * 65_536, 0.0),
    "chunks": (b"HTTP/1.1 500 Oh\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\na\r\n" * 5_000, 0.0),
}
"""Name to what is said once, what is said without end, and the seconds between."""
NAMES = ("nobody", "good", "dead", *HARMS)


class _Good(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response_only(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def _serve_good(ready: multiprocessing.SimpleQueue[int]) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Good)
    ready.put(server.server_port)
    server.serve_forever()


def _serve_harm(name: str, ready: multiprocessing.SimpleQueue[int]) -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    ready.put(listening.getsockname()[1])
    while True:
        threading.Thread(target=_harm, args=(name, listening.accept()[0]), daemon=True).start()


def _harm(name: str, client: socket.socket) -> None:
    once, endless, pause = HARMS[name]
    with suppress(OSError), client:
        client.recv(65_536)
        for piece in chain([once], repeat(endless)):
            client.sendall(piece)
            time.sleep(pause)


@contextmanager
def _served(name: str) -> Iterator[tuple[int, int | None]]:
    """The ports of the good receiver and of its neighbour."""
    ready: multiprocessing.SimpleQueue[int] = multiprocessing.SimpleQueue()
    servers = [multiprocessing.Process(target=_serve_good, args=(ready,), daemon=True)]
    servers[0].start()
    good, hostile = ready.get(), 1 if name == "dead" else None
    if name in HARMS or name == "good":
        serve = (_serve_good, (ready,)) if name == "good" else (_serve_harm, (name, ready))
        servers.append(multiprocessing.Process(target=serve[0], args=serve[1], daemon=True))
        servers[1].start()
        hostile = ready.get()
    try:
        yield good, hostile
    finally:
        for server in servers:
            server.terminate()
            server.join()


def deliver(alerts: int, good: int, hostile: int | None) -> None:
    """Prints seconds until the good receiver has all alerts, and processor seconds of this process."""
    sys.path[:0] = [str(Path.cwd() / "tests" / folder) for folder in ("strategies", "alerts")]
    from some_alerts import raised

    from alerts.dispatch import Dispatcher
    from alerts.outbox import BatchRecord, Outbox
    from alerts.receivers.webhook import WebhookReceiver
    from alerts.routing import Route

    ports = {"good": good} if hostile is None else {"good": good, "hostile": hostile}
    receivers = [
        WebhookReceiver(n, f"http://127.0.0.1:{p}/", ["whsec_" + "A" * 32]) for n, p in ports.items()
    ]
    with tempfile.TemporaryDirectory() as folder:
        outbox = Outbox.open(f"sqlite:///{folder}/outbox.db")
        outbox.record(BatchRecord(0, "d", {}), [raised(n) for n in range(alerts)], [Route(n) for n in ports])
        dispatcher = Dispatcher(outbox, receivers)
        begun, spent = time.perf_counter(), time.process_time()
        dispatcher.start()
        while outbox.pending("good"):
            time.sleep(0.005)
        print(time.perf_counter() - begun, time.process_time() - spent, flush=True)
        os._exit(0)  # whatever the hostile one still holds


def main() -> None:
    """Prints a line for every neighbour."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--alerts", type=int, default=2_000)
    arguments.add_argument("--before", type=Path)
    arguments.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME")
    arguments.add_argument("--deliver", nargs="+", type=int, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.deliver is not None:
        deliver(options.alerts, options.deliver[0], options.deliver[1] if options.deliver[1:] else None)
    print(calibration())
    versions = [HERE] if options.before is None else [options.before.resolve(), HERE]
    columns = ("before/s", "cpu us", "now/s", "cpu us") if options.before else ("alerts/s", "cpu us")
    print(f"{'neighbour':<10}" + "".join(f"{column:>10}" for column in columns))
    for name in options.only:
        line = ""
        for version in versions:
            with _served(name) as ports:
                seconds, processor = _delivered(version, options.alerts, [p for p in ports if p is not None])
            line += f"{options.alerts / seconds:>10,.0f}{processor / options.alerts * 1e6:>10,.0f}"
        print(f"{name:<10}{line}", flush=True)


def _delivered(version: Path, alerts: int, ports: list[int]) -> tuple[float, float]:
    command = [sys.executable, __file__, "--alerts", str(alerts), "--deliver", *map(str, ports)]
    environ = {**os.environ, "PYTHONPATH": str(version)}
    child = subprocess.run(command, cwd=version, env=environ, capture_output=True, text=True, check=True)
    seconds, processor = child.stdout.split()
    return float(seconds), float(processor)


if __name__ == "__main__":
    main()
