"""Records of a log are decoded as the lines of a file are, one by one; keys and times are put beside."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import accumulate
from random import Random

import numpy as np
import pytest
from both_readers import using_kernel
from csv_blocks import random_csv
from decoding import BASE, BASE_TIME, stream_of
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from json_blocks import Block, random_block

from cep.decode import Decoded, FeedFormat, decoder
from cep.decode.csv_records import CsvReader, columns_of
from cep.decode.json_lines import JsonReader
from cep.decode.log_records import LogRecords, decode_log
from rules.types import Scalar, Type

MS = 1_000_000
JSON = FeedFormat(format="json")
TIME = BASE_TIME // MS


def records(
    values: list[bytes | None], keys: list[bytes | None] | None = None, times: list[int] | None = None
) -> LogRecords:
    none: list[bytes | None] = [None] * len(values)
    moments = np.array([TIME] * len(values) if times is None else times, np.int64)
    return LogRecords(values, none if keys is None else keys, moments, np.arange(7, 7 + len(values)))


def decoded(
    fields: dict[str, Type], feed: FeedFormat, given_: LogRecords, nullable: tuple[str, ...] = ()
) -> Decoded:
    return decode_log(decoder(stream_of(fields, nullable), feed), given_, "topic/3", "topic/3")


def lines_of(block: Block, feed: FeedFormat) -> list[bytes]:
    """The lines of a block as a file's are found."""
    using, view = decoder(block.stream, feed), memoryview(block.data)
    if feed.format == "json":
        lines = JsonReader(view, block.stream, feed, using.constants).lines
    else:
        names, _ = columns_of(view, block.stream, feed)
        lines = CsvReader(view, names, block.stream, feed, using.constants).lines
    return [lines[number] for number in range(len(lines))]


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(100))
@given(st.randoms(use_true_random=False), st.sampled_from(["json", "csv"]), st.booleans())
def test_a_record_is_what_the_same_line_of_a_file_is(random: Random, kind: str, kernel: bool) -> None:
    block = random_block(random) if kind == "json" else random_csv(random)
    feed = replace(block.feed, format=kind)
    lines = [line for line in lines_of(block, feed) if line]
    using = decoder(block.stream, feed)
    name = "f.jsonl" if kind == "json" else "f.csv"
    with using_kernel(kernel):
        found = decode_log(using, records(list(lines)), name, "p")
        expected = using.decode_block(b"\n".join(lines), name, 0, "p")
    begins = accumulate((len(line) + 1 for line in lines), initial=0)
    number = {begin: 7 + n for n, begin in enumerate(begins)}
    table, of_file = found.events.table, expected.events.table
    places = of_file.column("@offset").to_pylist()
    assert table.column("@offset").to_pylist() == [number[place] for place in places]
    names = [field.name for field in block.stream.fields]
    assert table.select(names).combine_chunks().equals(of_file.select(names).combine_chunks())
    assert [(one.offset, one.reason, one.data) for one in found.dead] == [
        (number[one.offset], one.reason, one.data) for one in expected.dead
    ]


@pytest.mark.parametrize("kernel", [True, False])
def test_line_ends_within_a_value_part_nothing(kernel: bool) -> None:
    event = {**BASE, "a": "two\nlines"}
    values: list[bytes | None] = [
        json.dumps(event, indent=2).encode(),
        json.dumps(event).encode() + b"\r\n",
        b"\n" + json.dumps(event).encode(),
        json.dumps(event).encode() + b"\n" + json.dumps(event).encode(),
        json.dumps(event).replace("\\n", "\n").encode(),
    ]
    with using_kernel(kernel):
        found = decoded({"a": Scalar.STRING}, JSON, records(values))
    assert found.events.table.column("@offset").to_pylist() == [7, 8, 9]
    assert set(found.events.table.column("a").to_pylist()) == {"two\nlines"}
    assert [(one.offset, one.data) for one in found.dead] == [(10, values[3]), (11, values[4])]


def test_a_value_of_csv_is_one_record() -> None:
    stream = {"a": Scalar.STRING}
    values: list[bytes | None] = [
        b'e1,2020-01-01T00:00:00Z,"two\nlines"\r\n',
        b"e2,2020-01-01T00:00:00Z,x\ne3,2020-01-01T00:00:00Z,y",
        b'e4,2020-01-01T00:00:00Z,"x',
        b"e5,2020-01-01T00:00:00Z,y\n",
    ]
    feed = FeedFormat(format="csv", header=False)
    found = decoded(dict(stream), feed, records(values))
    assert found.events.table.column("a").to_pylist() == ["two\nlines", "y"]
    assert [(one.offset, one.reason) for one in found.dead] == [
        (8, "more than one record of CSV in the value"),
        (9, "a quote is not closed"),
    ]


def test_tombstones_and_empty_values_are_dead_letters_at_their_offset() -> None:
    values = [None, b"", json.dumps(BASE).encode(), b"  "]
    found = decoded({}, JSON, records(values))
    assert found.events.table.column("@offset").to_pylist() == [9]
    assert found.events.table.column("@file").to_pylist() == ["topic/3"]
    assert [(one.offset, one.reason, one.data) for one in found.dead] == [
        (7, "its value is null: a tombstone", b""),
        (8, "its value is empty", b""),
        (10, "not JSON: Expecting value (character 3)", b"  "),
    ]


def test_the_key_and_the_time_of_a_record_give_fields() -> None:
    feed = FeedFormat(format="json", key="card", record_time=True)
    values: list[bytes | None] = [b'{"eid": "%d", "n": %d}' % (n, n) for n in range(6)]
    values[5] = b'{"eid": "5", "n": "no", "card": "not this"}'
    keys = [b"c1", b"c\xff", None, b"", b"c5", b"c6"]
    times = [TIME, TIME, TIME, TIME + 1, -1, TIME]
    found = decoded({"card": Scalar.STRING, "n": Scalar.LONG}, feed, records(values, keys, times))
    table = found.events.table
    assert table.column("card").to_pylist() == ["c1", ""]
    assert table.column("@time").to_pylist() == [TIME * MS, (TIME + 1) * MS]
    assert [(one.offset, one.reason) for one in found.dead[:3]] == [
        (8, "`card`, its key, is not valid UTF-8"),
        (9, "lacks the required field `card`: its key is null"),
        (11, "the record has no time"),
    ]
    assert found.dead[3].offset == 12
    assert "`n`" in found.dead[3].reason


def test_a_key_gives_a_whole_number_and_may_be_null_where_the_field_may() -> None:
    feed = FeedFormat(format="json", key="card")
    keys = [b"12", None, b"1.0", b"9223372036854775808"]
    given_ = records([json.dumps(BASE).encode()] * 4, keys)
    found = decoded({"card": Scalar.LONG}, feed, given_, ("card",))
    assert found.events.table.column("card").to_pylist() == [12, None]
    assert [one.reason for one in found.dead] == ["`card`, its key, is no whole number"] * 2


def test_a_raw_value_is_the_text_of_the_one_field_that_is_left() -> None:
    feed = FeedFormat(format="raw", key="eid", record_time=True)
    values: list[bytes | None] = [b"one\ntwo", b"\xff", b"", None]
    keys: list[bytes | None] = [b"a", b"b", b"c", b"d"]
    found = decoded({"line": Scalar.TEXT}, feed, records(values, keys))
    assert found.events.table.column("line").to_pylist() == ["one\ntwo", ""]
    assert found.events.table.column("@id").to_pylist() == ["a", "c"]
    assert [(one.offset, one.reason) for one in found.dead] == [
        (8, "not valid UTF-8"),
        (10, "its value is null: a tombstone"),
    ]
