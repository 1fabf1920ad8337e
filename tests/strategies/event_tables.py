"""Arrivals as the engines take them: Arrow tables for the one that runs, plain rows for the reference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
from random_streams import Arrival

from cep.events import FILE, ID, OFFSET, TIME, Events, event_schema
from rules.typed import Pack

Row = tuple[str, str, dict[str, object]]
"""Stream, id and values: what the reference takes."""


def tables(pack: Pack, batch: Sequence[Arrival], first_offset: int = 0) -> list[Events]:
    """A batch by stream and source partition. Offsets go on from `first_offset` in every file."""
    numbered = list(enumerate(batch, first_offset))
    feeds = sorted({(arrival.stream, arrival.partition) for arrival in batch})
    return [
        _table(
            pack,
            stream,
            partition,
            [(n, a) for n, a in numbered if (a.stream, a.partition) == (stream, partition)],
        )
        for stream, partition in feeds
    ]


def _table(pack: Pack, name: str, partition: str, rows: list[tuple[int, Arrival]]) -> Events:
    stream = pack.stream(name)
    schema = event_schema(stream)
    columns: dict[str, list[object]] = {
        f.name: [a.values.get(f.name) for _, a in rows] for f in stream.fields
    }
    columns[TIME] = [a.time for _, a in rows]
    columns[ID] = [a.values["id_"] for _, a in rows]
    columns[FILE] = [a.file for _, a in rows]
    columns[OFFSET] = [n for n, _ in rows]
    arrays = [pa.array(columns[f.name], f.type) for f in schema]
    return Events(name, partition, pa.Table.from_arrays(arrays, schema=schema))


def in_order_of_arrival(pack: Pack, batches: Iterable[Sequence[Arrival]]) -> list[tuple[int, Arrival]]:
    """Every arrival with its batch's number: by batch, feed as declared, source partition, place."""
    order = [stream.name for stream in pack.streams]
    return [
        (number, arrival)
        for number, batch in enumerate(batches)
        for _, arrival in sorted(
            enumerate(batch),
            key=lambda item: (order.index(item[1].stream), item[1].partition, item[1].file, item[0]),
        )
    ]


def row(arrival: Arrival) -> Row:
    """The arrival as the reference takes it."""
    return arrival.stream, arrival.values["id_"], arrival.values
