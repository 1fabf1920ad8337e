"""What travels from classification to the shards, and what waits there: tables of judged events as bytes.

A payload is a sequence of segments: one stream's events for one key space, as an Arrow IPC stream with a
small JSON head. Columns, in this order, those without use left out by the plan:

    @time @id @origin @offset      as in cep.events; @origin is partition and file in one
    @counted                       true in the first space that an event goes to: there it is counted
    @bits                          the verdicts (cep.batch.predicates)
    k0 k1 ...                      the key's values
    c0 c1 ...                      computed columns
    f:PATH                         fields that travel as they are
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

MAGIC = b"CEPe"
VERSION = 2
TIME, ID, ORIGIN, OFFSET, COUNTED, BITS, BATCH = (
    "@time",
    "@id",
    "@origin",
    "@offset",
    "@counted",
    "@bits",
    "@batch",
)
_HEAD = struct.Struct("<4sHI")
_PART = struct.Struct("<IQ")


class PayloadError(Exception):
    """Bytes that are no payload, or one of another version."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Judged events of one stream in one space.

    `plan` is the id of the plan that judged them.
    """

    space: str
    stream: str
    plan: str
    table: pa.Table


def pack(segments: Sequence[Segment]) -> bytes:
    """The segments as bytes; equal segments give equal bytes."""
    parts: list[Any] = [_HEAD.pack(MAGIC, VERSION, len(segments))]
    for segment in segments:
        head = json.dumps([segment.space, segment.stream, segment.plan], ensure_ascii=False).encode()
        body = _ipc(segment.table)
        parts += (_PART.pack(len(head), body.size), head, body)
    return b"".join(parts)


def unpack(payload: bytes) -> list[Segment]:
    """The segments of a payload. Raises PayloadError."""
    view = memoryview(payload)
    try:
        magic, version, count = _HEAD.unpack_from(view)
        if magic != MAGIC or version != VERSION:
            raise PayloadError(f"a payload of version {VERSION} was expected")
        at = _HEAD.size
        segments = []
        for _ in range(count):
            head, body = _PART.unpack_from(view, at)
            at += _PART.size
            space, stream, plan = json.loads(bytes(view[at : at + head]))
            at += head
            segments.append(Segment(space, stream, plan, from_ipc(view[at : at + body])))
            at += body
    except (struct.error, ValueError, pa.ArrowException) as error:
        raise PayloadError(f"a payload cannot be read: {error}") from error
    return segments


def to_ipc(table: pa.Table) -> bytes:
    """A table as an Arrow IPC stream of one batch."""
    return _ipc(table).to_pybytes()  # type: ignore[no-any-return]


def _ipc(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        for batch in table.combine_chunks().to_batches():
            writer.write_batch(batch)
    return sink.getvalue()


def from_ipc(data: Any) -> pa.Table:
    """The table of an IPC stream; its buffers may be those of `data`."""
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return reader.read_all()
