"""The events of a space that a shard looks at in a batch: waiting ones and new ones, each once, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.automata.plan import Plan, Space
from cep.matching.waiting import Layout, Waiting
from cep.routing import payload
from cep.routing.payload import BATCH, COUNTED, ID, OFFSET, ORIGIN, TIME, Segment, unpack_bits

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(slots=True)
class Part:
    """Events of one stream that were judged by one plan, with the batch in which each came."""

    stream: str
    layout: Layout
    table: pa.Table
    bits: npt.NDArray[np.uint8]

    def column(self, name: str) -> pa.Array:
        """A column in one piece; nulls where the plan that judged the events had none."""
        if name not in self.table.column_names:
            return pa.nulls(len(self.table))
        return single(self.table.column(name))

    def numbers(self, name: str) -> Ints:
        """An int64 column without nulls."""
        return np.asarray(self.column(name).to_numpy(zero_copy_only=False))


@dataclass(slots=True)
class Arrivals:
    """Events in order of time and arrival: `part` and `row` say where each is.

    `place` ranks batch, feed and origin; with `offset` it is the order of events of one instant.
    """

    parts: list[Part]
    time: Ints
    part: Ints
    row: Ints
    place: Ints
    offset: Ints

    def chosen(self, which: Ints | Bools) -> Arrivals:
        """Some of them, in the order of the indices."""
        return Arrivals(
            self.parts,
            self.time[which],
            self.part[which],
            self.row[which],
            self.place[which],
            self.offset[which],
        )

    def rows_of(self, number: int) -> tuple[Ints, Ints]:
        """The events that are of one part: their places here and their rows there."""
        if len(self.parts) == 1:
            return np.arange(len(self.row)), self.row
        places = np.flatnonzero(self.part == number)
        return places, self.row[places]


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
    plan: Plan, layout: Layout, waited: Sequence[Waiting], segments: Sequence[Segment], batch: int
) -> list[Part]:
    """What waited and what came in this batch; one part per stream and plan, in feed order."""
    tables: dict[tuple[str, str], list[pa.Table]] = {}
    layouts = {layout.plan: layout}
    for waiting in waited:
        tables.setdefault((waiting.stream, waiting.layout.plan), []).append(waiting.table)
        layouts.setdefault(waiting.layout.plan, waiting.layout)
    for segment in segments:
        came = segment.table.append_column(BATCH, pa.repeat(pa.scalar(batch, pa.int64()), len(segment.table)))
        tables.setdefault((segment.stream, segment.plan), []).append(came)
    parts = []
    for (stream, judge), pieces in sorted(
        tables.items(), key=lambda item: (plan.order(item[0][0]), item[0][1])
    ):
        table = pieces[0] if len(pieces) == 1 else pa.concat_tables(pieces).unify_dictionaries()
        table = table.combine_chunks()
        bits = unpack_bits(single(table.column(payload.BITS)))
        parts.append(Part(stream, layouts[judge], table, bits))
    return parts


def in_order(plan: Plan, parts: list[Part], one_partition: bool) -> Arrivals:
    """All events of the parts by time, then batch, feed, partition, file and offset.

    `one_partition`: the streams came interleaved, and the offset alone orders them within a batch.
    """
    sizes = [len(part.table) for part in parts]
    part = np.repeat(np.arange(len(parts)), sizes)
    row = np.concatenate([np.arange(size) for size in sizes]) if parts else np.zeros(0, np.int64)
    if not parts:
        none = np.zeros(0, np.int64)
        return Arrivals(parts, none, none, none, none, none)
    time = np.concatenate([p.numbers(TIME) for p in parts])
    offset = np.concatenate([p.numbers(OFFSET) for p in parts])
    place = _places(plan, parts, one_partition)
    arrivals = Arrivals(parts, time, part, row, place, offset)
    step, move = np.diff(place), np.diff(offset)
    if not np.all((step > 0) | ((step == 0) & (move >= 0))):
        arrivals = arrivals.chosen(np.lexsort((offset, place)))
    if np.any(np.diff(arrivals.time) < 0):
        arrivals = arrivals.chosen(np.argsort(arrivals.time, kind="stable"))
    return arrivals


def _places(plan: Plan, parts: list[Part], one_partition: bool) -> Ints:
    batches = np.concatenate([p.numbers(BATCH) for p in parts])
    batches = np.unique(batches, return_inverse=True)[1] if batches.min() != batches.max() else batches * 0
    if one_partition:
        return batches
    names: list[str] = sorted({name for p in parts for name in p.column(ORIGIN).dictionary.to_pylist()})
    rank = {name: n for n, name in enumerate(names)}
    origins = []
    for p in parts:
        column = p.column(ORIGIN)
        ranks = np.array([rank[name] for name in column.dictionary.to_pylist()], np.int64)
        origins.append(ranks[column.indices.to_numpy(zero_copy_only=False)])
    feeds = np.repeat([plan.feed(p.stream) for p in parts], [len(p.table) for p in parts])
    places: Ints = (batches * len(plan.streams) + feeds) * max(1, len(names)) + np.concatenate(origins)
    return places


def without_duplicates(
    space: Space,
    arrivals: Arrivals,
    remembered: Mapping[str, pa.Table],
    counts: Counter[tuple[str, ...]],
) -> Arrivals:
    """The events without redelivered ones, which are counted, once each, in the first space they reach.

    Of events with equal id, time and key the one that arrived first stays; an equal id with another time or
    key is counted as `id_conflict` and is a new event.
    """
    drop = np.zeros(len(arrivals.time), bool)
    for stream in dict.fromkeys(part.stream for part in arrivals.parts):
        numbers = [n for n, part in enumerate(arrivals.parts) if part.stream == stream]
        ids = [arrivals.parts[n].column(ID) for n in numbers]
        known = remembered.get(stream)
        if known is not None:
            ids.append(single(known.column(ID)))
        encoded = (ids[0] if len(ids) == 1 else pa.concat_arrays(ids)).dictionary_encode()
        if len(encoded.dictionary) < len(encoded):
            _drop_repeated(space, arrivals, stream, numbers, encoded, known, counts, drop)
    return arrivals.chosen(~drop) if drop.any() else arrivals


def _drop_repeated(
    space: Space,
    arrivals: Arrivals,
    stream: str,
    numbers: Sequence[int],
    encoded: pa.DictionaryArray,
    known: pa.Table | None,
    counts: Counter[tuple[str, ...]],
    drop: Bools,
) -> None:
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    repeated = np.bincount(codes, minlength=len(encoded.dictionary)) > 1
    keys = [f"k{n}" for n in range(len(space.types))]
    seen: dict[int, set[tuple[object, ...]]] = {}
    sizes = [len(arrivals.parts[n].table) for n in numbers]
    starts = dict(zip(numbers, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))
    if known is not None:
        for row in range(len(known)):
            code = int(codes[sum(sizes) + row])
            if repeated[code]:
                seen.setdefault(code, set()).add(_identity(known, row, keys))
    mine = np.isin(arrivals.part, numbers)
    of_event = np.zeros(len(arrivals.part), np.int64)
    for number in numbers:
        places, rows = arrivals.rows_of(number)
        of_event[places] = codes[starts[number] + rows]
    suspects = np.flatnonzero(mine & repeated[of_event])
    by_arrival = suspects[np.lexsort((arrivals.offset[suspects], arrivals.place[suspects]))]
    for event in by_arrival.tolist():
        table = arrivals.parts[int(arrivals.part[event])].table
        row = int(arrivals.row[event])
        identity = _identity(table, row, keys)
        before = seen.setdefault(int(of_event[event]), set())
        outcome = "duplicate" if identity in before else "id_conflict" if before else ""
        drop[event] = outcome == "duplicate"
        before.add(identity)
        if outcome and table.column(COUNTED)[row].as_py():
            counts["events", stream, outcome] += 1


def _identity(table: pa.Table, row: int, keys: Sequence[str]) -> tuple[object, ...]:
    return (table.column(TIME)[row].as_py(), *(table.column(key)[row].as_py() for key in keys))


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
