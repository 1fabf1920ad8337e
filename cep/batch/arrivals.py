"""The events of a space that a shard looks at in a batch: waiting ones and new ones, each once, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.batch import payload
from cep.batch.payload import BATCH, COUNTED, ID, OFFSET, ORIGIN, TIME, SpaceEvents
from cep.batch.predicates import Column, widened
from cep.batch.waiting import PlanLayout, Waiting
from cep.counters import Counts, StreamEvents
from cep.hashing.rows import numbered, one_zero, order_of
from cep.hashing.strings import known_to_differ
from cep.plan.plan import Plan, Space
from cep.state.keys import Keys

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(slots=True)
class EventTable:
    """Events of one stream whose predicates one plan evaluated, with the batch in which each came."""

    stream: str
    layout: PlanLayout
    table: pa.Table
    predicates: Column

    def column(self, name: str) -> pa.Array:
        """A column in one piece; nulls where the plan that the events came under had none."""
        if name not in self.table.column_names:
            return pa.nulls(len(self.table))
        return single(self.table.column(name))

    def numbers(self, name: str) -> Ints:
        """An int64 column without nulls."""
        return np.asarray(self.column(name).to_numpy(zero_copy_only=False))


@dataclass(slots=True)
class Arrivals:
    """Events in order of time and arrival: `part` and `row` say where each is."""

    parts: list[EventTable]
    time: Ints
    part: Ints
    row: Ints
    _places: Ints | None = None

    def chosen(self, which: Ints | Bools | slice) -> Arrivals:
        """Some of them, in the order of the indices."""
        row = _some(self.row, which)
        part = self.part[: len(row)] if len(self.parts) == 1 else _some(self.part, which)
        return Arrivals(self.parts, _some(self.time, which), part, row)

    def ordered(self, order: Ints) -> Arrivals:
        """All of them in another order."""
        if len(self.parts) == 1 and are_all(self.row, len(self.row)):
            return Arrivals(self.parts, self.time.take(order), self.part, order)
        return self.chosen(order)

    def rows_of(self, number: int) -> tuple[Ints, Ints]:
        """The events that are of one part: their places here and their rows there."""
        if len(self.parts) == 1:
            if self._places is None:
                self._places = np.arange(len(self.row))
            return self._places, self.row
        places = np.flatnonzero(self.part == number)
        return places, self.row[places]

    def where(self, which: Ints) -> Iterator[tuple[EventTable, Ints, Ints]]:
        """Some of them by part: which of them are of it, and their rows there."""
        rows = self.row.take(which)
        if len(self.parts) == 1:
            if len(which):
                yield self.parts[0], np.arange(len(which)), rows
            return
        part = self.part.take(which)
        for number, table in enumerate(self.parts):
            places = np.flatnonzero(part == number)
            if len(places):
                yield table, places, rows[places]


def are_all(rows: Ints, size: int) -> bool:
    """True of the numbers from 0 up to `size`, one after the other."""
    if not len(rows) or len(rows) != size:
        return len(rows) == size
    return bool(rows[0] == 0 and rows[-1] == size - 1 and (rows[1:] > rows[:-1]).all())


def _some(values: Ints, which: Ints | Bools | slice) -> Ints:
    """Some of the values: by a mask numpy's index takes six times as long as `compress`."""
    if isinstance(which, slice):
        return values[which]
    return values.compress(which) if which.dtype == bool else values.take(which)


def single(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    if column.num_chunks == 1:
        return column.chunk(0)
    return (
        pa.concat_arrays(column.unify_dictionaries().chunks)
        if column.num_chunks
        else pa.array([], column.type)
    )


def parts_of(
    plan: Plan, layout: PlanLayout, waited: Sequence[Waiting], came: Sequence[SpaceEvents], batch: int
) -> list[EventTable]:
    """The events that waited or came in this batch: a table per stream and plan, in feed order."""
    tables: dict[tuple[str, str], list[pa.Table]] = {}
    layouts = {layout.plan: layout}
    for waiting in waited:
        tables.setdefault((waiting.stream, waiting.layout.plan), []).append(waiting.table)
        layouts.setdefault(waiting.layout.plan, waiting.layout)
    for fresh in came:
        numbers = pa.repeat(pa.scalar(batch, pa.int64()), len(fresh.table))
        tables.setdefault((fresh.stream, fresh.plan), []).append(fresh.table.append_column(BATCH, numbers))
    parts = []
    for (stream, plan_id), pieces in sorted(
        tables.items(), key=lambda item: (plan.order(item[0][0]), item[0][1])
    ):
        table = pieces[0] if len(pieces) == 1 else pa.concat_tables(_alike(pieces)).unify_dictionaries()
        table = table.combine_chunks()
        predicates = Column.of(single(table.column(payload.BITS)))
        parts.append(EventTable(stream, layouts[plan_id], table, predicates))
    return parts


def _alike(tables: Sequence[pa.Table]) -> Sequence[pa.Table]:
    """The tables with predicate bits of one form: earlier versions kept no numbers of predicates."""
    if len({table.schema.field(payload.BITS).type for table in tables}) == 1:
        return tables
    place = tables[0].column_names.index(payload.BITS)
    return [
        table.set_column(place, payload.BITS, widened(single(table.column(payload.BITS)))) for table in tables
    ]


def in_order(plan: Plan, parts: list[EventTable], one_partition: bool) -> Arrivals:
    """All events of the parts by time, then batch, feed, partition, file and offset.

    `one_partition`: the streams came interleaved, and the offset alone orders them within a batch.
    """
    if not parts:
        none = np.zeros(0, np.int64)
        return Arrivals(parts, none, none, none)
    sizes = [len(part.table) for part in parts]
    row = _one([np.arange(size) for size in sizes])
    time = np.concatenate([part.numbers(TIME) for part in parts])
    arrivals = Arrivals(parts, time, np.repeat(np.arange(len(parts)), sizes), row)
    place, offset = _places(plan, parts, one_partition), _offsets(parts)
    later = offset[1:] >= offset[:-1]
    if place.any():
        later = (place[1:] > place[:-1]) | ((place[1:] == place[:-1]) & later)
    if not later.all():
        arrivals = arrivals.ordered(np.lexsort((offset, place)))
    if np.any(arrivals.time[1:] < arrivals.time[:-1]):
        arrivals = arrivals.ordered(order_of(arrivals.time))
    return arrivals


def _offsets(parts: Sequence[EventTable]) -> Ints:
    return _one([part.numbers(OFFSET) for part in parts])


def _one(arrays: Sequence[Ints]) -> Ints:
    """Arrays end to end; of one, itself."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _places(plan: Plan, parts: Sequence[EventTable], one_partition: bool) -> Ints:
    """The rank of batch, feed and origin of each event, end to end; with the offset it is that of arrival."""
    batches = _one([p.numbers(BATCH) for p in parts])
    batches = np.unique(batches, return_inverse=True)[1] if batches.min() != batches.max() else batches * 0
    if one_partition:
        return batches
    names: list[str] = sorted({name for p in parts for name in p.column(ORIGIN).dictionary.to_pylist()})
    feeds = [plan.feed(p.stream) for p in parts]
    if len(names) == 1 and len(set(feeds)) == 1:
        return batches
    rank = {name: n for n, name in enumerate(names)}
    origins = []
    for p in parts:
        column = p.column(ORIGIN)
        ranks = np.array([rank[name] for name in column.dictionary.to_pylist()], np.int64)
        origins.append(ranks[column.indices.to_numpy(zero_copy_only=False)])
    of_events = np.repeat(feeds, [len(p.table) for p in parts])
    places: Ints = (batches * len(plan.streams) + of_events) * max(1, len(names)) + np.concatenate(origins)
    return places


def without_duplicates(
    plan: Plan,
    space: Space,
    arrivals: Arrivals,
    one_partition: bool,
    remembered: Mapping[str, pa.Table],
    counts: Counts,
) -> Arrivals:
    """The events without redelivered ones, which are counted, once each, in the first space they reach.

    Of events with equal id, time and key the one that arrived first stays; an equal id with another time or
    key is counted as `id_conflict` and is a new event.
    """
    drop = np.zeros(len(arrivals.time), bool)
    for stream in dict.fromkeys(part.stream for part in arrivals.parts):
        mine = [number for number, part in enumerate(arrivals.parts) if part.stream == stream]
        parts, known = [arrivals.parts[number] for number in mine], remembered.get(stream)
        tables = [part.table for part in parts] + ([] if known is None else [known])
        column = _end_to_end(tables, ID)
        if known_to_differ(column):
            continue
        ids, first = numbered([column])
        if len(first) == len(ids):
            continue
        place, offset = _places(plan, parts, one_partition), _offsets(parts)
        suspects = np.flatnonzero(np.bincount(ids)[ids] > 1)
        came, before = np.split(suspects, [np.searchsorted(suspects, len(place))])
        came = came[np.lexsort((offset[came], place[came]))]
        told = _told_apart(space, tables, np.concatenate((before, came)), ids)
        duplicate, conflict = (which[len(before) :] for which in told)
        counted = _end_to_end(tables[: len(parts)], COUNTED).take(pa.array(came))
        here = counted.to_numpy(zero_copy_only=False)
        repeated, conflicting = StreamEvents(stream, "duplicate"), StreamEvents(stream, "id_conflict")
        for counter, which in ((repeated, duplicate), (conflicting, conflict)):
            if number := int(np.count_nonzero(which & here)):
                counts[counter] += number
        drop[_places_of(arrivals, mine)[came[duplicate]]] = True
    return arrivals.chosen(~drop) if drop.any() else arrivals


def _told_apart(space: Space, tables: Sequence[pa.Table], rows: Ints, ids: Ints) -> tuple[Bools, Bools]:
    """Masks of the rows that repeat an earlier one, and of those with its id but another time or key."""
    names = [TIME, *(f"k{n}" for n in range(len(space.types)))]
    of_id, first_of_id = numbered([pa.array(ids[rows])])
    columns = [pa.array(of_id), *(_end_to_end(tables, name).take(pa.array(rows)) for name in names)]
    same, first = numbered(columns)
    repeats = first[same] < np.arange(len(rows))
    return repeats, ~repeats & (first_of_id[of_id] < np.arange(len(rows)))


def _places_of(arrivals: Arrivals, parts: Sequence[int]) -> Ints:
    """For each row of some parts, end to end, its place among the arrivals."""
    found = []
    for number in parts:
        places, rows = arrivals.rows_of(number)
        of_row = np.empty(len(rows), np.int64)
        of_row[rows] = places
        found.append(of_row)
    return np.concatenate(found)


def _end_to_end(tables: Sequence[pa.Table], name: str) -> pa.Array:
    columns = [single(table.column(name)) for table in tables]
    return columns[0] if len(columns) == 1 else pa.concat_arrays(columns)


def still_waiting(arrivals: Arrivals) -> tuple[Waiting, ...]:
    """The given events, to be kept until the watermark reaches them, in order of arrival."""
    kept = []
    for number, part in enumerate(arrivals.parts):
        _, rows = arrivals.rows_of(number)
        if len(rows):
            table = part.table.take(pa.array(np.sort(rows))).combine_chunks()
            kept.append(Waiting(part.stream, part.layout, _own_dictionary(table)))
    return tuple(kept)


def at_the_watermark(arrivals: Arrivals, space: Space) -> dict[str, pa.Table]:
    """The ids of the given events with their times and keys, by stream."""
    names = [ID, TIME, *(f"k{n}" for n in range(len(space.types)))]
    found: dict[str, list[pa.Table]] = {}
    for number, part in enumerate(arrivals.parts):
        _, rows = arrivals.rows_of(number)
        if len(rows):
            table = part.table.select(names).take(pa.array(np.sort(rows)))
            found.setdefault(part.stream, []).append(table)
    return {stream: pa.concat_tables(tables).combine_chunks() for stream, tables in found.items()}


def _own_dictionary(table: pa.Table) -> pa.Table:
    """The table with only the origins that its rows name."""
    origins = single(table.column(ORIGIN))
    fresh = origins.cast(pa.string()).dictionary_encode()
    return table.set_column(table.column_names.index(ORIGIN), ORIGIN, fresh)


def number_keys(fields: int, events: Arrivals) -> tuple[Keys, Ints]:
    """The keys of the events, and each event's key number. Without fields all are of one key."""
    size = len(events.time)
    if not fields:
        return Keys((), min(1, size)), np.zeros(size, np.int64)
    if not size:
        return Keys((pa.array([], pa.int64()),) * fields, 0), np.zeros(0, np.int64)
    columns, places = [], [events.rows_of(number) for number in range(len(events.parts))]
    for field in range(fields):
        pieces = [
            _taken(part.column(f"k{field}"), rows)
            for part, (_, rows) in zip(events.parts, places, strict=True)
        ]
        columns.append(pieces[0] if len(pieces) == 1 else pa.concat_arrays(pieces))
    codes, first = numbered(columns)
    keys = Keys(tuple(one_zero(column.take(pa.array(first))) for column in columns), len(first))
    if len(places) == 1:
        return keys, codes
    numbers = np.empty(size, np.int64)
    numbers[np.concatenate([where for where, _ in places])] = codes
    return keys, numbers


def _taken(column: pa.Array, rows: Ints) -> pa.Array:
    if are_all(rows, len(column)):
        return column
    return column.take(pa.array(rows))
