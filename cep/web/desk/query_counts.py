"""Counts of standing queries since the job's process began: what hit how often, what came to its limit."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cep.counters import Count, QueryDocuments, QueryHits, UndecidedDocuments, of_kind


@dataclass(frozen=True, slots=True)
class CountsOfSet:
    """Of one set of queries: `hits` and `undecided` by id."""

    hits: Mapping[str, int]
    undecided: Mapping[str, int]


class QueryCounts:
    """Counts that batches add to, and requests read. `since` is when they began, wall clock in ns."""

    def __init__(self, now: Callable[[], int] = time.time_ns) -> None:
        self.since = now()
        self._lock = threading.Lock()
        self._hits: dict[str, Counter[str]] = {}
        self._undecided: dict[str, Counter[str]] = {}
        self._documents: Counter[str] = Counter()

    def take(self, counts: Mapping[Count, int]) -> None:
        """Add the counts of a batch that counts."""
        with self._lock:
            for hit, number in of_kind(counts, QueryHits):
                self._hits.setdefault(hit.queries, Counter())[hit.query] += number
            for unknown, number in of_kind(counts, UndecidedDocuments):
                self._undecided.setdefault(unknown.queries, Counter())[unknown.query] += number
            for asked, number in of_kind(counts, QueryDocuments):
                if asked.outcome == "documents":
                    self._documents[asked.queries] += number

    def documents(self, queries: str) -> int:
        """The number of documents that the queries of that name were asked about."""
        with self._lock:
            return self._documents[queries]

    def of(self, queries: str) -> CountsOfSet:
        """The counts of the queries of that name, as they are now."""
        with self._lock:
            hits, undecided = (dict(of.get(queries, Counter())) for of in (self._hits, self._undecided))
            return CountsOfSet(hits, undecided)
