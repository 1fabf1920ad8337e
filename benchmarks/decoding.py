"""JSON lines and CSV to columns on one core: the kernel, the readers behind it, and pyarrow's own readers.

    python benchmarks/decoding.py [--lines 200000] [--turns 5] [--only NAME ...]

Million lines a second of processor time, medians of turns in which each reads the same block, one after the
other. pyarrow's figure is its reader alone, on one thread, with the types given; ours are whole blocks with
ids, places, checks and dead letters. For calibration: `json.loads` of each line, `findall` of all strings.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.json as pj
from calibration import calibration

from cep.decode import Decoder, decoder
from cep.decode.compiled import load
from cep.decode.convert import json_type
from rules.packs import load_texts
from rules.typed import Stream

PACK = """
pack bench version "1"

stream seven {
  eid:   string
  at:    timestamp
  card:  string
  price: double?
  count: long?
  fresh: boolean?
  note:  string?
  id     eid
  time   at
}

stream four {
  eid:   string
  at:    timestamp
  card:  string
  price: double
  id     eid
  time   at
}

stream nested {
  eid:   string
  at:    timestamp
  card:  string
  price: decimal
  items: list<{ sku: string  n: long }>
  id     eid
  time   at
}

rule large {
  match  a: seven[price > 50]
  emit   id = a.eid
}
"""
START = np.datetime64(1_767_225_600_000, "ms")
Row = dict[str, str]
STRINGS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')


def rows(count: int) -> Iterator[Row]:
    """The values of lines by key, as JSON spells them: some 150 bytes a line with their keys."""
    random = np.random.default_rng(1)
    times = np.datetime_as_string(START + np.arange(count), unit="ms")
    cards, cents = random.integers(0, 100_000, count), random.integers(0, 10_000, count)
    for number in range(count):
        yield {
            "eid": f'"e{number:09}"', "at": f'"{times[number]}Z"', "card": f'"card-{cards[number]:07}"',
            "price": str(cents[number] / 100), "count": str(cents[number] % 17),
            "fresh": "true" if cents[number] % 2 else "false",
            "note": f'"bought at place {cards[number] % 977}"',
        }  # fmt: skip


def line(row: Mapping[str, str], comma: str = ", ", colon: str = ": ") -> str:
    """A line with a row's keys in their order."""
    return "{" + comma.join(f'"{key}"{colon}{value}' for key, value in row.items()) + "}"


def as_csv(written: Sequence[Row]) -> list[str]:
    """Records of CSV with a header; a value in quotes has them only if there is a comma inside."""
    cells = ((v if "," in v else v.strip('"') for v in row.values()) for row in written)
    return [",".join(written[0]), *(",".join(row) for row in cells)]


def blocks(count: int) -> dict[str, tuple[str, list[str]]]:
    """The streams and lines that are measured, by name."""
    random = np.random.default_rng(2)
    plain = list(rows(count))
    lines = [line(row) for row in plain]

    def missing(row: Row) -> Row:
        return {k: v for k, v in row.items() if k not in ("price", "count", "note") or random.random() < 0.7}

    def shuffled(row: Row) -> Row:
        return dict(random.permutation(list(row.items())).tolist())

    escaped = [{**row, "note": r'"\"caf\u00e9\"\n"'} for row in plain]
    nested = [{**row, "items": '[{"sku": "a1", "n": 1}, {"sku": "b2", "n": 2}]'} for row in plain]
    unread = [{**row, "device": '{"os": "x", "seen": [1, 2, {"a": null}]}'} for row in plain]
    return {
        "seven columns": ("seven", lines),
        "four of seven": ("four", lines),
        "seven, no blanks": ("seven", [line(row, ",", ":") for row in plain]),
        "three keys missing in 30 %": ("seven", [line(missing(row)) for row in plain]),
        "keys in random order": ("seven", [line(shuffled(row)) for row in plain]),
        "an escape in each line": ("seven", [line(row) for row in escaped]),
        "an unread object in each": ("seven", [line(row) for row in unread]),
        "a list of records, a decimal": ("nested", [line(row) for row in nested]),
        "seven columns as CSV": ("seven", as_csv(plain)),
        "the same, one in quotes": ("seven", as_csv([{**row, "note": '"a, b"'} for row in plain])),
        "1 % malformed": ("seven", [text[:-1] if n % 100 == 0 else text for n, text in enumerate(lines)]),
    }


def readers(using: Decoder, data: bytes, file: str) -> dict[str, Callable[[], object]]:
    """Functions that read a block, by name. pyarrow's readers go up to the first line that they refuse."""
    kernel = load()

    def ours(compiled: bool) -> object:
        with (
            patch("cep.decode.json_lines.kernel_for", lambda _: kernel if compiled else None),
            patch("cep.decode.csv_records.kernel_for", lambda _: kernel if compiled else None),
        ):
            return using.decode_block(data, file, 0, "")

    schema = pa.schema([(field.name, json_type(field.type, using.feed)) for field in using.stream.fields])
    options = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    size = {"use_threads": False, "block_size": 4 << 20}

    def arrows() -> object:
        try:
            if file.endswith(".csv"):
                columns = pcsv.ConvertOptions(column_types=schema, include_columns=schema.names)
                return pcsv.read_csv(pa.BufferReader(data), pcsv.ReadOptions(**size), convert_options=columns)
            return pj.read_json(pa.BufferReader(data), pj.ReadOptions(**size), options)
        except pa.ArrowInvalid:
            return None

    return {"kernel": lambda: ours(True), "reader": lambda: ours(False), "pyarrow": arrows}


def measured(stream: Stream, lines: Sequence[str], turns: int) -> dict[str, float]:
    """Lines a second of processor time of each reader, medians."""
    file = "in.jsonl" if lines[1].startswith("{") else "in.csv"
    reading = readers(decoder(stream), "\n".join(lines).encode(), file)
    spent: dict[str, list[float]] = {name: [] for name in reading}
    for _ in range(turns):
        for name, read in reading.items():
            begin = time.process_time()
            read()
            spent[name].append(time.process_time() - begin)
    return {name: len(lines) / statistics.median(seconds) for name, seconds in spent.items()}


def main() -> None:
    """Prints the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--lines", type=int, default=200_000)
    options.add_argument("--turns", type=int, default=5)
    options.add_argument("--only", nargs="+", help="names of blocks")
    given = options.parse_args()
    print(calibration())
    streams = load_texts([("bench.rules", PACK)]).need().streams
    of_name = {stream.name: stream for stream in streams}
    chosen = blocks(given.lines)
    text = "\n".join(chosen["seven columns"][1]).encode()
    works: dict[str, Callable[[], object]] = {
        "json.loads": lambda: [*map(json.loads, text.splitlines())],
        "findall": lambda: STRINGS.findall(text),
    }
    for name, work in works.items():
        begin = time.process_time()
        work()
        print(f"{name}: {given.lines / (time.process_time() - begin) / 1e6:.2f} M lines/s")
    print(f"{'M lines/s':<30} bytes  kernel  reader pyarrow   kernel is so many times reader, pyarrow")
    for name, (stream, lines) in chosen.items():
        if given.only and name not in given.only:
            continue
        found = measured(of_name[stream], lines, given.turns)
        kernel, reader, arrow = (found[one] / 1e6 for one in ("kernel", "reader", "pyarrow"))
        length = sum(map(len, lines)) / len(lines)
        # pyarrow's reader stops at the first malformed line.
        whole = arrow < 100 * reader
        beside, against = (
            (f"{arrow:>8.2f}", f"{kernel / arrow:>12.1f}") if whole else (f"{'-':>8}", f"{'-':>12}")
        )
        print(
            f"{name:<30}{length:>6.0f}{kernel:>8.2f}{reader:>8.2f}{beside}{kernel / reader:>12.1f}{against}"
        )


if __name__ == "__main__":
    main()
