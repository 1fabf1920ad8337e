"""Before the shuffle: sets late events aside, evaluates each distinct predicate by column, divides by shard.

An event
 that no rule wants ends here. The others go, with the columns that some rule still needs, as one
payload to the shard of their key, once per key space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cep.batch import payload
from cep.batch.clock import Partition, Seen
from cep.batch.payload import SpaceEvents
from cep.batch.predicates import PredicateBits, evaluated
from cep.counters import Counts, Overflows, QueryDocuments, QueryHits, StreamEvents, UndecidedDocuments
from cep.events import FILE, ID, OFFSET, TIME, Events
from cep.expressions.columns import Columns
from cep.hashing.shards import shards_of
from cep.plan.plan import HitStream, Plan, Space, StreamPlan
from cep.resources.searches import TextSearches
from cep.resources.standing import StandingQueries

if TYPE_CHECKING:
    from cep.resources.resource import Resources
    from cep.routing.hits import HitEvents

SEPARATOR = "\x1f"
"""Between partition and file in an event's origin."""


@dataclass(frozen=True, slots=True)
class Classified:
    """The results of a batch, or of a mapper's part of it.

    `payloads` by shard, for `match_shard`. `late` holds the events that came too late, `accepted` the others,
    as they were. An event with a null key still meets the rules that have another key or none.
    """

    payloads: dict[int, memoryview]
    late: list[Events]
    seen: Seen
    counts: Counts = field(default_factory=Counts)
    accepted: list[Events] = field(default_factory=list)


def classify(
    plan: Plan, shards: int, batch: Sequence[Events], watermark: int, resources: Resources
) -> Classified:
    """Evaluates a batch's predicates, and packs its events by shard.

    `watermark` is the one before the batch: what is older is late.

    `accepted` counts every event that is not late, wanted or not. `resources` are what conditions and streams
    of hits look up. Raises as `Resources.open` does.
    """
    counts = Counts()
    greatest: dict[Partition, int] = {}
    first: dict[str, int] = {}
    late: list[Events] = []
    accepted: list[Events] = []
    by_shard: dict[int, list[SpaceEvents]] = {}
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
            counts[StreamEvents(events.stream, "late")] += len(late[-1].table)
        if len(in_time.table):
            accepted.append(in_time)
            counts[StreamEvents(events.stream, "accepted")] += len(in_time.table)
            oldest = pc.min(in_time.table.column(TIME)).as_py()
            first[events.stream] = min(oldest, first.get(events.stream, oldest))
            went, found = _routed(plan, shards, in_time, counts, resources)
            for hits in (one for one in plan.hits.values() if one.documents.name == events.stream):
                derived = _hits(hits, in_time, resources, counts, first)
                hit_went, of_hits = _routed(plan, shards, derived.events, counts, resources)
                went[derived.documents[hit_went]] = True
                found += of_hits
            if not went.all() and (events.stream in plan.read):
                counts[StreamEvents(events.stream, "unwanted")] += int(np.count_nonzero(~went))
            for shard, one in found:
                by_shard.setdefault(shard, []).append(one)
    return Classified(
        {shard: payload.pack(parts) for shard, parts in sorted(by_shard.items())},
        late,
        Seen(greatest, first),
        counts,
        accepted,
    )


def _hits(
    hits: HitStream,
    documents: Events,
    resources: Resources,
    counts: Counts,
    first: dict[str, int],
) -> HitEvents:
    # Packs without standing queries do not pay for the percolator's import.
    from cep.routing.hits import hits_of

    found = hits_of(hits, resources.open(StandingQueries(hits)), documents, hits.fields)
    of = hits.documents.name, hits.queries.name
    counts[QueryDocuments(*of, "documents")] += len(documents.table)
    counts[QueryDocuments(*of, "hits")] += len(found.documents)
    if found.unnamed:
        counts[QueryDocuments(*of, "unnamed")] += found.unnamed
    hit = pc.value_counts(found.queries)
    for query, number in zip(hit.field(0).to_pylist(), hit.field(1).to_pylist(), strict=True):
        counts[QueryHits(*of, query)] += number
    for query in found.undecided:
        counts[QueryDocuments(*of, "undecided")] += 1
        counts[UndecidedDocuments(*of, query)] += 1
    if len(found.documents):
        oldest = pc.min(found.events.table.column(TIME)).as_py()
        first[hits.stream.name] = min(oldest, first.get(hits.stream.name, oldest))
    return found


def _routed(
    plan: Plan, shards: int, events: Events, counts: Counts, resources: Resources
) -> tuple[npt.NDArray[np.bool_], list[tuple[int, SpaceEvents]]]:
    """A mask of the events that go to some shard, and by shard what goes there."""
    counted = np.zeros(len(events.table), bool)
    spaces = [(space, needs) for space in plan.spaces if (needs := space.of(events.stream)) is not None]
    if not spaces or not len(events.table):
        return counted, []
    table = events.table.combine_chunks()
    searches = plan.searches.get(events.stream, ())
    asked = TextSearches(plan.stream(events.stream), searches) if searches else None
    columns = Columns(table, None if asked is None else resources.open(asked))
    origins = _origins(table, events.partition)
    found: list[tuple[int, SpaceEvents]] = []
    for space, needs in spaces:
        predicates = evaluated(columns, needs.together)
        keys = [columns.field(path) for path in needs.key]
        wanted = _with_key(keys, predicates.wanted(), counts, events.stream)
        if not wanted.any():
            continue
        rows = np.flatnonzero(wanted)
        travelling = _travelling(columns, needs, keys, origins, ~counted)
        counted |= wanted
        for shard, part in _by_shard(space, travelling, predicates, rows, shards):
            found.append((shard, SpaceEvents(space.id, events.stream, plan.id, part)))
    if columns.overflows:
        counts[Overflows("stream", "", events.stream)] += columns.overflows
    return counted, found


def _with_key(
    keys: Sequence[pa.Array], wanted: npt.NDArray[np.bool_], counts: Counts, stream: str
) -> npt.NDArray[np.bool_]:
    """Events with a null in their key meet no rule of the space."""
    for key in keys:
        if key.null_count:
            null = key.is_null().to_numpy(zero_copy_only=False)
            counts[StreamEvents(stream, "null_key")] += int(np.count_nonzero(null & wanted))
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
    predicates: PredicateBits,
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
        homes, rows = homes.take(order), rows.take(order)
        sorted_table = table.take(pa.array(rows))
    else:
        sorted_table = table if len(rows) == len(table) else table.take(pa.array(rows))
    place = table.column_names.index(payload.COUNTED) + 1
    sorted_table = sorted_table.add_column(place, payload.BITS, predicates.column(rows))
    starts = np.flatnonzero(np.r_[True, homes[1:] != homes[:-1]])
    ends = np.r_[starts[1:], len(homes)]
    return [
        (int(homes[start]), sorted_table.slice(start, end - start))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]
