"""Events that are values already, through the decoder of JSON lines: one definition of malformed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal

import numpy as np

from cep.decode.blocks import decoder
from cep.decode.formats import FeedFormat
from cep.decode.json_lines import JsonReader
from cep.decode.letters import Decoded
from rules.typed import Stream
from rules.types import ListOf, Record, Scalar, Type


def decode_values(
    stream: Stream,
    rows: Sequence[object],
    *,
    offsets: Sequence[int] | None = None,
    file: str = "events",
    partition: str = "",
    feed: FeedFormat | None = None,
    clock: int | None = None,
) -> Decoded:
    """Events from JSON values, as a line with each would give them (timestamps are ISO strings).

    @offset is the row's position, or what `offsets` (rising) gives: with events of several streams in
    one list, the position there. A dead letter's offset is the same number. `partition` is the
    stream's name by default. `clock` is that of `decoder`.
    """
    using = decoder(stream, feed, clock)
    text = b"\n".join(json.dumps(row, separators=(",", ":")).encode() for row in rows)
    reader = JsonReader(memoryview(text), stream, using.feed, using.constants)
    places = np.array(range(len(rows)) if offsets is None else offsets, np.int64)
    return using.decoded(reader, places, file, partition or stream.name)


def decode_typed(
    stream: Stream,
    rows: Sequence[Mapping[str, object]],
    *,
    offsets: Sequence[int] | None = None,
    file: str = "events",
    partition: str = "",
    clock: int | None = None,
) -> Decoded:
    """Events from values as rules.types.Scalar says: timestamps and durations in nanoseconds.

    Everything else as decode_values does it.
    """
    types = {f.name: f.type for f in stream.fields}
    written = [{name: _written(value, types[name]) for name, value in row.items()} for row in rows]
    feed = FeedFormat(timestamps="epoch_ns")
    return decode_values(
        stream, written, offsets=offsets, file=file, partition=partition, feed=feed, clock=clock
    )


def _written(value: object, type_: Type) -> object:
    match type_, value:
        case Scalar.DURATION, int():
            seconds, nanos = divmod(abs(value), 10**9)
            return f"{'-' if value < 0 else ''}PT{seconds}.{nanos:09d}S"
        case Scalar.DECIMAL, Decimal():
            return format(value, "f")
        case ListOf(element), list() | tuple():
            return [_written(item, element) for item in value]
        case Record(fields), Mapping():
            types = dict(fields)
            return {name: _written(part, types[name]) for name, part in value.items()}
        case _:
            return value
