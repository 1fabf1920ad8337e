"""Tables of events as bytes, with the predicates that are true of them: sent to shards, and kept there.

A payload is a sequence of `SpaceEvents`: one stream's events for one key space, as an Arrow IPC stream with a
small JSON head. Columns, in this order, those without use left out by the plan:

    @time @id @origin @offset      as in cep.events; @origin is partition and file in one
    @counted                       true in the first space that an event goes to: there it is counted
    @bits                          the predicate bits (cep.batch.predicates)
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
class SpaceEvents:
    """Events of one stream that some rule of a space wants, with their predicate bits.

    `plan` is the id of the plan whose predicates were evaluated.
    """

    space: str
    stream: str
    plan: str
    table: pa.Table


def pack(events: Sequence[SpaceEvents]) -> bytes:
    """The payload of events; equal events give equal bytes."""
    parts: list[Any] = [_HEAD.pack(MAGIC, VERSION, len(events))]
    for one in events:
        head = json.dumps([one.space, one.stream, one.plan], ensure_ascii=False).encode()
        body = _ipc(one.table)
        parts += (_PART.pack(len(head), body.size), head, body)
    return b"".join(parts)


def unpack(payload: bytes) -> list[SpaceEvents]:
    """The events of a payload. Raises PayloadError."""
    view = memoryview(payload)
    try:
        magic, version, count = _HEAD.unpack_from(view)
        if magic != MAGIC or version != VERSION:
            raise PayloadError(f"a payload of version {VERSION} was expected")
        at = _HEAD.size
        events = []
        for _ in range(count):
            head, body = _PART.unpack_from(view, at)
            at += _PART.size
            space, stream, plan = json.loads(bytes(view[at : at + head]))
            at += head
            events.append(SpaceEvents(space, stream, plan, from_ipc(view[at : at + body])))
            at += body
    except (struct.error, ValueError, pa.ArrowException) as error:
        raise PayloadError(f"a payload cannot be read: {error}") from error
    return events


_COUNTED = 1 << 18
"""Bytes of a table from which its stream is counted first, so that it is not copied while it grows."""
_ALIGNED = 8
"""Every buffer of an IPC stream begins at a multiple of so many bytes (Arrow columnar format, IPC)."""


def to_ipc(table: pa.Table) -> bytes:
    """A table as an Arrow IPC stream of one batch."""
    return _ipc(table).to_pybytes()  # type: ignore[no-any-return]


def _ipc(table: pa.Table) -> pa.Buffer:
    batches = table.combine_chunks().to_batches()
    if table.nbytes < _COUNTED:
        growing = pa.BufferOutputStream()
        _write(growing, table.schema, batches)
        return growing.getvalue()
    counting = pa.MockOutputStream()
    _write(counting, table.schema, batches)
    buffer = pa.allocate_buffer(counting.size())
    _write(pa.FixedSizeBufferWriter(buffer), table.schema, batches)
    return buffer


def _write(sink: Any, schema: pa.Schema, batches: Sequence[pa.RecordBatch]) -> None:
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def from_ipc(data: Any) -> pa.Table:
    """The table of an IPC stream; its buffers may be those of `data`."""
    buffer = pa.py_buffer(data)
    if buffer.address % _ALIGNED:  # kernels take whole words, as Arrow does where it is told to be quick
        buffer = pa.py_buffer(bytes(data))
    with pa.ipc.open_stream(buffer) as reader:
        return reader.read_all()
