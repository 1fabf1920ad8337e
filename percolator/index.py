"""Standing queries, compiled once, answered for columns of documents: `Index.build`, `Index.match`.

Chunks of documents bound the memory. In each chunk, queries that need a word which no document has are
left out by arrays over all queries (percolator.candidates); the others are evaluated (percolator.match).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from percolator.analysis import analyser
from percolator.candidates import Candidates
from percolator.compile import Expression, LeafTable, compile_query, fields_of
from percolator.match import FieldValues, evaluate, find_words
from percolator.query.tree import Node
from percolator.schema import Schema
from percolator.vocabulary import Vocabulary

_CHUNK_DOCUMENTS = 2048
_CHUNK_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Hits:
    """Pairs (document, query) in this order: row of the columns, place in `Index.ids`."""

    document: npt.NDArray[np.int32]
    query: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The queries of one schema, made by `build`. Results are exact.

    The vocabularies learn words while documents pass; that changes the speed, never an answer. One
    thread may use an index at a time.
    """

    ids: tuple[str, ...]
    schema: Schema
    expressions: tuple[Expression, ...]
    leaf_count: int
    candidates: Candidates
    vocabularies: Mapping[str, Vocabulary]
    fields: frozenset[str]
    """The fields that some query asks for: `match` needs their columns."""

    @classmethod
    def build(cls, queries: Sequence[tuple[str, Node]], schema: Schema) -> Index:
        """An index of (id, query); equal ids are allowed, the place in the sequence tells them apart.

        Raises QueryError for a query that the schema or this version cannot answer.
        """
        leaves = LeafTable()
        expressions = tuple([compile_query(node, schema, leaves) for _, node in queries])
        tests: dict[str, list[int]] = {}
        for number, test in enumerate(leaves.tests):
            tests.setdefault(test.field, []).append(number)
        vocabularies = {
            name: Vocabulary(
                analyser(schema.fields[name].analyser), [(number, leaves.tests[number]) for number in numbers]
            )
            for name, numbers in tests.items()
        }
        return cls(
            tuple([id_ for id_, _ in queries]),
            schema,
            expressions,
            len(leaves.tests),
            Candidates.of(expressions),
            vocabularies,
            frozenset(vocabularies).union(*map(fields_of, expressions)),
        )

    def match(self, columns: Mapping[str, pa.Array | pa.ChunkedArray]) -> Hits:
        """The hits of each row, sorted by (document, query).

        Columns are strings, dictionaries of strings, or lists of strings (a field with several values),
        all of one length; a null is a field without a value. Columns that no query asks for are only
        counted. Raises ValueError where a field that a query asks for has no column, or lengths differ.
        """
        missing = sorted(self.fields - columns.keys())
        if missing:
            raise ValueError(f"no column for the field {', '.join(missing)}")
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"the columns differ in length: {sorted(lengths)}")
        size = lengths.pop() if lengths else 0
        wanted = {name: columns[name] for name in self.fields}
        heaviest = sum(column.nbytes for column in wanted.values()) // max(size, 1) + 1
        step = max(1, min(_CHUNK_DOCUMENTS, _CHUNK_BYTES // heaviest))
        documents: list[npt.NDArray[np.int64]] = []
        queries: list[npt.NDArray[np.int64]] = []
        for start in range(0, size, step):
            chunk = {name: _values(column.slice(start, step)) for name, column in wanted.items()}
            found_documents, found_queries = self._match_chunk(min(step, size - start), chunk)
            documents.append(found_documents + start)
            queries.append(found_queries)
        if not documents:
            return Hits(np.empty(0, np.int32), np.empty(0, np.int32))
        return Hits(np.concatenate(documents).astype(np.int32), np.concatenate(queries).astype(np.int32))

    def _match_chunk(
        self, size: int, chunk: Mapping[str, FieldValues]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        for vocabulary in self.vocabularies.values():
            vocabulary.forget_if_full()
        found = find_words(size, chunk, self.vocabularies, self.leaf_count)
        documents: list[npt.NDArray[np.int64]] = []
        hit: list[int] = []
        for query in self.candidates.among(found.present_leaves()).tolist():
            rows = np.flatnonzero(evaluate(self.expressions[query], found))
            if len(rows):
                documents.append(rows)
                hit.append(query)
        if not hit:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        all_documents = np.concatenate(documents)
        all_queries = np.repeat(np.array(hit, np.int64), [len(rows) for rows in documents])
        order = np.lexsort((all_queries, all_documents))
        return all_documents[order], all_queries[order]


def _values(column: pa.Array | pa.ChunkedArray) -> FieldValues:
    """A slice of a column as Python strings."""
    entries: list[Any] = column.to_pylist()
    type_ = column.type
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        values = [[text for text in entry or () if text is not None] for entry in entries]
        return FieldValues(values, np.array([bool(one) for one in values], np.bool_))
    present = np.array([entry is not None for entry in entries], np.bool_)
    return FieldValues([() if entry is None else (entry,) for entry in entries], present)
