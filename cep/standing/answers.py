"""An opened set of standing queries: which of them hit the rows of a table, in order, as the fields of hits.

A set is one process's: what it learns while documents pass changes the speed, never an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.standing.documents import (
    Reader,
    document_at,
    field_columns,
    metadata_columns,
    metadata_of,
    schema_of,
)
from cep.standing.kept import KeptQueries
from percolator.library.answer import Answer
from percolator.library.collection import Collection
from rules.typed import Stream

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Answers:
    """Hits in order of document and query id: the row of each document, and the query's columns.

    `names` is None where nobody asked for it. `undecided` are queries by id, once for each document of which
    nobody knows whether they hit it: positions came to the percolator's budget; `unnamed` counts hits whose
    names did.
    """

    documents: Ints
    query: pa.Array
    tags: pa.Array
    priority: pa.Array
    names: pa.Array | None
    undecided: tuple[str, ...]
    unnamed: int


class QuerySet:
    """The queries of a stream of hits."""

    def __init__(self, queries: KeptQueries, documents: Stream) -> None:
        self._schema = schema_of(documents)
        self._types = metadata_of(documents)
        self._named = np.concatenate([np.zeros(0, np.uint8), *(part.stored.named for part in queries.parts)])
        self._collection = Collection(self._schema, [(part.stored, part.dead) for part in queries.parts])

    def __len__(self) -> int:
        """The number of queries, expired ones too."""
        return len(self._collection)

    def answers(self, read: Reader, times: Ints, named: bool) -> Answers:
        """The hits of the rows that `read` gives columns of; `times` are theirs, in nanoseconds.

        `named` tells whether the names of the parts that were true are wanted.
        """
        collection = self._collection
        columns = field_columns(self._schema, collection.fields, read)
        # A set that asks for nothing still has to know how many documents there are.
        counted = {**columns, "": pa.nulls(len(times))}
        metadata = metadata_columns(self._types, collection.metadata, read)
        found = collection.match_batch(counted, metadata, times // 1000)
        places, which = np.unique(found.query, return_inverse=True)
        queries = [collection.query(place) for place in places.tolist()]
        by_id = np.empty(len(queries), np.int64)
        by_id[sorted(range(len(queries)), key=lambda n: queries[n].id)] = np.arange(len(queries))
        order = np.lexsort((by_id[which], found.document))
        documents, which = found.document[order].astype(np.int64), which[order]
        names, unnamed = None, 0
        if named:
            names, unnamed = self._names(columns, documents, places[which])
        return Answers(
            documents,
            pa.array([query.id for query in queries], pa.string()).take(pa.array(which)),
            pa.array([query.tags for query in queries], pa.list_(pa.string())).take(pa.array(which)),
            pa.array([query.priority for query in queries], pa.int64()).take(pa.array(which)),
            names,
            tuple(collection.query(place).id for _, place in found.undecided),
            unnamed,
        )

    def tried(self, read: Reader, time: int) -> Answer:
        """The hits of the one row that `read` gives columns of, with what made them true."""
        collection = self._collection
        columns = field_columns(self._schema, collection.fields, read)
        metadata = metadata_columns(self._types, collection.metadata, read)
        known = {key: value for key, value in document_at(metadata, 0).items() if value is not None}
        return collection.match(document_at(columns, 0), known, time // 1000, highlight=True)

    def _names(
        self, columns: dict[str, pa.Array], documents: Ints, places: npt.NDArray[np.int32]
    ) -> tuple[pa.Array, int]:
        """The named parts that were true of every hit, and of how many hits they could not be told."""
        found: list[Sequence[str]] = [()] * len(documents)
        unnamed = 0
        wanted = np.flatnonzero(self._named[places] != 0).tolist()
        for document, of_document in groupby(wanted, key=lambda hit: int(documents[hit])):
            hits = list(of_document)
            all_told = self._collection.found_all(
                places[hits].tolist(), document_at(columns, document), highlight=False
            )
            for hit, told in zip(hits, all_told, strict=True):
                found[hit] = told.names
                unnamed += not told.complete
        return pa.array(found, pa.list_(pa.string())), unnamed
