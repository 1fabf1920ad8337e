"""Standing queries that change while documents pass: stored segments, and what came since.

A change marks the place of the old query as dead and keeps the new one aside; the next document finds the
new ones made a segment, and small segments made one: at most as many as the count of changes has binary
digits. A collection lives in memory; percolator.library.writer and reader keep one over files. One thread
may use it at a time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from percolator.analysed import Analysed, BudgetError
from percolator.checks import check
from percolator.highlight import Highlighter
from percolator.highlighted import HighlightedPairs
from percolator.hit import Hit
from percolator.library.answer import Answer, QueryHit
from percolator.library.cost import Estimate, Limits, estimate
from percolator.library.in_use import SegmentInUse
from percolator.library.refusal import LifeCode, Refusal, RefusedError
from percolator.library.standing import StandingQuery
from percolator.library.stored import StoredSegment, id_hash
from percolator.matching.compiled import Engine
from percolator.matching.documents import Column, row_of
from percolator.matching.matcher import BUDGET, HitPairs, Matcher
from percolator.query.dialects import DIALECTS
from percolator.query.errors import QueryError
from percolator.query.tree import Node
from percolator.schema import Schema
from percolator.values import Document

Metadata = Mapping[str, str | Sequence[str]]
Sampled = tuple[Document, Metadata | None]

SAMPLED = 64
"""So many documents are kept for percolator.library.slow, one of every SAMPLED that pass alone."""
MOST_REMEMBERED = 100_000
"""Queries whose records and highlighters are kept at hand."""


@dataclass(frozen=True, slots=True)
class Change:
    """A query that may come in: its version is known, its tree is one that the schema allows."""

    query: StandingQuery
    node: Node
    estimate: Estimate
    kind: Literal["new", "replaced", "same"]


class Collection:
    """Queries of one schema by id, and the documents that they hit.

    `base` are segments and the places in each that are dead. `engine`, `budget` and `timed` are the
    matcher's, `past_hits` the `hit_counts` of a collection that this one follows.
    """

    def __init__(
        self,
        schema: Schema,
        base: Iterable[tuple[StoredSegment, npt.NDArray[np.bool_]]] = (),
        *,
        limits: Limits | None = None,
        engine: Engine | None = None,
        budget: int = BUDGET,
        timed: int | None = None,
        past_hits: Mapping[str, int] | None = None,
    ) -> None:
        self.schema = schema
        self.limits = limits or Limits()
        self.parts = [SegmentInUse(stored, dead.copy()) for stored, dead in base]
        self.base_parts = len(self.parts)
        self.undecided: Counter[str] = Counter()
        """How often the positions of a query came to the budget, by id."""
        self.sample: deque[Sampled] = deque(maxlen=SAMPLED)
        """Documents that came alone, one of every SAMPLED, the latest ones."""
        self._passed = 0
        self._fresh: dict[str, Change] = {}
        self._count = sum(part.count() for part in self.parts)
        self._matcher = Matcher(schema, engine=engine, budget=budget, timed=timed)
        self._starts = [0]
        self._past_hits = Counter(past_hits)
        self._use()

    def __len__(self) -> int:
        """The number of queries, expired ones too."""
        return self._count

    def __contains__(self, id_: object) -> bool:
        """True if there is a query of that id."""
        return isinstance(id_, str) and (id_ in self._fresh or self._locate(id_) is not None)

    def __iter__(self) -> Iterator[StandingQuery]:
        """All queries, in no order that means anything."""
        for part in self.parts:
            yield from part.living()
        for change in self._fresh.values():
            yield change.query

    def get(self, id_: str) -> StandingQuery | None:
        """The query of an id."""
        if (fresh := self._fresh.get(id_)) is not None:
            return fresh.query
        found = self._locate(id_)
        return None if found is None else found[0].query(found[1])

    def add(self, query: StandingQuery) -> Change:
        """Takes a query in, in place of one with its id. Raises RefusedError."""
        change = self.prepare(query)
        self.apply(change)
        return change

    def prepare(self, query: StandingQuery, waiting: Mapping[str, Change] | None = None) -> Change:
        """The outcome that `add` would have; changes nothing. `waiting`: changes that come before, by id.

        Without a version the query gets the next one, or stays as it is if nothing else of it is new.
        The same query once more changes nothing. Raises RefusedError.
        """
        earlier = waiting.get(query.id) if waiting else None
        known = self.get(query.id) if earlier is None else earlier.query
        try:
            node = tree_of(query, self.schema)
        except QueryError as error:
            raise RefusedError(Refusal.of(error)) from None
        believed = estimate(node, self.limits)
        if known is None:
            if self._count + len(waiting or ()) >= self.limits.queries:
                raise RefusedError(
                    Refusal(
                        LifeCode.TOO_MANY, f"there are {self.limits.queries:,} queries, as many as allowed"
                    )
                )
            version = 1 if query.version is None else query.version
        elif replace(query, version=known.version) == known and query.version in (None, known.version):
            return Change(known, node, believed, "same")
        else:
            assert known.version is not None
            version = known.version + 1 if query.version is None else query.version
            if version <= known.version:
                there = "as another query" if version == known.version else f"as version {known.version}"
                message = f"version {version} of {query.id!r} is not taken: it is there {there}"
                raise RefusedError(Refusal(LifeCode.OLD_VERSION, message))
        if believed.units > self.limits.refuse:
            message = (
                f"it is believed to cost {believed.units:,.0f} units, {self.limits.refuse:,.0f} are allowed"
            )
            raise RefusedError(Refusal(LifeCode.TOO_COSTLY, message))
        kind: Literal["new", "replaced"] = "new" if known is None else "replaced"
        return Change(replace(query, version=version), node, believed, kind)

    def apply(self, change: Change) -> None:
        """Does what was prepared; no other change of that id may have come between."""
        if change.kind == "same":
            return
        if change.kind == "replaced":
            self.remove(change.query.id)
        self._fresh[change.query.id] = change
        self._count += 1

    def put(self, query: StandingQuery) -> None:
        """Takes in a query that was accepted before, whatever its version and cost. Raises QueryError."""
        node = tree_of(query, self.schema)
        kind: Literal["new", "replaced"] = "replaced" if query.id in self else "new"
        self.apply(Change(query, node, estimate(node, self.limits), kind))

    def remove(self, id_: str) -> bool:
        """Takes a query out; whether there was one."""
        if self._fresh.pop(id_, None) is None:
            found = self._locate(id_)
            if found is None:
                return False
            self._kill(found[0], np.array([found[1]]))
        self._count -= 1
        return True

    def expiring(self, time: int) -> int:
        """The number of queries that `expire` would take out."""
        fresh = sum(1 for change in self._fresh.values() if change.query.expires <= time)
        parts = [part for part in self.parts if part.stored.some_expire]
        return fresh + sum(
            int(np.count_nonzero((part.stored.expires <= time) & ~part.dead)) for part in parts
        )

    def expire(self, time: int) -> int:
        """Takes out all queries that expire at that time or before, in microseconds; how many."""
        gone = [id_ for id_, change in self._fresh.items() if change.query.expires <= time]
        for id_ in gone:
            del self._fresh[id_]
        total = len(gone)
        for part in self.parts:
            if part.stored.some_expire:
                places = np.flatnonzero((part.stored.expires <= time) & ~part.dead)
                self._kill(part, places)
                total += len(places)
        self._count -= total
        return total

    def match(
        self,
        document: Document,
        metadata: Metadata | None = None,
        time: int | None = None,
        *,
        highlight: bool = False,
    ) -> Answer:
        """The queries that are true on a document, each once.

        `time` is the document's, in microseconds since 1970 UTC: queries that expire then or before do not
        hit; without it none has expired. Raises DocumentError where a field that some query asks for has
        a value that it cannot have.
        """
        self.settle()
        if self._passed % SAMPLED == 0:
            self.sample.append((document, metadata))
        self._passed += 1
        raw = self._matcher.match(document, metadata, noted=highlight)
        times = None if time is None else np.array([time])
        return self._answer(self._alive(raw, times)[0], document, highlight)

    def match_batch(
        self,
        columns: pa.Table | pa.RecordBatch | Mapping[str, Column],
        metadata: Mapping[str, Column] | None = None,
        times: npt.NDArray[np.int64] | None = None,
    ) -> HitPairs:
        """The hits of each row, as `Matcher.match_batch` gives them; `query` gives the query of a place.

        `times` are the documents', as in `match`. Places hold until the next change or `settle`.
        """
        self.settle()
        self._bound_memory()
        return self._alive(self._matcher.match_batch(columns, metadata), times)[0]

    def highlight_batch(
        self,
        columns: pa.Table | pa.RecordBatch | Mapping[str, Column],
        metadata: Mapping[str, Column] | None = None,
        times: npt.NDArray[np.int64] | None = None,
    ) -> HighlightedPairs:
        """The hits of each row as `match_batch` gives them, with names and highlights, by column."""
        self.settle()
        self._bound_memory()
        if isinstance(columns, pa.Table | pa.RecordBatch):
            columns = {name: columns.column(name) for name in columns.schema.names}
        found, coded = self._matcher.highlight_batch(columns, metadata, self._node)
        hits, alive = self._alive(HitPairs(found.document, found.query, found.undecided), times)
        if alive is not None:
            found, coded = found.taken(alive, hits.undecided), coded[alive]
        if coded.all():
            return found
        asked = {name: columns[name] for name in self._matcher.fields}
        return found.with_hits(self._elsewhere(found, np.flatnonzero(~coded).tolist(), asked))

    def _elsewhere(
        self, found: HighlightedPairs, pairs: Sequence[int], columns: Mapping[str, Column]
    ) -> Iterator[tuple[int, Hit | None]]:
        """The hits of pairs that the kernel has no code for; None where they have too many places."""
        row, analysed = -1, Analysed({}, self.schema)
        for pair in pairs:
            if row != int(found.document[pair]):
                row = int(found.document[pair])
                analysed = Analysed(row_of(columns, row), self.schema)
            hit = self.found(int(found.query[pair]), analysed, highlight=True)
            yield pair, Hit(hit.names, hit.highlights or {}) if hit.complete else None

    def query(self, place: int) -> StandingQuery:
        """The query of a place in `HitPairs`."""
        part, own = self._part_of(place)
        return part.query(own)

    def ids(self, places: npt.NDArray[np.int32]) -> pa.Array:
        """The ids of the queries of these places; half of a surrogate pair in one is a question mark."""
        known = pa.chunked_array([part.stored.ids for part in self.parts], pa.large_string())
        return known.take(pa.array(places)).combine_chunks().cast(pa.string())

    def found_all(self, places: Sequence[int], document: Document, *, highlight: bool) -> list[QueryHit]:
        """The hits of the queries of these places, in order, on a document on which all of them are true.

        Without `highlight` only names are found. Raises DocumentError.
        """
        ascending = sorted(places)
        by_part = list(self._by_part(ascending))
        queries = [query for part, start, own in by_part for query in part.at(own, start)]
        if highlight:
            hits = self._matcher.highlights(document, ascending, self._node)
        else:
            hits = self._named_hits(by_part, document)
        found: list[QueryHit] = []
        analysed = None
        for place, query, hit in zip(ascending, queries, hits, strict=True):
            if hit is None:
                analysed = analysed or Analysed(document, self.schema)
                found.append(self.found(place, analysed, highlight=highlight))
            else:
                found.append(QueryHit(query, hit.names, hit.highlights if highlight else None))
        if ascending == places:
            return found
        at = {place: number for number, place in enumerate(ascending)}
        return [found[at[place]] for place in places]

    def _named_hits(
        self, by_part: Sequence[tuple[SegmentInUse, int, Sequence[int]]], document: Document
    ) -> list[Hit | None]:
        """The names of true parts of places, as `Matcher.highlights` gives them."""
        named = [place for part, start, own in by_part for place in part.named(own, start)]
        places = [place for _, _, own in by_part for place in own]
        if not named:
            return [_NO_NAMES] * len(places)
        hits = dict(zip(named, self._matcher.highlights(document, named, self._node), strict=True))
        return [hits.get(place, _NO_NAMES) for place in places]

    def found(self, place: int, analysed: Analysed, *, highlight: bool) -> QueryHit:
        """The hit of the query of a place, which is true on that document."""
        part, own = self._part_of(place)
        query = part.query(own)
        if not highlight and not part.stored.named[own]:
            return QueryHit(query)
        highlighter = part.highlighters.get(own)
        if highlighter is None:
            highlighter = Highlighter(tree_of(query, self.schema), self.schema)
            part.highlighters[own] = highlighter
        try:
            hit = highlighter.hit(analysed)
        except BudgetError:
            return QueryHit(query, (), {} if highlight else None, complete=False)
        if hit is None:
            raise AssertionError(f"query {query.id!r} hit a document on which it is not true: {query.query}")
        return QueryHit(query, hit.names, hit.highlights if highlight else None)

    def settle(self) -> None:
        """Makes the queries that came since the last document a segment."""
        if not self._fresh:
            return
        new = [(change.query, change.node, change.estimate.units) for change in self._fresh.values()]
        self._fresh = {}
        kept = self.parts
        while len(kept) > self.base_parts and kept[-1].count() <= 2 * len(new):
            self._retire(kept[-1])
            new += [self.read(query) for query in kept[-1].living()]
            kept = kept[:-1]
        stored = StoredSegment.of(new, self.schema)
        self.parts = [*kept, SegmentInUse(stored, np.zeros(len(stored), np.bool_))]
        self._use()

    def read(self, query: StandingQuery) -> tuple[StandingQuery, Node, float]:
        """A query that was accepted before, as `StoredSegment.of` takes it."""
        node = tree_of(query, self.schema)
        return query, node, estimate(node, self.limits).units

    def changed(self) -> list[tuple[StandingQuery, Node, float]]:
        """The queries that are in no segment of `base`, as `StoredSegment.of` takes them."""
        kept = [self.read(query) for part in self.parts[self.base_parts :] for query in part.living()]
        fresh = [(one.query, one.node, one.estimate.units) for one in self._fresh.values()]
        return kept + fresh

    def hit_counts(self) -> Counter[str]:
        """The number of hits of each query, by id; those that never hit are not in it."""
        found = self._past_hits.copy()
        for part in self.parts:
            found.update(part.hit_counts())
        return found

    def busy(self, most: int) -> dict[str, float]:
        """The queries that take most time as candidates: by id, microseconds of a document (`Matcher`)."""
        self.settle()
        taken = self._matcher.microseconds()
        found = {}
        for place in np.argsort(-taken, kind="stable")[:most].tolist():
            part, own = self._part_of(place)
            if taken[place] > 0 and not part.dead[own]:
                found[part.stored.segment.id_of(own)] = float(taken[place])
        return found

    def costly(self, most: int) -> list[str]:
        """The ids of the queries that are believed to cost most."""
        self.settle()
        found: list[tuple[float, str]] = []
        for part in self.parts:
            cost = np.where(part.dead, -1.0, part.stored.cost)
            for place in np.argsort(-cost, kind="stable")[:most].tolist():
                if cost[place] >= 0:
                    found.append((-float(cost[place]), part.stored.segment.id_of(place)))
        return [id_ for _, id_ in sorted(found)[:most]]

    @property
    def fields(self) -> frozenset[str]:
        """The fields that some query asks for: `match_batch` needs their columns."""
        self.settle()
        return self._matcher.fields

    @property
    def metadata(self) -> frozenset[str]:
        """The keys of metadata that some query's filter asks for."""
        self.settle()
        return self._matcher.metadata

    @property
    def nbytes(self) -> int:
        """The private memory of the matcher and of what is kept by query."""
        return self._matcher.nbytes + sum(part.dead.nbytes + part.hits.nbytes for part in self.parts)

    def _locate(self, id_: str) -> tuple[SegmentInUse, int] | None:
        wanted = id_hash(id_)
        for part in reversed(self.parts):
            place = part.stored.find(id_, wanted)
            if place >= 0 and not part.dead[place]:
                return part, place
        return None

    def _kill(self, part: SegmentInUse, places: npt.NDArray[np.int64]) -> None:
        part.dead[places] = True
        at = next(index for index, one in enumerate(self.parts) if one is part)
        self._matcher.kill((places + self._starts[at]).tolist())

    def _use(self) -> None:
        sizes = [len(part.stored) for part in self.parts]
        self._starts = list(accumulate(sizes, initial=0))
        self._matcher.use([part.stored.segment for part in self.parts])
        for start, part in zip(self._starts, self.parts, strict=False):
            self._matcher.kill((np.flatnonzero(part.dead) + start).tolist())

    def _retire(self, part: SegmentInUse) -> None:
        self._past_hits.update(part.hit_counts())

    def _by_part(self, places: Sequence[int]) -> Iterator[tuple[SegmentInUse, int, Sequence[int]]]:
        """The parts, where the places of each begin, and which of these places, which ascend, are its."""
        first = 0
        for start, part in zip(self._starts, self.parts, strict=False):
            behind = bisect_left(places, start + len(part.stored), first)
            yield part, start, places[first:behind]
            first = behind

    def _node(self, place: int) -> Node:
        return tree_of(self.query(place), self.schema)

    def _part_of(self, place: int) -> tuple[SegmentInUse, int]:
        at = bisect_right(self._starts, place) - 1
        return self.parts[at], place - self._starts[at]

    def _alive(
        self, hits: HitPairs, times: npt.NDArray[np.int64] | None
    ) -> tuple[HitPairs, npt.NDArray[np.int64] | None]:
        """The hits of queries that have not expired at their document's time; they are counted.

        And which of those given they are, None for all.
        """
        alive = None
        if times is not None and any(part.stored.some_expire for part in self.parts):
            expires = np.concatenate([part.stored.expires for part in self.parts])
            alive = np.flatnonzero(times[hits.document] < expires[hits.query])
            undecided = [pair for pair in hits.undecided if times[pair[0]] < expires[pair[1]]]
            hits = HitPairs(hits.document[alive], hits.query[alive], undecided)
        if len(hits.query):
            for start, part in zip(self._starts, self.parts, strict=False):
                own = hits.query - start if start else hits.query
                part.count_hits(own if len(self.parts) == 1 else own[(own >= 0) & (own < len(part.stored))])
        for _, place in hits.undecided:
            self.undecided[self.query(place).id] += 1
        return hits, alive

    def _bound_memory(self) -> None:
        if sum(len(part.queries) for part in self.parts) > MOST_REMEMBERED:
            for part in self.parts:
                part.queries.clear()
                part.highlighters.clear()

    def _answer(self, hits: HitPairs, document: Document, highlight: bool) -> Answer:
        self._bound_memory()
        found = self.found_all(hits.query.tolist(), document, highlight=highlight)
        undecided = [self.query(place) for _, place in hits.undecided]
        return Answer(
            tuple(sorted(found, key=lambda one: one.query.id)),
            tuple(sorted(undecided, key=lambda one: one.id)),
        )


_NO_NAMES = Hit((), {})


def tree_of(query: StandingQuery, schema: Schema) -> Node:
    """The tree of a query. Raises QueryError."""
    node = DIALECTS[query.dialect](query.query)
    check(node, schema)
    return node
