"""Queries that do not change any more: a segment, which answers documents, and beside it their records.

On disk two files: `NAME.segment` (percolator.segment), and `NAME.records`, an Arrow IPC file with a row a
query: its JSON, when it expires, what it is believed to cost, whether it has named parts; and the hashes of
the ids in order, each with its row. Both are mapped, not read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from percolator.build import SegmentBuilder
from percolator.disk import Data, Disk
from percolator.library.damage import DamagedError
from percolator.library.standing import NEVER, StandingQuery
from percolator.matching.documents import Column
from percolator.query.tree import Named, Node, children
from percolator.schema import Schema
from percolator.segment import QuerySegment

SUFFIXES = (".segment", ".records")


@dataclass(frozen=True)
class StoredSegment:
    """`expires` and `cost` are by place; `cost` is percolator.library.cost's."""

    segment: QuerySegment
    records: pa.RecordBatch

    @classmethod
    def of(
        cls,
        queries: Sequence[tuple[StandingQuery, Node, float]],
        schema: Schema,
        sample: Mapping[str, Column] | None = None,
    ) -> StoredSegment:
        """From queries of different ids, their trees, which percolator.checks lets pass, and costs.

        `sample` is `SegmentBuilder.segment`'s.
        """
        builder = SegmentBuilder(schema)
        for query, node, _ in queries:
            builder.add(query.id, node, query.filter)
        hashes = np.array([id_hash(query.id) for query, _, _ in queries], np.uint64)
        order = np.argsort(hashes, kind="stable")
        columns = {
            "query": pa.array([_written(query) for query, _, _ in queries], pa.large_binary()),
            "expires": pa.array([query.expires for query, _, _ in queries], pa.int64()),
            "cost": pa.array([cost for _, _, cost in queries], pa.float32()),
            "named": pa.array([int(has_names(node)) for _, node, _ in queries], pa.uint8()),
            "hash": pa.array(hashes[order], pa.uint64()),
            "row": pa.array(order, pa.int32()),
        }
        return cls(builder.segment(sample), pa.RecordBatch.from_pydict(columns))

    def parts(self) -> Mapping[str, Iterator[Data]]:
        """The contents of its files by suffix."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, self.records.schema) as writer:
            writer.write_batch(self.records)
        return {".segment": self.segment.parts(), ".records": iter([memoryview(sink.getvalue())])}

    def save(self, folder: Path, name: str, disk: Disk) -> None:
        """Writes its files."""
        for suffix, parts in self.parts().items():
            disk.write_whole(folder / (name + suffix), parts)

    @classmethod
    def open(cls, folder: Path, name: str) -> StoredSegment:
        """Maps its files. Raises DamagedError, FileNotFoundError."""
        path = folder / (name + ".records")
        try:
            records = pa.ipc.open_file(pa.memory_map(str(path))).get_batch(0)
        except FileNotFoundError:
            raise
        except (pa.ArrowException, OSError) as problem:
            raise DamagedError(path, f"no records of queries: {problem}") from None
        path = folder / (name + ".segment")
        try:
            segment = QuerySegment.open(path)
        except (ValueError, KeyError, TypeError) as problem:
            raise DamagedError(path, f"no segment: {problem}") from None
        if len(segment) != records.num_rows:
            raise DamagedError(path, f"{len(segment)} queries, and {records.num_rows} records")
        return cls(segment, records)

    def __len__(self) -> int:
        """The number of queries in it."""
        return len(self.segment)

    @cached_property
    def ids(self) -> pa.LargeStringArray:
        """The ids by place, over the bytes of the segment; half of a surrogate pair is a question mark."""
        segment = self.segment
        ends = np.concatenate((np.zeros(1, np.int64), segment.id_ends))
        buffers = pa.py_buffer(ends), pa.py_buffer(segment.id_text)
        found = pa.LargeStringArray.from_buffers(len(segment), *buffers)
        try:
            found.validate(full=True)
        except pa.ArrowInvalid:
            texts = [id_.encode("utf-8", "replace").decode() for id_ in segment.ids()]
            return pa.array(texts, pa.large_string())
        return found

    def query(self, place: int) -> StandingQuery:
        """A query."""
        data = json.loads(self.records.column("query")[place].as_py())
        return StandingQuery.read({"id": self.segment.id_of(place), **data})

    def find(self, id_: str, wanted: int) -> int:
        """The place of an id, whose `id_hash` is given, -1 where it is not there."""
        hashes = self._hashes
        at = int(np.searchsorted(hashes, np.uint64(wanted)))
        while at < len(hashes) and int(hashes[at]) == wanted:
            place = int(self._rows[at])
            if self.segment.id_of(place) == id_:
                return place
            at += 1
        return -1

    @cached_property
    def expires(self) -> npt.NDArray[np.int64]:
        """Microseconds since 1970 UTC, NEVER for most."""
        return self._column("expires")

    @cached_property
    def cost(self) -> npt.NDArray[np.float32]:
        """The estimated cost of each query."""
        return self._column("cost")

    @cached_property
    def named(self) -> npt.NDArray[np.uint8]:
        """1 for queries with named parts."""
        return self._column("named")

    @cached_property
    def id_hashes(self) -> npt.NDArray[np.uint64]:
        """`id_hash` of each query."""
        found = np.zeros(len(self), np.uint64)
        found[self._rows] = self._hashes
        return found

    @cached_property
    def some_expire(self) -> bool:
        """True if there is a query with a time at which it expires."""
        return bool((self.expires != NEVER).any())

    @cached_property
    def _hashes(self) -> npt.NDArray[np.uint64]:
        return self._column("hash")

    @cached_property
    def _rows(self) -> npt.NDArray[np.int32]:
        return self._column("row")

    def _column(self, name: str) -> npt.NDArray[Any]:
        return self.records.column(name).to_numpy()  # type: ignore[no-any-return]


def has_names(node: Node) -> bool:
    """True if there are named parts in a tree."""
    return isinstance(node, Named) or any(map(has_names, children(node)))


def _written(query: StandingQuery) -> bytes:
    """The query's JSON without its id, which the segment has."""
    data = query.as_json()
    del data["id"]
    return json.dumps(data, separators=(",", ":")).encode("ascii")


def id_hash(id_: str) -> int:
    """64 bits of an id."""
    return int.from_bytes(blake2b(id_.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
