"""The kernel of Avro and Protobuf takes nothing that the readers behind it refuse, and gives their values."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import fastavro
import numpy as np
import pytest
from decoding import BASE, stream_of
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from schema_events import events
from schema_registry import SchemaRegistry, serving
from test_avro_values import damaged, field, record
from test_by_schema import decoded
from test_protobuf_values import THREE, TWO, compiled, made

from cep.decode import Decoded, FeedFormat, decoder
from cep.decode.by_schema import reader
from cep.decode.by_schema.codec import Target
from cep.decode.by_schema.codecs import file_codec
from cep.decode.by_schema.compiled import load
from cep.decode.by_schema.opened import opened
from cep.decode.formats import Registry, Schemas
from rules.typed import Stream
from rules.types import ListOf, Record, Scalar, Type


@contextmanager
def using_kernel(used: bool) -> Iterator[None]:
    kernel = load() if used else None
    with patch("cep.decode.by_schema.reader.kernel_for", lambda _: kernel):
        yield


def same(stream: Stream, feed: FeedFormat, values: list[bytes]) -> Decoded:
    """What the kernel and the readers behind it make of values."""
    with using_kernel(True):
        found = decoded(stream, feed, values)
    with using_kernel(False):
        expected = decoded(stream, feed, values)
    found.events.table.validate(full=True)
    assert found.dead == expected.dead
    assert found.events.table.equals(expected.events.table)
    return found


def taken(stream: Stream, feed: FeedFormat, values: list[bytes]) -> list[int]:
    """The values that the kernel takes."""
    target = Target(stream, feed, decoder(stream, feed).constants)
    with using_kernel(True):
        own = reader.SchemaReader(values, opened(target), target)
        return [int(one) for _, some in own.usual(np.arange(len(values))) for one in some]


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(200))
@given(st.randoms(use_true_random=False), st.sampled_from(["avro", "protobuf"]))
def test_what_is_right_and_what_is_damaged_is_the_same_with_the_kernel(random: Random, format_: str) -> None:
    written = events(random, format_, random.choice([1, 5, 40]))
    same(written.stream, written.feed, written.records)
    same(written.stream, written.feed, [damaged(random, one) for one in written.records])


@pytest.mark.slow
@pytest.mark.parametrize("format_", ["avro", "protobuf"])
def test_the_kernel_takes_what_is_usual(format_: str) -> None:
    """Nearly all events of most schemas: else the test above compares a reader with itself."""
    whole = left = programs = 0
    for seed in range(30):
        written = events(Random(seed), format_, 20)
        assert written.feed.schemas is not None
        target = Target(written.stream, written.feed, {})
        if file_codec(written.feed.schemas, target).program is not None:
            programs += 1
            whole += 20
            left += 20 - len(taken(written.stream, written.feed, written.records))
    assert programs >= 15
    assert left <= whole // 4


RECORDS = Record((("p", Scalar.LONG), ("q", Scalar.STRING), ("l", ListOf(Scalar.LONG))), frozenset({"q"}))
NESTED: dict[str, Type] = {"r": RECORDS, "i": ListOf(RECORDS), "n": ListOf(ListOf(Scalar.DOUBLE))}


def test_lists_and_records_in_one_another_are_taken() -> None:
    inner = record(
        field("p", "long"),
        field("q", ["string", "null"]),
        field("skip", {"type": "map", "values": ["int", "null"]}),
        field("l", {"type": "array", "items": "long"}),
        name="I",
    )
    schema = record(
        field("eid", "string"), field("at", "string"), field("r", ["null", inner]),
        field("i", {"type": "array", "items": "I"}),
        field("n", {"type": "array", "items": {"type": "array", "items": "double"}}),
    )  # fmt: skip
    one = {"p": -5, "q": None, "skip": {"é": 5, "": None}, "l": [1, 2, 3]}
    two = {"p": 2**40, "q": "x" * 100, "skip": {}, "l": []}
    values = [
        {"r": None, "i": [], "n": []}, {"r": one, "i": [two, one], "n": [[], [1.5]]},
        {"r": two, "i": [one] * 100, "n": [[0.5] * 70]}, {"r": None, "i": [two], "n": [[]]},
    ]  # fmt: skip
    written = [octets(schema, {**BASE, **value}) for value in values]
    stream = stream_of(NESTED, ("r", "i", "n"))
    feed = FeedFormat(format="avro", schemas=Schemas(json.dumps(schema).encode()))
    assert taken(stream, feed, [*written, written[1][:-1], written[2] + b"\x00"]) == [0, 1, 2, 3]
    found = same(stream, feed, written)
    left = ({name: part for name, part in value.items() if name != "skip"} for value in (one, two))
    expected = dict(zip(("one", "two"), left, strict=True))
    assert found.events.table.column("r").to_pylist() == [None, expected["one"], expected["two"], None]
    assert found.events.table.column("i").to_pylist()[1] == [expected["two"], expected["one"]]


def octets(schema: Any, value: Mapping[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(json.dumps(schema))), value)
    return out.getvalue()


def test_blocks_that_say_their_size_are_taken() -> None:
    schema = record(field("eid", "string"), field("v", {"type": "array", "items": "long"}))
    feed = FeedFormat(
        format="avro", constants=(("at", BASE["at"]),), schemas=Schemas(json.dumps(schema).encode())
    )
    stream = stream_of({"v": ListOf(Scalar.LONG)}, ("v",))
    values = [
        b"\x02a\x03\x04\x02\x04\x02\x06\x00",
        b"\x02b\x03\x06\x02\x04\x02\x06\x00",
        b"\x02c\x03\x04\x02\x04\x02\x06",
    ]
    assert taken(stream, feed, values) == [0]
    assert same(stream, feed, values).events.table.column("v").to_pylist() == [[1, 2, 3]]


def test_fields_of_messages_in_any_order_and_again(tmp_path: Path) -> None:
    schemas = Schemas(compiled(tmp_path, TWO), "All")
    feed = FeedFormat(format="protobuf", constants=(("at", BASE["at"]),), schemas=schemas)
    types: dict[str, Type] = {
        "text": Scalar.STRING, "large": Scalar.LONG, "tags": ListOf(Scalar.STRING), "level": Scalar.STRING,
        "a": Scalar.STRING, "b": Scalar.LONG,
    }  # fmt: skip
    stream = stream_of({"id": Scalar.LONG, **types}, tuple(types), id_=("id",))
    stream = replace(stream, fields=stream.fields[1:])

    def all_(**values: Any) -> bytes:
        return made(schemas.text, "All", **values)

    one, two = all_(id=1, text="x", large=5, tags=["p", "q"]), all_(id=2, text="longer", level="HIGH")
    unknown = b"\xaa\xfa\x01\x02hi\xa8\xfa\x01\x05\xa9\xfa\x01" + bytes(8) + b"\xad\xfa\x01" + bytes(4)
    usual = [
        one, two + one, one + two, unknown + two + unknown, all_(id=3, tags=[""] * 40) + one, all_(id=5, b=5),
        one + b"\x62\x02\xff\xff",
    ]  # fmt: skip
    others = [
        all_(text="no id"), one + b"\x20\x07", one + b"\x5b\x5c", all_(id=4, b=5) + all_(a="x"),
        one + b"\x00\x01", one + b"\x1a\x02\xc3\x28",
    ]  # fmt: skip
    assert taken(stream, feed, [*usual, *others[:-1]]) == list(range(len(usual)))
    found = same(stream, feed, [*usual, *others])
    assert [one.offset for one in found.dead] == [7, 11, 12]
    table = found.events.table
    assert table.column("text").to_pylist()[:4] == ["x", "x", "longer", "longer"]
    assert table.column("tags").to_pylist()[:4] == [["p", "q"]] * 3 + [[]]
    assert table.select(["a", "b"]).to_pylist()[-1] == {"a": "x", "b": None}


def test_one_text_that_is_no_utf8_makes_no_other_slow() -> None:
    schema = record(field("eid", "string"), field("at", "string"))
    feed = FeedFormat(format="avro", schemas=Schemas(json.dumps(schema).encode()))
    values = [octets(schema, {"eid": f"e{n}", "at": BASE["at"]}) for n in range(5_000)]
    values[2_500] = values[2_500].replace(b"e", b"\xff", 1)
    assert len(taken(stream_of({}), feed, values)) > 4_500
    assert [one.offset for one in same(stream_of({}), feed, values).dead] == [2_500]


def test_records_of_several_schemas_keep_their_order() -> None:
    old, new = (
        record(field("eid", "string"), field("at", "string")),
        record(field("at", "string"), field("eid", "string")),
    )
    with serving(SchemaRegistry()) as registry:
        ids = [registry.add(json.dumps(one)) for one in (old, new)]
        head = [b"\x00" + one.to_bytes(4, "big") for one in (*ids, 9)]
        values = [
            head[n % 3] + octets((old, new, new)[n % 3], {"eid": f"e{n}", "at": BASE["at"]})
            for n in range(300)
        ]
        values[7] = values[7][:-1]
        feed = FeedFormat(format="avro", schemas=Schemas(registry=Registry(registry.address)))
        found = same(stream_of({}), feed, values)
        assert found.events.table.column("@id").to_pylist() == [
            f"e{n}" for n in range(300) if n % 3 < 2 and n != 7
        ]
        assert len(registry.asked) == 3
        assert len(taken(stream_of({}), feed, values)) == 199


@pytest.mark.slow
def test_each_message_of_a_file_is_taken(tmp_path: Path) -> None:
    files = compiled(tmp_path, THREE, "Outer")
    inner, outer = made(files, "Outer.Inner", count=1), made(files, "Outer", count=2, inner={"count": 3})
    with serving(SchemaRegistry()) as registry:
        head = b"\x00" + registry.add(THREE, "PROTOBUF").to_bytes(4, "big")
        schemas = Schemas(registry=Registry(registry.address))
        constants = (("eid", "e"), ("at", BASE["at"]))
        feed = FeedFormat(format="protobuf", constants=constants, schemas=schemas)
        stream = stream_of({"count": Scalar.LONG}, id_=None)
        whole = b"\x00" + outer, b"\x04\x00\x00" + inner, b"\x02\x00" + outer, b"\x02\x08"
        values = [head + one for one in whole]
        found = same(stream, feed, values)
        assert found.events.table.column("count").to_pylist() == [2, 1, 2]
        assert [one.offset for one in found.dead] == [3]
        assert taken(stream, feed, values) == [0, 1, 2]
