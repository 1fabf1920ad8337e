"""JSON lines: what is an event, what is malformed, and that neighbours and cuts change neither."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
from decoding import BASE, BASE_TIME, stream_of
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.decode import Decoded, FeedFormat, decode_typed, decode_values, decoder
from cep.events import event_schema
from rules.typed import Stream
from rules.types import ListOf, Record, Scalar, Type


def block(stream: Stream, data: bytes, feed: FeedFormat | None = None, offset: int = 0) -> Decoded:
    return decoder(stream, feed).decode_block(data, "in.jsonl", offset, "s")


def line(type_: Type, text: str | bytes, nullable: bool = False) -> Decoded:
    value = text if isinstance(text, bytes) else text.encode()
    data = json.dumps(BASE).encode()[:-1] + b', "x": ' + value + b"}"
    return block(stream_of({"x": type_}, ("x",) if nullable else ()), data)


def values(decoded: Decoded, column: str = "x") -> list[object]:
    return decoded.events.table.column(column).to_pylist()


ACCEPTED = [
    (Scalar.LONG, "9223372036854775807", 2**63 - 1),
    (Scalar.LONG, "-9223372036854775808", -(2**63)),
    (Scalar.LONG, "-0", 0),
    (Scalar.DOUBLE, "1", 1.0),
    (Scalar.DOUBLE, "1e-400", 0.0),
    (Scalar.DOUBLE, "123456789012345678901234567890", 1.2345678901234568e29),
    (Scalar.DECIMAL, "1.10", Decimal("1.10")),
    (Scalar.DECIMAL, '"1.10"', Decimal("1.10")),
    (Scalar.DECIMAL, "12345678901234567890", Decimal("12345678901234567890")),
    (Scalar.BOOLEAN, "true", True),
    (Scalar.STRING, '"1"', "1"),
    (Scalar.STRING, '""', ""),
    (Scalar.STRING, '"\\u0000"', "\0"),
    (Scalar.STRING, '"\\ud83d\\ude00 \\/"', "\U0001f600 /"),
    (Scalar.TEXT, '"' + "long " * 10_000 + '"', "long " * 10_000),
    (ListOf(Scalar.LONG), "[1, 2]", [1, 2]),
    (ListOf(Scalar.STRING), "[]", []),
    (ListOf(Scalar.DOUBLE), "[1, 2.5]", [1.0, 2.5]),
    (
        Record((("os", Scalar.STRING), ("v", Scalar.DOUBLE)), frozenset({"v"})),
        '{"os": "x", "z": [1]}',
        {"os": "x", "v": None},
    ),
]

REFUSED = [
    (Scalar.LONG, "9223372036854775808", "does not fit into 64 bits"),
    (Scalar.LONG, "1.0", "is a long, the event has a number with a fraction"),
    (Scalar.LONG, "1.5", "is a long"),
    (Scalar.LONG, "1e2", "is a long"),
    (Scalar.LONG, '"1"', "is a long, the event has a string"),
    (Scalar.LONG, "true", "is a long, the event has a boolean"),
    (Scalar.LONG, "01", "not JSON"),
    (Scalar.DOUBLE, '"1.5"', "is a double, the event has a string"),
    (Scalar.DOUBLE, "NaN", "is not a finite number"),
    (Scalar.DOUBLE, "-Infinity", "is not a finite number"),
    (Scalar.DOUBLE, "Inf", "is not a finite number"),
    (Scalar.DOUBLE, "1e400", "too big"),
    (Scalar.DOUBLE, "true", "is a double, the event has a boolean"),
    (Scalar.DECIMAL, "0.1234567890123456789", "more than 18 digits behind the point"),
    (Scalar.DECIMAL, '"x"', "decimal"),
    (Scalar.DECIMAL, "1e20", "more than 20 digits before the point"),
    (Scalar.DECIMAL, "1e-19", "exponent below -18"),
    (Scalar.DECIMAL, "1e-57", "exponent below -18"),
    (Scalar.DECIMAL, "1e-999999999", "exponent below -18"),
    (Scalar.DECIMAL, "0e-999999999", "exponent below -18"),
    (Scalar.DECIMAL, "-2.5E-2147483647", "exponent below -18"),
    (Scalar.DECIMAL, "1e-0000000000057", "exponent below -18"),
    (Scalar.DECIMAL, '"1e-999999999"', "exponent below -18"),
    (Scalar.DECIMAL, '"1.e-999999999"', "exponent below -18"),
    (Scalar.DECIMAL, '"1\\u0065-999999999"', "exponent below -18"),
    (Scalar.DECIMAL, '"1e\\u002D999999999"', "exponent below -18"),
    (Scalar.DECIMAL, '"1e-\\u0039\\u0039"', "exponent below -18"),
    (Scalar.DECIMAL, '1e-999999999, "other": Inf', "exponent"),
    (ListOf(Scalar.DECIMAL), "[1, 1e-999999999]", "`x[1]` is written with an exponent below -18"),
    (Record((("v", Scalar.DECIMAL),)), '{"v": 1e-999999999}', "`x.v` is written with an exponent below -18"),
    (ListOf(Scalar.DECIMAL), "[1, 1e20]", "`x[1]` has more than 20 digits"),
    (ListOf(Record((("v", ListOf(Scalar.LONG)),))), '[{"v": []}, {"v": [1, "2"]}]', "`x[1].v[1]` is a long"),
    (Scalar.BOOLEAN, "1", "is a boolean, the event has a whole number"),
    (Scalar.BOOLEAN, '"true"', "is a boolean, the event has a string"),
    (Scalar.STRING, "1", "is a string, the event has a whole number"),
    (Scalar.STRING, "{}", "is a string, the event has an object"),
    (Scalar.STRING, "null", "lacks the required field `x`"),
    (Scalar.STRING, '"\\ud800"', "surrogate"),
    (Scalar.STRING, b'"\xff"', "not valid UTF-8"),
    (Scalar.STRING, b'"a\x00b"', "not JSON"),
    (Scalar.STRING, b'"a\tb"', "not JSON"),
    (Scalar.STRING, "'x'", "not JSON"),
    (Scalar.STRING, '"x", "x": "y"', "`x` occurs twice"),
    (Scalar.STRING, '"x",', "not JSON"),
    (Scalar.DURATION, '"5 parsecs"', "is not an ISO 8601 duration"),
    (ListOf(Scalar.LONG), "[1.5]", "is a long"),
    (ListOf(Scalar.DOUBLE), "[1, NaN]", "is not a finite number"),
    (ListOf(Scalar.LONG), "1", "is a list, the event has a whole number"),
    (Record((("os", Scalar.STRING),)), '{"os": 1}', "`x.os` is a string"),
    (Record((("v", Scalar.DOUBLE),)), '{"v": NaN}', "`x.v` is not a finite number"),
    (Record((("v", Scalar.DOUBLE),)), "{}", "lacks the required field `x.v`"),
    (Record((("v", Scalar.LONG),)), '{"v": null}', "lacks the required field `x.v`"),
    (ListOf(Record((("v", Scalar.LONG),))), '[{"v": 1}, {}]', "lacks the required field `x[1].v`"),
    (ListOf(Scalar.STRING), '["a", null]', "`x[1]` is null"),
    (Record((("v", ListOf(Scalar.LONG)),)), '{"v": [null]}', "`x.v[0]` is null"),
]


@pytest.mark.parametrize(("type_", "text", "value"), ACCEPTED)
def test_values_of_a_type_become_events(type_: Type, text: str, value: object) -> None:
    decoded = line(type_, text)
    assert not decoded.dead, decoded.dead[0].reason
    assert values(decoded) == [value]
    assert decoded.events.table.schema.equals(event_schema(stream_of({"x": type_})))
    decoded.events.table.validate(full=True)


@pytest.mark.parametrize(("type_", "text", "reason"), REFUSED)
def test_other_values_become_dead_letters(type_: Type, text: str | bytes, reason: str) -> None:
    decoded = line(type_, text)
    assert decoded.events.table.num_rows == 0
    (letter,) = decoded.dead
    assert reason in letter.reason
    assert (letter.feed, letter.file, letter.offset, letter.stage) == ("s", "in.jsonl", 0, "decode")
    assert letter.data.startswith(b'{"eid"')
    assert letter.data.endswith(b"}")


@pytest.mark.parametrize("type_", [t for t, _, _ in ACCEPTED])
def test_null_and_absence_are_null_where_the_field_is_nullable(type_: Type) -> None:
    assert values(line(type_, "null", nullable=True)) == [None]
    stream = stream_of({"x": type_}, ("x",))
    assert values(block(stream, json.dumps(BASE).encode())) == [None]


def test_a_missing_required_field_is_named_by_both_its_names() -> None:
    decoded = block(
        stream_of({"x": Scalar.LONG}), json.dumps(BASE).encode(), FeedFormat(fields=(("x", "TX"),))
    )
    assert decoded.dead[0].reason == "lacks the required field `x` (`TX` in the source)"


WHOLE = json.dumps(BASE).encode()
LINES = [
    (WHOLE + b"\n" + WHOLE, 2, 0),
    (WHOLE + b"\r\n" + WHOLE + b"\r\n", 2, 0),
    (WHOLE + b"\n\n  \n\t\r\n" + WHOLE + b"\n", 2, 0),
    (b"  " + WHOLE + b"  \n", 1, 0),
    (b"\xef\xbb\xbf" + WHOLE + b"\n" + WHOLE, 2, 0),
    (WHOLE + b"\n\xef\xbb\xbf" + WHOLE, 1, 1),
    (WHOLE + b" " + WHOLE + b"\n" + WHOLE, 1, 1),
    (WHOLE + b"\r" + WHOLE + b"\n" + WHOLE, 1, 1),
    (WHOLE.replace(b", ", b",\n") + b"\n" + WHOLE, 1, 2),
    (b"null\n" + WHOLE, 1, 1),
    (WHOLE + b" null " + WHOLE, 0, 1),
    (b"null " + WHOLE, 0, 1),
    (b'[]\n1\ntrue\n"x"\n{}\n', 0, 5),
    (WHOLE + b",\n" + WHOLE + b"\n", 1, 1),
    (b"\x00\x00\n" + WHOLE, 1, 1),
    (WHOLE + b"\x00" + WHOLE, 0, 1),
    (WHOLE + b"\n" + WHOLE[:-1], 1, 1),
    (WHOLE + b"\n{", 1, 1),
    (WHOLE[:-1] + b', "y": NaN, "y": {"y": 1}, "z": [1, {"w": null}]}', 1, 0),
    (WHOLE[:-1] + b', "y": Inf}\n{', 1, 1),
    (WHOLE[:-1] + b', "y": "\xff"}\n' + WHOLE, 1, 1),
    (WHOLE[:-1] + b', "y": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n{", 1, 1),
    (b"", 0, 0),
    (b"\n", 0, 0),
    (b" \n \r\n", 0, 0),
    (b"\xef\xbb\xbf", 0, 0),
]


@pytest.mark.parametrize(("data", "events", "dead"), LINES)
def test_a_line_is_one_object(data: bytes, events: int, dead: int) -> None:
    decoded = block(stream_of({}), data)
    assert (decoded.events.table.num_rows, len(decoded.dead)) == (events, dead), decoded.dead
    for letter in decoded.dead:
        assert data[letter.offset : letter.offset + len(letter.data)] == letter.data
    for offset in values(decoded, "@offset"):
        assert data[offset:].lstrip(b" ").startswith(b'{"eid"')


def test_offsets_and_ids_are_those_of_the_file() -> None:
    rows = [json.dumps({**BASE, "eid": f"é{i}"}, ensure_ascii=False).encode() for i in range(5)]
    data = b"\n".join([rows[0], b"broken", rows[1], b"", rows[2], rows[3], rows[4]])
    for id_, expected in (("eid",), [f"é{i}" for i in range(5)]), (None, None):
        stream = stream_of({}, id_=id_)
        decoded = block(stream, data, offset=1000)
        offsets = [1000 + data.index(row) for row in rows]
        assert values(decoded, "@offset") == offsets
        assert values(decoded, "@id") == (expected or [f"in.jsonl:{offset}" for offset in offsets])
        assert values(decoded, "@file") == ["in.jsonl"] * 5
        assert [(d.offset, d.data) for d in decoded.dead] == [(1000 + data.index(b"broken"), b"broken")]


def test_ids_are_text_exact_also_for_large_longs() -> None:
    stream = stream_of({"n": Scalar.LONG}, id_=("n",))
    decoded = block(stream, json.dumps({**BASE, "n": 2**63 - 1}).encode())
    assert values(decoded, "@id") == ["9223372036854775807"]


def test_an_id_or_time_that_is_null_is_malformed_even_where_the_field_is_nullable() -> None:
    stream = stream_of({"n": Record((("id", Scalar.STRING),))}, ("n", "at"), id_=("n", "id"))
    rows = [
        {**BASE, "n": None},
        {**BASE, "n": {}},
        {"eid": "e", "n": {"id": "1"}},
        {**BASE, "n": {"id": "1"}},
    ]
    decoded = block(stream, b"\n".join(json.dumps(row).encode() for row in rows))
    assert [d.reason for d in decoded.dead] == [
        "lacks the required field `n`", "lacks the required field `n.id`", "lacks the required field `at`"
    ]  # fmt: skip
    assert values(decoded, "@id") == ["1"]


def test_fields_are_renamed_and_constants_added() -> None:
    stream = stream_of({"x": Scalar.DOUBLE, "kind": Scalar.STRING, "since": Scalar.TIMESTAMP})
    feed = FeedFormat(
        fields=(("at", "TX_DATETIME"), ("x", "TX_AMOUNT")),
        constants=(("kind", "auth"), ("since", "2020-01-01T00:00:00")),
        zone="Europe/Berlin",
    )
    data = b'{"eid": "e1", "TX_DATETIME": "2020-01-01 00:00:00", "TX_AMOUNT": 5, "x": "ignored", "kind": 7}'
    decoded = block(stream, data, feed)
    (row,) = decoded.events.table.drop_columns(["@file", "@offset"]).to_pylist()
    assert (row["x"], row["kind"], row["@time"]) == (5.0, "auth", BASE_TIME - 3600 * 10**9)
    assert row["since"].value == BASE_TIME - 3600 * 10**9


# Every value that a line may hold where one of another type is expected, spelled as JSON.
SPELLINGS = [
    "null", "true", "false", "0", "-1", "1.0", "1e3", "9223372036854775808", "1E400", "NaN", "-Infinity",
    "Inf", "-NaN", '"x"', '"1"', '"1.50"', '""', '"\\ud800"', '"\\u0041"', "[]", "[1]", '["a", null]',
    "[1.5, NaN]", "{}", '{"os": "x"}', '{"os": 1}', '{"os": "x", "os": "y"}', '{"q": null, "q": 1}',
    '"2020-02-30"', '"2020-02-28"', '"2020-01-01T00:00:00.123456789+05:30"', '"2020-01-01 00:00"',
    '"1500-01-01T00:00:00Z"', '"PT5M"', "'x'", "x",
    "", "[", "{", '"', "1}{", '1, "x": 2', '1, "y": 1, "y": 2', "0.1234567890123456789",
    "123456789012345678901234567890", '"2020-01-01t00:00:00z"', "1577836800", "1577836800.25", "1e300",
]  # fmt: skip
TYPES: list[Type] = [
    *(s for s in Scalar if s is not Scalar.NULL),
    ListOf(Scalar.LONG), ListOf(Scalar.DOUBLE), ListOf(Scalar.TIMESTAMP),
    Record((("os", Scalar.STRING), ("seen", Scalar.TIMESTAMP))),
]  # fmt: skip
FEEDS = [
    FeedFormat(), FeedFormat(zone="Europe/Berlin"), FeedFormat(timestamps="epoch_s"),
    FeedFormat(timestamps="epoch_us"), FeedFormat(timestamps="%Y-%m-%d"),
]  # fmt: skip
RAW = st.one_of(
    st.sampled_from(SPELLINGS).map(str.encode),
    st.binary(max_size=8),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=5,
    ).map(lambda value: json.dumps(value).encode()),
)


@pytest.mark.slow
@settings(max_examples=examples(400), deadline=None)
@given(
    type_=st.sampled_from(TYPES),
    feed=st.sampled_from(FEEDS),
    nullable=st.booleans(),
    raw=st.lists(RAW, min_size=1, max_size=12),
    field=st.sampled_from(["x", "z"]),
    cut=st.data(),
)
def test_what_is_malformed_depends_on_no_neighbour_and_no_cut(
    type_: Type, feed: FeedFormat, nullable: bool, raw: list[bytes], field: str, cut: st.DataObject
) -> None:
    stream = stream_of({"x": type_}, ("x",) if nullable else ())
    at = {"iso": b'"2020-01-01T00:00:00"', "%Y-%m-%d": b'"2020-01-01"'}.get(feed.timestamps, b"1577836800")
    head = b'{"eid": "e", "at": ' + at + b', "' + field.encode() + b'": '
    data = b"\n".join(head + value + b"}" for value in raw)
    using = decoder(stream, feed)

    def outcome(pieces: list[tuple[int, bytes]]) -> tuple[list[object], list[tuple[int, bytes]]]:
        decoded = [using.decode_block(piece, "f.jsonl", offset, "s") for offset, piece in pieces]
        events = [row for d in decoded for row in d.events.table.to_pylist()]
        return events, [(letter.offset, letter.data) for d in decoded for letter in d.dead]

    ends = [i + 1 for i, byte in enumerate(data) if byte == 10]
    cuts = sorted(cut.draw(st.sets(st.sampled_from(ends)))) if ends else []
    bounds = [0, *cuts, len(data)]
    in_one = outcome([(0, data)])
    in_parts = outcome([(a, data[a:b]) for a, b in pairwise(bounds)])
    line_by_line = outcome([(a, data[a:b]) for a, b in zip([0, *ends], [*ends, len(data)], strict=True)])
    assert in_one == line_by_line
    assert in_parts == line_by_line


@settings(max_examples=examples(200), deadline=None)
@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {
                "a": st.integers(-(2**63), 2**63 - 1),
                "b": st.floats(allow_nan=False, allow_infinity=False),
                "c": st.text(st.characters(exclude_categories=["Cs"])),
                "d": st.booleans() | st.none(),
                "e": st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), max_size=3),
            }
        )
    )
)
def test_good_lines_come_out_as_they_went_in(rows: list[dict[str, object]]) -> None:
    types: dict[str, Type] = {
        "a": Scalar.LONG, "b": Scalar.DOUBLE, "c": Scalar.STRING, "d": Scalar.BOOLEAN,
        "e": ListOf(Scalar.STRING),
    }  # fmt: skip
    decoded = decode_values(stream_of(types, ("d",)), [{**BASE, **row} for row in rows])
    assert not decoded.dead
    assert decoded.events.table.select(list(types)).to_pylist() == rows
    assert values(decoded, "@offset") == list(range(len(rows)))


def test_values_are_rejected_by_their_position() -> None:
    rows: list[object] = [{**BASE, "x": 1}, {**BASE, "x": "1"}, 5, {**BASE, "x": 2}, {"x": 3}]
    decoded = decode_values(stream_of({"x": Scalar.LONG}), rows, offsets=[3, 5, 7, 8, 11], file="case")
    assert values(decoded, "@offset") == [3, 8]
    assert [d.offset for d in decoded.dead] == [5, 7, 11]


def test_typed_values_keep_every_nanosecond_and_digit() -> None:
    types: dict[str, Type] = {"d": Scalar.DURATION, "m": Scalar.DECIMAL, "ts": ListOf(Scalar.TIMESTAMP)}
    row = {"eid": "e", "at": 1, "d": -1_500_000_001, "m": Decimal("1E+2"), "ts": (2**62,)}
    decoded = decode_typed(stream_of(types), [row])
    assert not decoded.dead, decoded.dead
    table = decoded.events.table
    assert table.column("@time").to_pylist() == [1]
    assert table.column("d").cast("int64").to_pylist() == [-1_500_000_001]
    assert table.column("m").to_pylist() == [100]
    assert table.column("ts").combine_chunks().flatten().cast("int64").to_pylist() == [2**62]


def test_a_large_block_with_scattered_bad_lines_loses_no_good_one() -> None:
    rows = [json.dumps({**BASE, "eid": f"e{i}", "x": i}).encode() for i in range(20_000)]
    bad = {0, 1, 77, 2047, 2048, 9_999, 19_999}
    data = b"\n".join(b'{"eid": 1}' if i in bad else row for i, row in enumerate(rows))
    decoded = block(stream_of({"x": Scalar.LONG}), data)
    assert values(decoded) == [i for i in range(20_000) if i not in bad]
    assert len(decoded.dead) == len(bad)


def test_one_line_may_be_larger_than_what_arrow_reads_at_a_time() -> None:
    rows = [{**BASE, "x": "y" * size} for size in (10, 9_000_000, 10)]
    decoded = block(stream_of({"x": Scalar.TEXT}), b"\n".join(json.dumps(row).encode() for row in rows))
    assert [len(str(v)) for v in values(decoded)] == [10, 9_000_000, 10]


def test_time_is_counted_from_1970_in_utc() -> None:
    moment = datetime(2018, 7, 11, 10, 5, tzinfo=UTC)
    decoded = decode_values(stream_of({}), [{"eid": "e", "at": moment.isoformat()}])
    assert values(decoded, "@time") == [int(moment.timestamp()) * 10**9]


def test_a_decoder_travels_to_workers() -> None:
    stream = stream_of({"x": Scalar.LONG, "since": Scalar.TIMESTAMP})
    feed = FeedFormat(constants=(("x", 7), ("since", "2020-01-01")))
    travelled = pickle.loads(pickle.dumps(decoder(stream, feed)))
    decoded = travelled.decode_block(json.dumps(BASE).encode(), "in.jsonl", 0, "s")
    assert values(decoded) == [7]


def test_one_source_field_cannot_be_two_types() -> None:
    stream = stream_of({"x": Scalar.LONG, "y": Scalar.STRING})
    with pytest.raises(ValueError, match="two types"):
        decoder(stream, FeedFormat(fields=(("y", "x"),)))


@pytest.mark.slow
def test_decoding_does_not_load_pandas() -> None:
    # importing pandas takes longer than a small `cep eval` may take in all
    program = (
        "import sys\n"
        "from decoding import BASE, stream_of\n"
        "from cep.decode import FeedFormat, decode_values, decoder\n"
        "feed = FeedFormat(zone='Europe/Berlin')\n"
        "assert not decode_values(stream_of({}), [BASE], feed=feed).dead\n"
        "assert decode_values(stream_of({}, id_=None), [BASE, {}]).dead\n"
        "csv = decoder(stream_of({})).decode_block(b'eid,at\\ne,2020-01-01\\n', 'a.csv', 0, 's')\n"
        "assert not csv.dead\n"
        "assert 'pandas' not in sys.modules\n"
    )
    here = Path(__file__).parent
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": f"{here}{os.pathsep}{here.parents[1]}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
