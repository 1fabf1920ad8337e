"""JSON, Avro and Protobuf of the same events to columns on one core, as mappers decode records of a topic.

    python benchmarks/by_schema.py [--records 200000] [--turns 7]

Million records a second of processor time, medians of turns in which each reads the same events, one after
the other, in blocks of 50,000 as a topic is read: ids, places, checks and dead letters included, the client
not. `times` is against JSON of the same turn. fastavro and upb are those libraries alone, record by record,
and make no columns.
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from unittest.mock import patch

import fastavro
import numpy as np
from calibration import calibration
from decoding import PACK, line, rows
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pb2 import FieldDescriptorProto
from google.protobuf.message_factory import GetMessageClass

from cep.decode import Decoder, decoder
from cep.decode.by_schema.compiled import load
from cep.decode.by_schema.protobuf_schema import described
from cep.decode.compiled import load as load_lines
from cep.decode.formats import FeedFormat, Schemas
from cep.decode.log_records import LogRecords, decode_log
from rules.packs import load_texts
from rules.typed import Stream

BLOCK = 50_000
AVRO: Any = {
    "type": "record",
    "name": "Payment",
    "fields": [
        {"name": "eid", "type": "string"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "card", "type": "string"},
        {"name": "price", "type": ["null", "double"]},
        {"name": "count", "type": ["null", "long"]},
        {"name": "fresh", "type": ["null", "boolean"]},
        {"name": "note", "type": ["null", "string"]},
    ],
}
ITEMS: Any = {
    "type": "array",
    "items": {
        "type": "record",
        "name": "Item",
        "fields": [{"name": "sku", "type": "string"}, {"name": "n", "type": "long"}],
    },
}
NESTED: Any = {
    **AVRO,
    "fields": [*AVRO["fields"][:3], {"name": "price", "type": "string"}, {"name": "items", "type": ITEMS}],
}
MESSAGES = ("STRING", "INT64", "STRING", "DOUBLE", "INT64", "BOOL", "STRING")


def protobuf_schema() -> bytes:
    """A FileDescriptorSet with the message Payment, whose last four fields are optional."""
    file = descriptor_pb2.FileDescriptorProto(name="payment.proto", package="bench", syntax="proto3")
    message = file.message_type.add(name="Payment")
    for number, (field, kind) in enumerate(zip(AVRO["fields"], MESSAGES, strict=True), 1):
        one = message.field.add(name=field["name"], number=number, label=FieldDescriptorProto.LABEL_OPTIONAL)
        one.type = getattr(FieldDescriptorProto, f"TYPE_{kind}")
        if number > 3:
            one.proto3_optional, one.oneof_index = True, number - 4
            message.oneof_decl.add(name=f"_{one.name}")
    return bytes(descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString())


def avro(schema: Any, events: Sequence[Mapping[str, Any]]) -> list[bytes]:
    """Events by a schema."""
    parsed, found = fastavro.parse_schema(json.loads(json.dumps(schema))), []
    for one in events:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed, one)
        found.append(out.getvalue())
    return found


def decoding(using: Decoder, values: Sequence[bytes]) -> Callable[[], object]:
    """A function that decodes values as those of a topic."""
    blocks = []
    for at in range(0, len(values), BLOCK):
        some = values[at : at + BLOCK]
        none, zeros = (None,) * len(some), np.zeros(len(some), np.int64)
        blocks.append(LogRecords(some, none, zeros, np.arange(at, at + len(some))))
    return lambda: [decode_log(using, one, "payments/0", "payments/0") for one in blocks]


def cut(values: Sequence[bytes]) -> list[bytes]:
    """The same with one in a hundred that lacks its last byte."""
    return [one[:-1] if number % 100 == 0 else one for number, one in enumerate(values)]


def compared(stream: Stream, nested: Stream, count: int) -> dict[str, dict[str, Callable[[], object]]]:
    """The functions that are measured, by name: JSON first, then what is held against it."""
    lines = [line(row, ",", ":").encode() for row in rows(count)]
    events = [json.loads(one) for one in lines]
    for one in events:
        one["at"] = int(np.datetime64(one["at"].removesuffix("Z"), "us").astype(np.int64))
    schema = protobuf_schema()
    payment = GetMessageClass(described(schema).message_types_by_name["Payment"])
    by_avro, by_protobuf = avro(AVRO, events), [payment(**one).SerializeToString() for one in events]
    parsed = fastavro.parse_schema(json.loads(json.dumps(AVRO)))
    as_json = decoder(stream, FeedFormat(format="json"))
    as_avro = decoder(stream, FeedFormat(format="avro", schemas=Schemas(json.dumps(AVRO).encode())))
    as_protobuf = decoder(
        stream, FeedFormat(format="protobuf", timestamps="epoch_us", schemas=Schemas(schema))
    )
    items = [{"sku": "a1", "n": 1}, {"sku": "b2", "n": 2}]
    whole = [{**one, "price": "1.50", "items": items} for one in events]
    nested_lines = [
        json.dumps({**json.loads(text), "price": "1.50", "items": items}, separators=(",", ":")).encode()
        for text in lines
    ]
    by_nested = decoder(nested, FeedFormat(format="avro", schemas=Schemas(json.dumps(NESTED).encode())))
    return {
        "seven columns": {
            "JSON": decoding(as_json, lines),
            "Avro": decoding(as_avro, by_avro),
            "Protobuf": decoding(as_protobuf, by_protobuf),
            "fastavro": lambda: [
                fastavro.schemaless_reader(io.BytesIO(one), parsed, None) for one in by_avro
            ],
            "upb": lambda: [payment.FromString(one) for one in by_protobuf],
        },
        "1 % malformed": {
            "JSON": decoding(as_json, cut(lines)),
            "Avro": decoding(as_avro, cut(by_avro)),
            "Protobuf": decoding(as_protobuf, cut(by_protobuf)),
        },
        "a list of records, a decimal": {
            "JSON": decoding(decoder(nested, FeedFormat(format="json")), nested_lines),
            "Avro": decoding(by_nested, avro(NESTED, whole)),
        },
    }


def main() -> None:
    """Prints the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--records", type=int, default=200_000)
    options.add_argument("--turns", type=int, default=7)
    given = options.parse_args()
    print(calibration())
    streams = {one.name: one for one in load_texts([("bench.rules", PACK)]).need().streams}
    kernel, of_lines = load(), load_lines()
    with (
        patch("cep.decode.by_schema.reader.kernel_for", lambda _: kernel),
        patch("cep.decode.json_lines.kernel_for", lambda _: of_lines),
    ):
        for name, readers in compared(streams["seven"], streams["nested"], given.records).items():
            spent: dict[str, list[float]] = {one: [] for one in readers}
            for turn in range(given.turns + 1):
                for one, read in readers.items():
                    begin = time.process_time()
                    read()
                    if turn:  # in the first one memory is taken
                        spent[one].append(time.process_time() - begin)
            print(name)
            for one, seconds in spent.items():
                beside = statistics.median(a / b for a, b in zip(spent["JSON"], seconds, strict=True))
                rate = given.records / statistics.median(seconds) / 1e6
                print(f"    {one:<10}{rate:>7.2f} M records/s{beside:>8.2f} times")


if __name__ == "__main__":
    main()
