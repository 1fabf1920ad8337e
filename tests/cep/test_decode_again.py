"""Records of dead letters that are decoded by themselves: as the file's reader would, at their places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.decode.blocks import Decoder, decoder
from cep.decode.formats import FeedFormat
from cep.events import FILE, ID, OFFSET
from rules.packs import load_texts
from rules.typed import Stream

TEXT = 'pack p version "1"\nstream s { a: string  n: long  t: timestamp  time t }\nrule r { on s emit a }\n'
TIME = '"t": "2026-01-01T00:00:00Z"'
GOOD = f'{{"a": "x", "n": 1, {TIME}}}'.encode()
LINES = (
    GOOD, f'{{"a": "é", "n": 22, {TIME}}}'.encode(), b"", b"  ", b"{", b"\xff", GOOD + b"\n" + GOOD,
    f'{{"a": "x", "n": "no", {TIME}}}'.encode(), GOOD + b"\r", b"\n",
)  # fmt: skip
CELLS = (
    b"x,1,2026-01-01T00:00:00Z", b'"a,""b\n",1,2026-01-01T00:00:00Z', b'"x,1,2026-01-01T00:00:00Z', b"x,1",
    b"", b"  ", b"x,no,2026-01-01T00:00:00Z", b"x,1,2026-01-01T00:00:00Z\ny,2,2026-01-01T00:00:00Z",
)  # fmt: skip


def stream() -> Stream:
    return load_texts([("p.rules", TEXT)]).need().streams[0]


def one_by_one(reader: Decoder, records: list[tuple[int, bytes]], file: str) -> tuple[set[object], ...]:
    """Events, and places of what is none, where each record is a block of its own."""
    events, dead = set(), set()
    for offset, data in records:
        found = reader.decode_block(data, file, offset, "s", ("a", "n", "t"))
        if found.events.table.num_rows == 1 and not found.dead:
            events.add((offset, found.events.table.column("a")[0].as_py()))
        else:
            dead.add(offset)
    return events, dead


@pytest.mark.parametrize(("file", "kinds"), [("x.jsonl", LINES), ("x.csv.gz", CELLS)])
@given(data=st.data())
def test_records_by_themselves_are_what_each_is_alone(
    file: str, kinds: tuple[bytes, ...], data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.sampled_from(kinds), max_size=8))
    records = [(1 + 1_000 * n, one) for n, one in enumerate(chosen)]
    reader = decoder(stream())
    found = list(reader.decode_records(records, file, "s", ("a", "n", "t")))
    events = {
        (offset, a)
        for one in found
        for offset, a in zip(
            one.events.table.column(OFFSET).to_pylist(), one.events.table.column("a").to_pylist(), strict=True
        )
    }
    dead = {letter.offset for one in found for letter in one.dead}
    assert (events, dead) == one_by_one(reader, records, file)
    for one in found:
        assert one.events.table.column(ID).to_pylist() == [
            f"{file}:{offset}" for offset in one.events.table.column(OFFSET).to_pylist()
        ]
        assert set(one.events.table.column(FILE).to_pylist()) <= {file}
        assert all(letter.data == dict(records)[letter.offset].rstrip(b"\r") for letter in one.dead)


def test_what_is_none_or_several_says_so() -> None:
    reader = decoder(stream())
    records = [(0, GOOD + b"\n" + GOOD), (500, b" ")]
    found = [letter.reason for one in reader.decode_records(records, "x.json", "s") for letter in one.dead]
    assert found == ["it holds 2 records, not one", "there is no record in it"]
    (rows,) = reader.decode_records([(3, b"{}")], "x.parquet", "s")
    assert "a row of Parquet is not decoded from text" in rows.dead[0].reason


def test_without_a_header_columns_are_those_of_the_stream() -> None:
    reader = decoder(stream(), FeedFormat(header=False))
    (found,) = reader.decode_records([(0, CELLS[0])], "x.csv", "s")
    assert found.events.table.column("a").to_pylist() == ["x"]
