"""An event far ahead of the job's clock is a dead letter; one within `future` is not."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from decoding import BASE, BASE_TIME, stream_of

from alerts.notation import timestamp
from cep.decode import Decoded, decoder
from cep.events import MAX_TIME, MIN_TIME

DAY = 86_400 * 10**9
HOUR = 3600 * 10**9


def decoded(kind: str, times: list[int], clock: int | None, future: int | None = None) -> Decoded:
    stream = replace(stream_of({}), future=future)
    rows = [{**BASE, "eid": f"e{n}", "at": timestamp(time)} for n, time in enumerate(times)]
    if kind == "jsonl":
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    elif kind == "csv":
        data = b"eid,at\n" + "".join(f"{row['eid']},{row['at']}\n" for row in rows).encode()
    else:
        at = pa.array(times, pa.timestamp("ns", "UTC"))
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table({"eid": [row["eid"] for row in rows], "at": at}), sink)
        data = sink.getvalue().to_pybytes()
    return decoder(stream, clock=clock).decode_block(data, f"in.{kind}", 0, "s")


def ids(found: Decoded) -> list[str]:
    return found.events.table.column("eid").to_pylist()


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_what_is_further_ahead_is_a_dead_letter(kind: str) -> None:
    clock = BASE_TIME
    times = [clock, clock + DAY, clock + DAY + 1, clock + 200 * 365 * DAY, clock - DAY]
    found = decoded(kind, times, clock)
    assert ids(found) == ["e0", "e1", "e4"]
    near, far = found.dead
    assert near.reason == (
        "its time, 2020-01-02T00:00:00.000000001Z, is more than PT24H ahead of the clock, "
        "2020-01-01T00:00:00Z"
    )
    assert far.stage == "decode"
    assert b"e3" in far.data
    assert [letter.offset for letter in found.dead] == sorted(letter.offset for letter in found.dead)


def test_the_stream_says_how_far() -> None:
    times = [BASE_TIME + HOUR, BASE_TIME + HOUR + 1]
    assert ids(decoded("jsonl", times, BASE_TIME, future=HOUR)) == ["e0"]
    assert ids(decoded("jsonl", times, BASE_TIME, future=0)) == []
    assert ids(decoded("jsonl", times, BASE_TIME, future=400 * 365 * DAY)) == ["e0", "e1"]


def test_without_a_clock_nothing_is_too_far() -> None:
    assert ids(decoded("jsonl", [BASE_TIME + 200 * 365 * DAY], None)) == ["e0"]


@pytest.mark.parametrize("clock", [MIN_TIME, 0, MAX_TIME])
def test_any_clock_can_be_compared_with(clock: int) -> None:
    found = decoded("jsonl", [BASE_TIME], clock)
    assert len(found.dead) == (clock + DAY < BASE_TIME)
