"""A segment while it is in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from percolator.highlight import Highlighter
from percolator.library.standing import StandingQuery
from percolator.library.stored import StoredSegment

_SPARSE = 8
"""Counting one hit by its place takes as long as adding up counts of so many queries."""


@dataclass(slots=True)
class SegmentInUse:
    """A segment in use: which of its queries are dead, how often each has hit, what is remembered of them."""

    stored: StoredSegment
    dead: npt.NDArray[np.bool_]
    hits: npt.NDArray[np.int64] = field(init=False)
    some_named: bool = field(init=False)
    """Some query has named parts."""
    queries: dict[int, StandingQuery] = field(default_factory=dict)
    highlighters: dict[int, Highlighter] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.hits = np.zeros(len(self.stored), np.int64)
        self.some_named = bool(self.stored.named.any())

    def query(self, place: int) -> StandingQuery:
        """A query."""
        found = self.queries.get(place)
        if found is None:
            found = self.queries[place] = self.stored.query(place)
        return found

    def at(self, places: Sequence[int], start: int) -> list[StandingQuery]:
        """Some queries, by places that are counted from `start` on."""
        known = self.queries
        return [known.get(place - start) or self.query(place - start) for place in places]

    def named(self, places: Sequence[int], start: int) -> list[int]:
        """Those of such places whose queries have named parts."""
        if not self.some_named:
            return []
        asked = np.array(places, np.int64)
        found: list[int] = asked[self.stored.named[asked - start] != 0].tolist()
        return found

    def living(self) -> list[StandingQuery]:
        """The queries that are not dead, in order."""
        return [self.stored.query(place) for place in np.flatnonzero(~self.dead).tolist()]

    def count(self) -> int:
        """The number of queries that are not dead."""
        return len(self.dead) - int(np.count_nonzero(self.dead))

    def count_hits(self, places: npt.NDArray[np.int32]) -> None:
        """Counts hits by their places."""
        size = len(self.stored)
        if len(places) * _SPARSE > size:
            self.hits += np.bincount(places, minlength=size)
        else:
            np.add.at(self.hits, places, 1)

    def hit_counts(self) -> Mapping[str, int]:
        """How often each query that has hit did so, by its id."""
        return {
            self.stored.segment.id_of(place): int(self.hits[place])
            for place in np.flatnonzero(self.hits).tolist()
        }
