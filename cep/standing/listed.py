"""A compiled set of queries as a list: found by what they say, put in order, read one by one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from itertools import repeat
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cep.standing.kept import KeptQueries
from percolator.library.standing import StandingQuery

Order = Literal["hits", "cost", "id"]
Places = npt.NDArray[np.int64]


class ListedQueries:
    """The living queries of a set. A place is a number that a query has among those of all parts."""

    def __init__(self, kept: KeptQueries) -> None:
        self._parts = kept.parts
        self._starts = np.cumsum([0, *(len(part.dead) for part in kept.parts)])
        dead = np.concatenate([np.zeros(0, np.bool_), *(part.dead for part in kept.parts)])
        self._living = np.flatnonzero(~dead)

    def __len__(self) -> int:
        """The number of queries."""
        return len(self._living)

    def saying(self, text: str) -> Places:
        """The places of those whose id, text, tags or filter hold a text, in whichever case; rising."""
        if not text:
            return self._living
        said = json.dumps(text.lower(), ensure_ascii=False)[1:-1]  # as records have it
        found = pc.or_(
            pc.match_substring(self._texts, said), pc.match_substring(self._lower_ids, text.lower())
        )
        mask: npt.NDArray[np.bool_] = found.combine_chunks().to_numpy(zero_copy_only=False)
        chosen: Places = self._living[mask[self._living]]
        return chosen

    def ordered(self, places: Places, by: Order, hits: Mapping[str, int]) -> Places:
        """Places with the most hits first, or the costliest, or by id."""
        match by:
            case "cost":
                return places[np.argsort(-self._cost[places], kind="stable")]
            case "id":
                return places[self._rank[places].argsort(kind="stable")]
            case "hits":
                counted = np.zeros(int(self._starts[-1]) + 1, np.int64)
                nowhere = repeat(len(counted) - 1)  # of a query that was taken out meanwhile
                at = np.fromiter(map(self._place_of.get, hits, nowhere), np.int64, len(hits))
                counted[at] = np.fromiter(hits.values(), np.int64, len(hits))
                return places[np.argsort(-counted[places], kind="stable")]

    def query(self, place: int) -> tuple[StandingQuery, float]:
        """The query of a place, and what it is believed to cost."""
        part = int(np.searchsorted(self._starts, place, "right")) - 1
        return self._parts[part].stored.query(place - int(self._starts[part])), float(self._cost[place])

    @cached_property
    def _cost(self) -> npt.NDArray[np.float32]:
        return np.concatenate([np.zeros(0, np.float32), *(part.stored.cost for part in self._parts)])

    @cached_property
    def _texts(self) -> pa.ChunkedArray:
        """Their JSON without the ids, lower-case, and without escapes of letters."""
        columns = (part.stored.records.column("query").cast(pa.large_string()) for part in self._parts)
        return pa.chunked_array([_lower(one) for one in columns], pa.large_string())

    @cached_property
    def _lower_ids(self) -> pa.ChunkedArray:
        return pc.utf8_lower(self._ids)

    @cached_property
    def _ids(self) -> pa.ChunkedArray:
        return pa.chunked_array([part.stored.ids for part in self._parts], pa.large_string())

    @cached_property
    def _rank(self) -> Places:
        """The place of each in the order of ids."""
        order = pc.array_sort_indices(self._ids.combine_chunks()).to_numpy()
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return rank

    @cached_property
    def _place_of(self) -> Mapping[str, int]:
        ids = self._ids.to_pylist()
        return {ids[place]: place for place in self._living.tolist()}


def _lower(records: pa.Array) -> pa.Array:
    """Texts of JSON in ASCII, lower-case, with the letters that escapes mean."""
    escaped = pc.match_substring(records, "\\u")
    if pc.any(escaped).as_py():
        meant = (
            json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
            for text in records.filter(escaped).to_pylist()
        )
        sound = [text.encode("utf-8", "replace").decode() for text in meant]
        records = pc.replace_with_mask(records, escaped, pa.array(sound, records.type))
    return pc.utf8_lower(records)
