"""A job under load for long: what it keeps, how far it falls behind, and what it delivers in the end.

    python benchmarks/load.py half [--minutes 60] [--rate 100000]
    python benchmarks/load.py ten [--minutes 10] [--rate 20000]
    python benchmarks/load.py receiver [--minutes 60] [--rate 10000]
    python benchmarks/load.py hot [--events 2000000]
    python benchmarks/load.py keys [--events 4000000]

half      a file of `rate` events every second: memory, open files, threads, state folder, events behind
ten       ten times `rate` of a job that reads no more than 200,000 events a batch of a hundred rules, then
          nothing until it has caught up
receiver  a receiver that refuses connections while events come; then it answers
hot       one key has half of all events, beside the same events over 100,000 keys
keys      a million keys beside 100,000

Events have the time at which they are written and a thousandth of them raises an alert. A table has a row a
minute; what a job raises is counted beside what a plain computation over the same events finds.
"""

from __future__ import annotations

import argparse
import base64
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import job
import numpy as np
import numpy.typing as npt
import psutil
from calibration import calibration

Ints = npt.NDArray[np.int64]
KEYS = 100_000
TEMPLATE = b'{"eid":"e000000000000","ts":"2026-01-01T00:00:00.000Z","k":"k0000000","price":1000}\n'
_AT = {name: TEMPLATE.index(text) for name, text in [("eid", b"e0000"), ("ts", b"2026"), ("k", b"k0000")]}
_PRICE = TEMPLATE.index(b"1000}")
PACK = """
pack load version "1"
stream e { eid: string  ts: timestamp  k: string  price: long  id eid  time ts  lateness 1 second }
rule rare {
  by k  match a: e[price < 5000] => b: e[price > 6000] => c: e[price > 9950]  within 1 minute  emit k
}
"""
MANY = "\n".join(
    f"rule more{n} {{ by k  match a: e[price < {2000 + n}] => b: e[price > {9000 + n}]"
    f" => c: e[price == {5000 + n}]  within 1 minute }}"
    for n in range(100)
)


def write(folder: Path, number: int, first: int, keys: Ints, prices: Ints, at: float) -> Path:
    """A file of events with ids from `first` on and times within the second that begins at `at`."""
    rows = np.tile(np.frombuffer(TEMPLATE, np.uint8), (len(keys), 1))
    _digits(rows, _AT["eid"] + 1, 12, first + np.arange(len(keys)))
    _digits(rows, _AT["k"] + 1, 7, keys)
    _digits(rows, _PRICE, 4, prices)
    second = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)).encode()
    rows[:, _AT["ts"] : _AT["ts"] + 19] = np.frombuffer(second, np.uint8)
    _digits(rows, _AT["ts"] + 20, 3, np.arange(len(keys)) * 1000 // len(keys))
    made = folder / f"{number:09d}.jsonl"
    made.write_bytes(rows.tobytes())
    return made


def _digits(rows: npt.NDArray[np.uint8], at: int, width: int, numbers: Ints) -> None:
    for place in range(width):
        rows[:, at + width - 1 - place] = ord("0") + numbers // 10**place % 10


class Matches:
    """The alerts of `rare`, counted by a plain loop: three events of a key in a row, each in one of them."""

    def __init__(self) -> None:
        self._last: dict[int, list[tuple[float, int]]] = {}
        self.found = 0

    def take(self, keys: Ints, prices: Ints, at: float) -> None:
        """Events of a second, in order."""
        times = at + np.arange(len(keys)) * 1000 // len(keys) / 1000
        for key, price, moment in zip(keys.tolist(), prices.tolist(), times.tolist(), strict=True):
            seen = self._last.setdefault(key, [])
            seen.append((moment, price))
            if len(seen) > 2:
                (begun, a), (_, b), (ended, c) = seen[-3:]
                if a < 5000 and b > 6000 and c > 9950 and ended - begun < 60:
                    self.found += 1
                    seen.clear()
                else:
                    del seen[0]


@contextmanager
def sending(
    of: job.Job, rate: int, chance: np.random.Generator, keys: int = KEYS
) -> Iterator[tuple[Callable[[], int], threading.Event]]:
    """Writes `rate` events a second from another thread until the event is set; gives how many it wrote."""
    written, over = 0, threading.Event()

    def run() -> None:
        nonlocal written
        number, due = 0, time.monotonic()
        inbox, aside = of.folder / "inbox", of.folder
        while not over.is_set():
            some, prices = chance.integers(0, keys, rate), chance.integers(1000, 10_000, rate)
            path = write(aside, number, written, some, prices, time.time())
            path.rename(inbox / path.name)
            written, number, due = written + rate, number + 1, due + 1
            with suppress(FileNotFoundError):  # what was read long ago makes room
                (inbox / f"{number - 300:09d}.jsonl").unlink()
            over.wait(max(0.0, due - time.monotonic()))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield (lambda: written), over
    finally:
        over.set()
        thread.join()


HEAD = (
    "| minute | events/s | behind | MiB: driver, JVM, workers | files open | threads "
    "| state MiB | of it outbox | files in checkpoint |"
)


def row(of: job.Job, minute: float, before: float, written: int) -> float:
    """Prints the row of a minute; the events that the job has had."""
    accepted = of.metrics().get("cep_events_total accepted", 0.0)
    memory = {"driver": 0, "JVM": 0, "workers": 0}
    files = threads = 0
    for kind, process in of.processes():
        with suppress(psutil.Error):
            memory[kind] += process.memory_full_info().pss >> 20
            files += process.num_fds()
            threads += process.num_threads()
    state = of.folder / "state"
    sizes = {path: path.stat().st_size for path in state.rglob("*") if _is_file(path)}
    outbox = sum(size for path, size in sizes.items() if path.name.startswith("outbox.db"))
    checkpoint = sum((state / "checkpoint") in path.parents for path in sizes)
    print(
        f"| {minute:.0f} | {(accepted - before) / 60:,.0f} | {written - accepted:,.0f} "
        f"| {', '.join(f'{n:,}' for n in memory.values())} | {files} | {threads} "
        f"| {sum(sizes.values()) >> 20:,} | {outbox >> 20:,} | {checkpoint:,} |",
        flush=True,
    )
    return accepted


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def minutes(of: job.Job, count: float, written: Callable[[], int], until: Callable[[], bool]) -> float:
    """Rows for so many minutes, or `until` something holds; the events that the job has had."""
    print(HEAD)
    print("|" + " --- |" * HEAD.count(" | ") + " --- |")
    had, minute, due = of.metrics().get("cep_events_total accepted", 0.0), 0, time.monotonic()
    while minute < count and not until():
        due += 60
        while time.monotonic() < due and not until():
            time.sleep(0.5)
            if of.process.poll() is not None:
                raise SystemExit((of.folder / "job.log").read_text("utf-8"))
        minute += 1
        had = row(of, minute, had, written())
    return had


def half(options: argparse.Namespace) -> None:
    """Half of what it takes, for long."""
    with job.running(PACK, "1 second", more=KEEP) as of:
        of.until("cep_batch_duration_seconds_count", 1)
        with sending(of, options.rate, np.random.default_rng(1)) as (written, over):
            minutes(of, options.minutes, written, lambda: False)
            over.set()
            of.until("cep_events_total accepted", written())
            _tell_alerts(of)


def ten(options: argparse.Namespace) -> None:
    """Ten times what it takes, and catching up."""
    feed = job.FILES
    with job.running(PACK + MANY, "1 second", more=KEEP, feed=feed) as of:
        of.until("cep_batch_duration_seconds_count", 1)
        with sending(of, 10 * options.rate, np.random.default_rng(2)) as (written, over):
            minutes(of, options.minutes, written, lambda: False)
            over.set()
            begun, had, all_ = time.monotonic(), of.metrics()["cep_events_total accepted"], written()
            caught = lambda: of.metrics().get("cep_events_total accepted", 0) >= all_  # noqa: E731
            minutes(of, 1e9, written, caught)
            print(f"caught up {all_ - had:,.0f} events at {(all_ - had) / (time.monotonic() - begun):,.0f}/s")
            print(f"peak {of.peak >> 20:,} MiB")


class _Receiver(BaseHTTPRequestHandler):
    ids: ClassVar[set[str]] = set()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.ids.add(self.headers["webhook-id"])
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing."""


def receiver(options: argparse.Namespace) -> None:
    """A receiver that is down, then answers."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), _Receiver, bind_and_activate=False)
    server.server_bind()  # it listens later: until then connections are refused
    hook = (
        f'\n[receivers.desk]\nkind = "webhook"\nurl = "http://127.0.0.1:{server.server_port}/"\n'
        'secret = "${LOAD_SECRET}"\nallow_private = true\n'
    )
    os.environ["LOAD_SECRET"] = f"whsec_{base64.b64encode(os.urandom(32)).decode()}"
    with job.running(PACK, "1 second", more=hook + KEEP) as of:
        of.until("cep_batch_duration_seconds_count", 1)
        with sending(of, options.rate, np.random.default_rng(3)) as (written, over):
            minutes(of, options.minutes, written, lambda: False)
            over.set()
            of.until("cep_events_total accepted", written())
        raised = int(of.metrics()["cep_alerts_total"])
        begun = time.monotonic()
        server.server_activate()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        while len(_Receiver.ids) < raised:
            if time.monotonic() > begun + 3600:
                raise SystemExit(f"{len(_Receiver.ids):,} of {raised:,} alerts came in an hour")
            time.sleep(0.5)
        print(f"{raised:,} alerts were all there {time.monotonic() - begun:,.0f} s after it answered")
    server.shutdown()


def _speed(options: argparse.Namespace, keys: int, hot: bool) -> None:
    chance, plain, first = np.random.default_rng(4), Matches(), 0
    with tempfile.TemporaryDirectory() as folder:
        paths, a_file = [], 50_000
        files = options.events // a_file
        for number in range(files):
            some, prices = chance.integers(0, keys, a_file), chance.integers(1000, 10_000, a_file)
            if hot:
                some[chance.random(a_file) < 0.5] = 7
            if number < files - 1:  # those of the last second wait for the watermark
                plain.take(some, prices, 1_767_225_600 + number)
            paths.append(write(Path(folder), number, first, some, prices, 1_767_225_600 + number))
            first += a_file
        with job.running(PACK, "100 milliseconds", more=KEEP) as of:
            of.until("cep_batch_duration_seconds_count", 1)
            for path in paths[:5]:
                path.rename(of.folder / "inbox" / path.name)
            of.until("cep_events_total accepted", 5 * a_file)
            used, begun = sum(of.processor().values()), time.perf_counter()
            for path in paths[5:]:
                path.rename(of.folder / "inbox" / path.name)
            of.until("cep_events_total accepted", first)
            seconds = time.perf_counter() - begun
            used = sum(of.processor().values()) - used
            raised = int(of.metrics().get("cep_alerts_total", 0))
            peak = of.peak >> 20
    rate = (first - 5 * a_file) / seconds
    what = "one key has half" if hot else "spread"
    print(
        f"| {keys:,} | {what} | {rate:,.0f} | {used:.1f} | {peak:,} | {raised:,} | {plain.found:,} |",
        flush=True,
    )


def _speeds(options: argparse.Namespace, cases: list[tuple[int, bool]]) -> None:
    print("| keys | events | events/s | processor s | peak MiB | alerts | by a plain loop |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for case in cases:
        _speed(options, *case)


def hot(options: argparse.Namespace) -> None:
    """One key with half of all events."""
    _speeds(options, [(KEYS, False), (KEYS, True)])


def keys(options: argparse.Namespace) -> None:
    """A million keys."""
    _speeds(options, [(KEYS, False), (1_000_000, False)])


def _tell_alerts(of: job.Job) -> None:
    found = of.metrics()
    print(f"{int(found.get('cep_alerts_total', 0)):,} alerts; peak {of.peak >> 20:,} MiB")


KEEP = '\n[record]\nkeep = "0"\n'
CASES = {one.__name__: one for one in (half, ten, receiver, hot, keys)}
DEFAULTS = {"half": (60, 100_000), "ten": (10, 20_000), "receiver": (60, 10_000)}


def main() -> None:
    """The command line of the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--rate", type=int)
    parser.add_argument("--events", type=int)
    options = parser.parse_args()
    usual = DEFAULTS.get(options.case, (0, 0))
    options.minutes = options.minutes or usual[0]
    options.rate = options.rate or usual[1]
    options.events = options.events or (4_000_000 if options.case == "keys" else 2_000_000)
    print(calibration())
    CASES[options.case](options)
    print(calibration())


if __name__ == "__main__":
    main()
