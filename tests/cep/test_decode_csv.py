"""CSV: everything is text, empty is null, quotes hide line ends; neighbours and cuts change nothing."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import pytest
from decoding import stream_of
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.decode import Decoded, FeedFormat, decoder
from cep.decode.records import complete, records_of
from rules.typed import Stream
from rules.types import ListOf, Scalar, Type


def block(stream: Stream, data: bytes, feed: FeedFormat | None = None) -> Decoded:
    return decoder(stream, feed).decode_block(data, "in.csv", 0, "s")


def cell(type_: Type, text: str, nullable: bool = False) -> Decoded:
    stream = stream_of({"x": type_}, ("x",) if nullable else ())
    return block(stream, f"at,x,eid\n2020-01-01,{text},e\n".encode())


def values(decoded: Decoded, column: str = "x") -> list[object]:
    return decoded.events.table.column(column).to_pylist()


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (Scalar.LONG, "42", 42),
        (Scalar.LONG, '" -7 "', -7),
        (Scalar.DOUBLE, "1", 1.0),
        (Scalar.DOUBLE, "1.5e3", 1500.0),
        (Scalar.DECIMAL, "1.10", Decimal("1.10")),
        (Scalar.BOOLEAN, "true", True),
        (Scalar.BOOLEAN, "0", False),
        (Scalar.STRING, "0123", "0123"),
        (Scalar.STRING, " x ", " x "),
        (Scalar.STRING, '"a, ""b""\nc"', 'a, "b"\nc'),
        (Scalar.STRING, 'a "b" c', 'a "b" c'),
        (Scalar.STRING, "null", "null"),
    ],
)
def test_cells_become_values(type_: Type, text: str, value: object) -> None:
    decoded = cell(type_, text)
    assert not decoded.dead, decoded.dead[0].reason
    assert values(decoded) == [value]


@pytest.mark.parametrize(
    ("type_", "text", "reason"),
    [
        (Scalar.LONG, "1.0", "`x` is a long, the cell holds `1.0`"),
        (Scalar.LONG, "9223372036854775808", "9223372036854775808"),
        (Scalar.DOUBLE, "abc", "`x` is a double"),
        (Scalar.DOUBLE, "nan", "`x` is a double"),
        (Scalar.DOUBLE, "1e400", "`x` is a double"),
        (Scalar.DOUBLE, '"1,5"', "`x` is a double"),
        (Scalar.BOOLEAN, "yes", "`x` is a boolean"),
        (Scalar.DECIMAL, "x", "`x` is a decimal"),
        (Scalar.STRING, "", "lacks the required field `x`"),
        (Scalar.STRING, '""', "lacks the required field `x`"),
        (Scalar.TIMESTAMP, "tomorrow", "`x` is not an ISO timestamp"),
        (Scalar.STRING, "a,b", "has 4 cells where the file has 3 columns"),
        (ListOf(Scalar.LONG), "1", "lacks the required field `x`"),
    ],
)
def test_other_cells_become_dead_letters(type_: Type, text: str, reason: str) -> None:
    decoded = cell(type_, text)
    (letter,) = decoded.dead
    assert reason in letter.reason
    assert (letter.offset, letter.data) == (9, f"2020-01-01,{text},e".encode())


@pytest.mark.parametrize("type_", [s for s in Scalar if s is not Scalar.NULL])
def test_an_empty_cell_is_null(type_: Type) -> None:
    assert values(cell(type_, "", nullable=True)) == [None]


STREAM = stream_of({"x": Scalar.STRING, "n": Scalar.LONG}, ("x", "n"))


@pytest.mark.parametrize(
    ("data", "events", "dead"),
    [
        (b"eid,at,x,n\r\na,2020-01-01,x,1\r\n\r\nb,2020-01-01,y,2", 2, 0),
        (b"\xef\xbb\xbfeid,at\na,2020-01-01\n", 1, 0),
        (b'\n"eid","at"\na,2020-01-01\n', 1, 0),
        (b"eid,at\na,2020-01-01\n   \nb,2020-01-01\n", 2, 1),
        (b"eid,at,x,n\n", 0, 0),
        (b"", 0, 0),
        (b"eid,at,x\na,2020-01-01,\xff\nb,2020-01-01,y\n", 1, 1),
        (b'eid,at,x\na,2020-01-01,"open\nb,2020-01-01,y\n', 1, 1),
        (b'eid,at,x\na,2020-01-01,"two\nlines"\nb,2020-01-01,y\n', 2, 0),
        (b'eid,at,x\na,2020-01-01,5" pipe\nb,2020-01-01,"y"\nc,2020-01-01,7" pipe\n', 3, 0),
        (b"eid,at,x\na,2020-01-01,y\rb,2020-01-01,y\n\r\rc,2020-01-01,z\n", 1, 1),
        (b"eid,at,eid\na,2020-01-01,b\n", 0, 1),
        (b"id,at\na,2020-01-01\n", 0, 1),
    ],
)
def test_records_and_headers(data: bytes, events: int, dead: int) -> None:
    decoded = block(STREAM, data)
    counted = (decoded.events.table.num_rows, len(decoded.dead))
    if b"\r\rc" in data:
        assert sum(counted) >= 2, decoded.dead
        return
    assert counted == (events, dead), decoded.dead
    for letter in decoded.dead:
        assert data[letter.offset : letter.offset + len(letter.data)] == letter.data


def test_without_a_header_columns_stand_as_declared() -> None:
    feed = FeedFormat(header=False, delimiter=";", constants=(("x", "const"),))
    decoded = block(STREAM, b"a;2020-01-01;5\nb;2020-01-02;\n", feed)
    assert not decoded.dead, decoded.dead
    assert (values(decoded, "eid"), values(decoded), values(decoded, "n")) == (
        ["a", "b"],
        ["const"] * 2,
        [5, None],
    )
    assert values(decoded, "@offset") == [0, 15]


CELLS = st.one_of(
    st.sampled_from(["", "1", "x", '"', '""', '"a"', 'a"b', '"a""b"', '"a\nb"', "\r", "é", "1,2", '"1,2"']),
    st.text(st.sampled_from('ab1",\n\r '), max_size=5),
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=examples(400), deadline=None)
@given(rows=st.lists(st.lists(CELLS, min_size=1, max_size=3), max_size=8), junk=st.binary(max_size=4))
def test_what_is_malformed_depends_on_no_neighbour(rows: list[list[str]], junk: bytes) -> None:
    text = "\n".join(",".join(["e", "2020-01-01", *row]) for row in rows).encode() + junk
    using = decoder(STREAM)
    columns = ("eid", "at", "x", "n")
    whole = using.decode_block(text, "f.csv", 0, "s", columns)
    records = records_of(memoryview(text), ",")
    alone = []
    for i, start in enumerate(records.lines.starts):
        if records.unclosed[i]:
            continue
        alone.append(using.decode_block(records.lines[i] + b"\r\n", "f.csv", int(start) + 10, "s", columns))
    events = [{**row, "@offset": row["@offset"] - 10} for d in alone for row in d.events.table.to_pylist()]
    if text.startswith(b"\xef\xbb\xbf"):
        return
    assert whole.events.table.to_pylist() == events
    letters = {(d.offset - 10, d.data) for one in alone for d in one.dead}
    assert {(d.offset, d.data) for d in whole.dead if d.reason != "a quote is not closed"} == letters


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(
        st.tuples(st.text(st.sampled_from('ab",\n é'), min_size=1, max_size=6), st.integers() | st.none()),
        max_size=8,
    )
)
def test_what_a_csv_writer_writes_is_read_back(rows: list[tuple[str, int | None]]) -> None:
    rows = [(x, n) for x, n in rows if n is None or -(2**63) <= n < 2**63]
    written = io.StringIO(newline="")
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow(["eid", "at", "x", "n"])
    writer.writerows(["e", "2020-01-01", x, "" if n is None else n] for x, n in rows)
    data = written.getvalue().encode()
    decoded = block(STREAM, data)
    assert not decoded.dead, decoded.dead
    assert list(zip(values(decoded), values(decoded, "n"), strict=True)) == rows
    for offset in values(decoded, "@offset"):
        assert data[offset:].startswith(b"e,2020-01-01")
    assert complete(memoryview(data), ",") == len(data)


def test_many_bad_records_lose_no_good_one() -> None:
    rows = [f"e{i},2020-01-01,x,{'bad' if i % 7 == 0 else i}" for i in range(10_000)]
    decoded = block(STREAM, "\n".join(["eid,at,x,n", *rows]).encode())
    assert values(decoded, "n") == [i for i in range(10_000) if i % 7]
    assert len(decoded.dead) == len(range(0, 10_000, 7))
