"""Before the shuffle: late events set aside, each distinct condition judged by column, events sent to shards.

An event that no rule wants ends here. The others go, with the columns that some rule still needs, as one
payload to the shard of their key, once per key space. Counters have names of several parts, e.g.
("events", stream, "accepted").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cep.events import FILE, ID, OFFSET, TIME, Events
from cep.expressions.columns import Columns
from cep.plan.plan import HitStream, Plan, Space, StreamPlan
from cep.routing import payload
from cep.routing.payload import Segment
from cep.routing.shards import shards_of
from cep.routing.verdicts import Verdicts, judged

if TYPE_CHECKING:
    from cep.standing.hits import Found, QuerySets

Count = tuple[str, ...]
SEPARATOR = "\x1f"
"""Between partition and file in an event's origin."""


@dataclass(frozen=True, slots=True)
class Classified:
    """What a batch (or a mapper's part of it) came to.

    `payloads` by shard, for `match_shard`. `late` holds the events that came too late, as they
    were. `greatest` is the greatest event time by (stream, partition), late events included, `first` the
    least by stream, without them. `counts` by name: ("events", stream, accepted | late | null_key |
    unwanted), ("overflows", "stream", stream), ("queries", documents, queries, documents | hits | undecided |
    unnamed), ("undecided", documents, queries, query, "times"). An event with a null key still meets the
    rules that have another key or none.
    """

    payloads: dict[int, bytes]
    late: list[Events]
    greatest: dict[tuple[str, str], int]
    counts: Counter[Count] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)


def classify(
    plan: Plan, shards: int, batch: Sequence[Events], watermark: int, sets: QuerySets | None = None
) -> Classified:
    """Judge a batch. `watermark` is the one before the batch: what is older is late.

    `accepted` counts every event that is not late, wanted or not. `sets` opens the standing queries of a
    stream of hits; None: those of the files that the packs name.
    """
    counts: Counter[Count] = Counter()
    greatest: dict[tuple[str, str], int] = {}
    first: dict[str, int] = {}
    late: list[Events] = []
    segments: dict[int, list[Segment]] = {}
    for events in batch:
        if not len(events.table):
            continue
        times = events.table.column(TIME)
        place = (events.stream, events.partition)
        newest = pc.max(times).as_py()
        greatest[place] = max(newest, greatest.get(place, newest))
        in_time = events
        if pc.min(times).as_py() < watermark:
            too_late = pc.less(times, watermark)
            late.append(Events(events.stream, events.partition, events.table.filter(too_late)))
            in_time = Events(events.stream, events.partition, events.table.filter(pc.invert(too_late)))
            counts["events", events.stream, "late"] += len(late[-1].table)
        if len(in_time.table):
            counts["events", events.stream, "accepted"] += len(in_time.table)
            oldest = pc.min(in_time.table.column(TIME)).as_py()
            first[events.stream] = min(oldest, first.get(events.stream, oldest))
            went, found = _judged(plan, shards, in_time, counts)
            for hits in (one for one in plan.hits.values() if one.documents.name == events.stream):
                derived = _hits(hits, in_time, sets, counts, first)
                hit_went, of_hits = _judged(plan, shards, derived.events, counts)
                went[derived.documents[hit_went]] = True
                found += of_hits
            if not went.all() and (events.stream in plan.read):
                counts["events", events.stream, "unwanted"] += int(np.count_nonzero(~went))
            for shard, segment in found:
                segments.setdefault(shard, []).append(segment)
    return Classified(
        {shard: payload.pack(parts) for shard, parts in sorted(segments.items())},
        late,
        greatest,
        counts,
        first,
    )


def _hits(
    hits: HitStream,
    documents: Events,
    sets: QuerySets | None,
    counts: Counter[Count],
    first: dict[str, int],
) -> Found:
    # Packs without standing queries do not pay for the percolator's import.
    from cep.standing.hits import hits_of, local_set

    found = hits_of(hits, (sets or local_set)(hits), documents, hits.fields)
    name = ("queries", hits.documents.name, hits.queries.name)
    counts[(*name, "documents")] += len(documents.table)
    counts[(*name, "hits")] += len(found.documents)
    if found.unnamed:
        counts[(*name, "unnamed")] += found.unnamed
    for query in found.undecided:
        counts[(*name, "undecided")] += 1
        counts[("undecided", *name[1:], query, "times")] += 1
    if len(found.documents):
        oldest = pc.min(found.events.table.column(TIME)).as_py()
        first[hits.stream.name] = min(oldest, first.get(hits.stream.name, oldest))
    return found


def _judged(
    plan: Plan, shards: int, events: Events, counts: Counter[Count]
) -> tuple[npt.NDArray[np.bool_], list[tuple[int, Segment]]]:
    """Which events go to some shard, and what goes there."""
    counted = np.zeros(len(events.table), bool)
    spaces = [(space, needs) for space in plan.spaces if (needs := space.of(events.stream)) is not None]
    if not spaces or not len(events.table):
        return counted, []
    table = events.table.combine_chunks()
    columns = Columns(table)
    searches = plan.searches.get(events.stream, ())
    if searches:
        # Packs without text conditions do not pay for the percolator's import.
        from cep.expressions.searches import answers

        columns.hits = answers(plan.stream(events.stream), searches, table, columns.field)
    origins = _origins(table, events.partition)
    found: list[tuple[int, Segment]] = []
    for space, needs in spaces:
        verdicts = judged(columns, needs.together)
        keys = [columns.field(path) for path in needs.key]
        wanted = _with_key(keys, verdicts.wanted(), counts, events.stream)
        if not wanted.any():
            continue
        rows = np.flatnonzero(wanted)
        travelling = _travelling(columns, needs, keys, origins, ~counted)
        counted |= wanted
        for shard, part in _by_shard(space, travelling, verdicts, rows, shards):
            found.append((shard, Segment(space.id, events.stream, plan.id, part)))
    if columns.overflows:
        counts["overflows", "stream", events.stream] += columns.overflows
    return counted, found


def _with_key(
    keys: Sequence[pa.Array], wanted: npt.NDArray[np.bool_], counts: Counter[Count], stream: str
) -> npt.NDArray[np.bool_]:
    """Events with a null in their key meet no rule of the space."""
    for key in keys:
        if key.null_count:
            null = key.is_null().to_numpy(zero_copy_only=False)
            counts["events", stream, "null_key"] += int(np.count_nonzero(null & wanted))
            wanted = wanted & ~null
    return wanted


def _origins(table: pa.Table, partition: str) -> pa.DictionaryArray:
    """Partition and file as one value, so that they sort as a pair."""
    files = table.column(FILE).combine_chunks()
    if isinstance(files, pa.ChunkedArray):
        files = files.chunk(0)
    names = [partition + SEPARATOR + name for name in files.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(files.indices, pa.array(names, pa.string()))


def _travelling(
    columns: Columns,
    needs: StreamPlan,
    keys: Sequence[pa.Array],
    origins: pa.DictionaryArray,
    counted: npt.NDArray[np.bool_],
) -> pa.Table:
    table = columns.table
    content: dict[str, pa.Array] = {
        payload.TIME: table.column(TIME),
        payload.ID: table.column(ID),
        payload.ORIGIN: origins,
        payload.OFFSET: table.column(OFFSET),
        payload.COUNTED: pa.array(counted),
    }
    content |= {f"k{n}": key for n, key in enumerate(keys)}
    content |= {f"c{n}": columns.evaluate(e) for n, e in enumerate(needs.columns)}
    content |= {"f:" + ".".join(path): columns.field(path) for path in needs.fields}
    return pa.table(content)


def _by_shard(
    space: Space,
    table: pa.Table,
    verdicts: Verdicts,
    rows: npt.NDArray[np.int64],
    shards: int,
) -> list[tuple[int, pa.Table]]:
    """The wanted rows, one table per shard, each in order of arrival."""
    if space.spread:
        key = [table.column(payload.ID).combine_chunks()]
    else:
        key = [table.column(f"k{n}").combine_chunks() for n in range(len(space.types))]
    key = [k.chunk(0) if isinstance(k, pa.ChunkedArray) else k for k in key]
    if len(rows) < len(table):
        key = [column.take(pa.array(rows)) for column in key]
    homes = shards_of(key, len(rows), shards).astype(np.int16)
    if homes.min() != homes.max():
        # Stable, so that arrival is kept; int16 takes numpy's radix sort.
        order = np.argsort(homes, kind="stable")
        homes, rows = homes[order], rows[order]
        sorted_table = table.take(pa.array(rows))
    else:
        sorted_table = table if len(rows) == len(table) else table.take(pa.array(rows))
    place = table.column_names.index(payload.COUNTED) + 1
    sorted_table = sorted_table.add_column(place, payload.BITS, verdicts.column(rows))
    starts = np.flatnonzero(np.r_[True, homes[1:] != homes[:-1]])
    ends = np.r_[starts[1:], len(homes)]
    return [
        (int(homes[start]), sorted_table.slice(start, end - start))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]


def merged(counts: Sequence[Mapping[Count, int]]) -> Counter[Count]:
    """The sum of counters."""
    total: Counter[Count] = Counter()
    for part in counts:
        total.update(part)
    return total
