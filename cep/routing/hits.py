"""Events of documents -> events of hits: the stream that `STREAM matching QUERIES` names.

A hit has its document's time and place, the fields of the document and of the query, and an id of both.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cep.events import FILE, ID, OFFSET, TIME, Events, arrow_type
from cep.expressions.columns import Columns
from cep.plan.plan import HitStream
from cep.standing.answers import QuerySet

_OURS = (TIME, ID, FILE, OFFSET)


@dataclass(frozen=True, slots=True)
class HitEvents:
    """The hits of some documents: `documents` are the rows of the documents that were hit, one a hit,
    `queries` the ids of the queries that did."""

    events: Events
    documents: npt.NDArray[np.int64]
    queries: pa.Array
    undecided: tuple[str, ...]
    unnamed: int


def hits_of(hits: HitStream, queries: QuerySet, events: Events, fields: Collection[str]) -> HitEvents:
    """The hits of documents, in order of document and query id, with these fields of theirs."""
    table = events.table.combine_chunks()
    times = table.column(TIME).to_numpy()
    found = queries.answers(Columns(table).field, times, "names" in fields)
    rows = pa.array(found.documents)
    of_query = {"query": found.query, "tags": found.tags, "priority": found.priority, "names": found.names}
    own = [f.name for f in hits.documents.fields if f.name in fields]
    taken = table.select([*own, *_OURS]).take(rows)
    content = {name: taken.column(name) for name in own}
    content |= {name: column for name, column in of_query.items() if name in fields}
    content |= {name: taken.column(name) for name in _OURS}
    content[ID] = _ids(taken.column(ID), found.query)
    schema = [
        pa.field(f.name, arrow_type(f.type), f.nullable) for f in hits.stream.fields if f.name in content
    ]
    schema += [events.table.schema.field(name) for name in _OURS]
    derived = pa.table(content, pa.schema(schema))
    return HitEvents(
        Events(hits.stream.name, events.partition, derived),
        found.documents,
        found.query,
        found.undecided,
        found.unnamed,
    )


def _ids(documents: pa.ChunkedArray, queries: pa.Array) -> pa.ChunkedArray:
    """cep.events.hit_id by column."""
    escaped = pc.replace_substring(documents, "\\", "\\\\")
    escaped = pc.replace_substring(escaped, " ", "\\ ")
    return pc.binary_join_element_wise(escaped, queries, " ")
