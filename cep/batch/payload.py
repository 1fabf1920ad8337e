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


def pack(events: Sequence[SpaceEvents]) -> memoryview:
    """The payload of events; equal events give equal bytes. Each table begins at a whole word."""
    found: list[tuple[bytes, pa.Table, pa.Buffer | None, int]] = []
    size = _HEAD.size
    for one in events:
        table = one.table.combine_chunks()
        head = json.dumps([one.space, one.stream, one.plan], ensure_ascii=False).encode()
        head += b" " * (-(size + _PART.size + len(head)) % _ALIGNED)
        body = _small(table)
        length = _size(table) if body is None else body.size
        found.append((head, table, body, length))
        size += _PART.size + len(head) + length
    whole = pa.allocate_buffer(size)
    with pa.FixedSizeBufferWriter(whole) as out:
        out.write(_HEAD.pack(MAGIC, VERSION, len(events)))
        for head, table, body, length in found:
            out.write(_PART.pack(len(head), length))
            out.write(head)
            if body is None:
                _write(out, table)
            else:
                out.write(body)
    return memoryview(whole).cast("B")


def unpack(payload: bytes | memoryview) -> list[SpaceEvents]:
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
    table = table.combine_chunks()
    small = _small(table)
    if small is not None:
        return small.to_pybytes()  # type: ignore[no-any-return]
    whole = pa.allocate_buffer(_size(table))
    _write(pa.FixedSizeBufferWriter(whole), table)
    return whole.to_pybytes()  # type: ignore[no-any-return]


def _small(table: pa.Table) -> pa.Buffer | None:
    """The IPC stream of a table; None if that is so large that its bytes are counted first."""
    if table.nbytes >= _COUNTED:
        return None
    growing = pa.BufferOutputStream()
    _write(growing, table)
    return growing.getvalue()


def _size(table: pa.Table) -> int:
    """The bytes of its IPC stream."""
    counting = pa.MockOutputStream()
    _write(counting, table)
    return int(counting.size())


def _write(sink: Any, table: pa.Table) -> None:
    with pa.ipc.new_stream(sink, table.schema) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)


def from_ipc(data: Any) -> pa.Table:
    """The table of an IPC stream; its buffers may be those of `data`."""
    buffer = pa.py_buffer(data)
    if buffer.address % _ALIGNED:  # kernels take whole words, as Arrow does where it is told to be quick
        buffer = pa.py_buffer(bytes(data))
    with pa.ipc.open_stream(buffer) as reader:
        return reader.read_all()
