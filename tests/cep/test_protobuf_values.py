"""Protobuf is read as its schema says: what is missing is null or a default, what is damaged is told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from decoding import stream_of
from effort import examples
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given, settings
from hypothesis import strategies as st
from schema_events import events
from test_avro_values import damaged
from test_by_schema import decoded

from cep.decode import FeedFormat
from cep.decode.by_schema.avro_schema import SchemaError
from cep.decode.by_schema.codec import Target
from cep.decode.by_schema.codecs import protobuf_codec
from cep.decode.by_schema.protobuf_schema import described, message_of
from cep.decode.by_schema.schema_files import schemas_of_file
from cep.decode.malformed import Malformed
from rules.types import ListOf, Scalar, Type

TWO = """syntax = "proto2";
import "google/protobuf/timestamp.proto";
import "google/protobuf/duration.proto";
enum Level { LOW = 0; HIGH = 5; }
message All {
  required int64 id = 1;
  optional int64 count = 2 [default = 7];
  optional string text = 3;
  optional Level level = 4;
  optional uint64 large = 5;
  optional google.protobuf.Timestamp at = 6;
  optional google.protobuf.Duration lapse = 7;
  repeated string tags = 8;
  oneof one { string a = 9; int64 b = 10; }
  map<string, int64> pairs = 11;
}
"""
THREE = """syntax = "proto3";
enum Level { LOW = 0; HIGH = 5; }
message Outer {
  message Inner { int64 count = 1; }
  int64 count = 1; string text = 2; bool yes = 3; Level level = 4; optional int64 maybe = 5; Inner inner = 6;
}
message Inner {}
"""
TYPES: dict[str, Type] = {
    "id": Scalar.LONG,
    "count": Scalar.LONG,
    "text": Scalar.STRING,
    "level": Scalar.STRING,
    "large": Scalar.LONG,
    "at": Scalar.TIMESTAMP,
    "lapse": Scalar.DURATION,
    "tags": ListOf(Scalar.STRING),
    "a": Scalar.STRING,
    "b": Scalar.LONG,
    "yes": Scalar.BOOLEAN,
    "maybe": Scalar.LONG,
}


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return compiled(tmp_path_factory.mktemp("two"), TWO)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return compiled(tmp_path_factory.mktemp("three"), THREE, "Outer")


def compiled(folder: Path, text: str, message: str = "All") -> bytes:
    (folder / "all.proto").write_text(text, "utf-8")
    return schemas_of_file(folder / "all.proto", "protobuf", message).text


def read(files: bytes, message: str, data: bytes) -> Mapping[str, Any]:
    target = Target(stream_of(TYPES, tuple(TYPES)), FeedFormat(format="protobuf"), {})
    return protobuf_codec(files, message, target).values(data, 0)


def made(files: bytes, message: str, **values: Any) -> bytes:
    found = GetMessageClass(message_of(described(files), message))(**values)
    return bytes(found.SerializePartialToString())


def test_what_is_missing_is_null_or_what_the_schema_says(two: bytes, three: bytes) -> None:
    found = read(two, "All", made(two, "All", id=1))
    assert found == dict.fromkeys(found) | {"id": 1, "count": 7, "tags": []}
    assert read(two, "All", made(two, "All", id=1, b=0))["b"] == 0
    found = read(three, "Outer", b"")
    assert found == {"count": 0, "text": "", "yes": False, "level": "LOW", "maybe": None}


def test_what_comes_again_counts_the_last_time(three: bytes) -> None:
    again = made(three, "Outer", count=1) + made(three, "Outer", count=2, text="a")
    assert read(three, "Outer", again + b"\x98\x06\x05")["count"] == 2, "an unknown field is passed over"


WRONG = [
    ({}, "lacks what its schema requires: `id`"),
    ({"id": 1, "large": 2**63}, "`large` does not fit into 64 bits: 9223372036854775808"),
    ({"id": 1, "at": {"nanos": -1}}, "`at` has -1 nanoseconds beside 0 seconds"),
    ({"id": 1, "at": {"seconds": 10**10}}, "`at` is not between 1677 and 2262: 10000000000 seconds"),
    ({"id": 1, "lapse": {"seconds": -1, "nanos": 1}}, "`lapse` has 1 nanoseconds beside -1 seconds"),
    (
        {"id": 1, "lapse": {"seconds": 10**11}},
        "`lapse` is a duration of more than 292 years: 100000000000 seconds",
    ),
]


@pytest.mark.parametrize(("values", "reason"), WRONG)
def test_what_cannot_be_an_event_is_told(two: bytes, values: dict[str, Any], reason: str) -> None:
    with pytest.raises(Malformed) as raised:
        read(two, "All", made(two, "All", **values))
    assert raised.value.reason == reason


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x08", "no message Outer: wire format was corrupt"),
        (b"\x12\x02\xc3\x28", "no message Outer: string field had bad UTF-8"),
        (b"\x20\x07", "`level`: its enum has no value 7"),
    ],
)
def test_bytes_that_are_no_message_are_told(three: bytes, data: bytes, reason: str) -> None:
    with pytest.raises(Malformed) as raised:
        read(three, "Outer", data)
    assert raised.value.reason == reason


def test_a_text_of_proto2_that_is_not_utf8_is_told(two: bytes) -> None:
    with pytest.raises(Malformed, match="`text`: not valid UTF-8"):
        read(two, "All", b"\x08\x01\x1a\x02\xc3\x28")


def test_a_file_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    for text, message, reason in [
        (THREE, "", "has not one message but Inner, Outer, Outer.Inner"),
        (THREE, "Outr", "has no message Outr"),
        (
            THREE.replace("int64 count = 1;", "int46 count = 1;", 1),
            "Outer",
            "cannot be compiled by protoc: all.proto:4",
        ),
        (
            'syntax = "proto3"; import "card.proto"; message M {}',
            "M",
            "cannot be compiled by protoc: card.proto",
        ),
    ]:
        with pytest.raises(SchemaError) as raised:
            compiled(tmp_path, text, message)
        assert str(raised.value).startswith(reason)
    (tmp_path / "all.desc").write_bytes(b"\xff")
    with pytest.raises(SchemaError, match="is no FileDescriptorSet"):
        schemas_of_file(tmp_path / "all.desc", "protobuf", "")


@settings(deadline=None, max_examples=examples(200))
@given(st.randoms(use_true_random=False))
def test_of_damaged_messages_every_one_is_an_event_or_a_dead_letter(random: Random) -> None:
    written = events(random, "protobuf", 3)
    values = [damaged(random, random.choice(written.records)) for _ in range(5)]
    found = decoded(written.stream, written.feed, values)
    taken = found.events.table.column("@offset").to_pylist()
    assert sorted([*taken, *(one.offset for one in found.dead)]) == list(range(5))
