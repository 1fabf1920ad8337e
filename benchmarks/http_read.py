"""Events that came by POST as a job reads them from a bucket: objects fetched ahead beside one by one.

    python benchmarks/http_read.py [--objects 300] [--events 400] [--turns 3]

The store is moto's on loopback in a process of its own; it answers each request after the milliseconds that
the table says, as one that is farther away. One process reads what a mapper of a job reads: it fetches and
decodes. Figures are medians of the turns, which alternate.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from calibration import calibration

from cep.buckets import Bucket
from cep.decode.blocks import Decoder, decoder
from cep.decode.formats import BY_NAME
from cep.sources.http.extents import HttpExtent, HttpPart
from cep.sources.http.http import Http
from cep.sources.http.segments import path_of
from rules.packs import load_texts

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / "strategies")]
DELAYS = (0, 10, 30)
"""Milliseconds."""
PACK = """pack p version "1"
stream payment { eid: string  ts: timestamp  k: string  price: long  id eid  time ts }
rule large { on payment[price > 9990] emit eid }
"""
LINE = b'{"eid":"e%09d","ts":"2026-01-05T09:00:00.000Z","k":"k%04d","price":%d}\n'


def store() -> None:
    """Has a bucket until its standard input ends; prints its address, and sets each delay that it reads."""
    import object_store

    with object_store.running() as found:
        print(found.bucket().url, found.endpoint, flush=True)
        for line in sys.stdin:
            found.set_delay(float(line) / 1e3)
            print("set", flush=True)


def written(source: Http, objects: int, events: int) -> list[HttpPart]:
    """Puts objects of so many events into the bucket; the parts that a job reads of them."""
    assert source.bucket is not None
    folder, parts = source.bucket / "received" / "payment", list[HttpPart]()
    for number in range(objects):
        first = number * events
        data = b"".join(LINE % (n, n % 977, n % 10_000) for n in range(first, first + events))
        path = path_of(folder, number + 1)
        path.write_bytes(data)
        parts += source.parts(HttpExtent("payment", str(path), 0, len(data)), BY_NAME, 1 << 25)
    return parts


def seconds(source: Http, parts: Sequence[HttpPart], using: Decoder, *, ahead: bool, events: int) -> float:
    """The seconds that all of them take."""
    begun = time.perf_counter()
    read = sum(
        len(one.events.table)
        for part in (source.ahead(parts) if ahead else parts)
        for one in source.read(part, using, strict=True)
    )
    assert read == events
    return time.perf_counter() - begun


def main() -> None:
    """Prints the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--objects", type=int, default=300)
    options.add_argument("--events", type=int, default=400)
    options.add_argument("--turns", type=int, default=3)
    options.add_argument("--store", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.store:
        store()
        return
    import object_store

    print(calibration())
    kept = subprocess.Popen(
        [sys.executable, __file__, "--store"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert kept.stdin is not None
    assert kept.stdout is not None
    keys = object_store.REGION, object_store.KEY, object_store.SECRET
    url, endpoint = kept.stdout.readline().split()
    source = Http().within(Bucket(url, endpoint, *keys).path)
    parts, every = written(source, given.objects, given.events), given.objects * given.events
    using = decoder(load_texts([("p.rules", PACK)]).need().stream("payment"), BY_NAME)
    print("| store answers after ms | one by one, events/s | fetched ahead, events/s | ratio |")
    print("| --- | --- | --- | --- |")
    for delay in DELAYS:
        print(delay, file=kept.stdin, flush=True)
        kept.stdout.readline()
        took: dict[bool, list[float]] = {True: [], False: []}
        for turn in range(2 * given.turns):
            ahead = bool(turn % 2)
            took[ahead].append(seconds(source, parts, using, ahead=ahead, events=every))
        alone, together = (every / statistics.median(took[ahead]) for ahead in (False, True))
        print(f"| {delay} | {alone:,.0f} | {together:,.0f} | {together / alone:.1f} |", flush=True)
    kept.communicate()


if __name__ == "__main__":
    main()
