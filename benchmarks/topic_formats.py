"""Events of strict_events.py as records of a topic: JSON, Avro and Protobuf, and the feeds that read them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastavro
import numpy as np
from google.protobuf.message_factory import GetMessageClass

from cep.decode.by_schema.protobuf_schema import described
from cep.decode.by_schema.schema_files import schemas_of_file

AVRO: Any = {
    "type": "record",
    "name": "E",
    "fields": [
        {"name": "eid", "type": "string"},
        {"name": "ts", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "k", "type": "string"},
        {"name": "price", "type": "double"},
    ],
}
PROTOBUF = """syntax = "proto3";
message E { string eid = 1; int64 ts = 2; string k = 3; double price = 4; }
"""


@dataclass(frozen=True, slots=True)
class Format:
    """The lines of [feeds.e] besides the topic, and a function that makes a record of a line of JSON."""

    feed: str
    record: Callable[[bytes], bytes]


def formats(folder: Path) -> dict[str, Format]:
    """The formats by name; their schemas are written into a folder."""
    (folder / "e.avsc").write_text(json.dumps(AVRO), "utf-8")
    (folder / "e.proto").write_text(PROTOBUF, "utf-8")
    parsed = fastavro.parse_schema(json.loads(json.dumps(AVRO)))
    files = schemas_of_file(folder / "e.proto", "protobuf", "E").text
    message = GetMessageClass(described(files).message_types_by_name["E"])

    def avro(line: bytes) -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed, _event(line))
        return out.getvalue()

    def protobuf(line: bytes) -> bytes:
        return bytes(message(**_event(line)).SerializeToString())

    feed = 'format = "{}"\nschema = "{}"\n'
    return {
        "json": Format("", lambda line: line),
        "avro": Format(feed.format("avro", folder / "e.avsc"), avro),
        "protobuf": Format(
            feed.format("protobuf", folder / "e.proto") + 'timestamps = "epoch_ms"\n', protobuf
        ),
    }


def _event(line: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(line)
    moment = np.datetime64(found["ts"].removesuffix("Z"), "ms")
    return found | {"ts": int(moment.astype(np.int64)), "price": float(found["price"])}
