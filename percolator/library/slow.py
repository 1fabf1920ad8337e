"""The slowest queries: measured one by one on documents that came by.

The kernel answers all queries at once. In one of many of its runs it counts for every query how often it was
looked at and how many steps that took, and the time of the candidates is measured by the clock and shared
out in that proportion (percolator.matching): that finds the queries that keep it busy. But what a query takes
before it is a candidate - its patterns tried on new words, its phrases - is shared with others. So documents
are sampled while they pass, and when somebody asks, the queries that may be slow - busy, believed to be
costly, hitting often, undecided - are run alone on the sample, against the time it takes without any query.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from percolator.build import SegmentBuilder
from percolator.library.collection import Collection, Sampled
from percolator.library.standing import StandingQuery
from percolator.matching.compiled import load
from percolator.matching.matcher import Matcher
from percolator.query.tree import Node, Word
from percolator.schema import Kind, Schema

_ROUNDS = 4
_MATCHES = 96
"""So many documents are answered at least, a few of them again and again: their times are small."""


@dataclass(frozen=True, slots=True)
class SlowQuery:
    """A query with its time for one document, its hits, and how often it was undecided.

    `microseconds` are measured with the query alone. `among_all` is its share, in microseconds of a document,
    of the time that all candidates take together; 0 where it was none, or no run was timed.
    """

    query: StandingQuery
    microseconds: float
    among_all: float
    hits: int
    undecided: int
    cost: float


def slowest(
    queries: Collection,
    most: int = 10,
    suspects: int = 50,
    clock: Callable[[], int] = time.thread_time_ns,
) -> list[SlowQuery]:
    """The queries that take longest on the sampled documents, the slowest first.

    Of each kind of suspicion so many `suspects` are measured. Empty where no document has come yet.
    """
    sample = list(queries.sample)
    if not sample:
        return []
    hits = queries.hit_counts()
    chosen = dict.fromkeys([id_ for id_, _ in hits.most_common(suspects)])
    chosen |= dict.fromkeys([id_ for id_, _ in queries.undecided.most_common(suspects)])
    chosen |= dict.fromkeys(queries.costly(suspects))
    busy = queries.busy(len(queries))
    chosen |= dict.fromkeys(list(busy)[:suspects])
    nothing = _matcher([], queries.schema)
    found = []
    for id_ in chosen:
        query = queries.get(id_)
        if query is None:
            continue
        _, node, cost = queries.read(query)
        taken = _time(_matcher([node], queries.schema), nothing, sample, clock)
        found.append(SlowQuery(query, taken, busy.get(id_, 0.0), hits[id_], queries.undecided[id_], cost))
    found.sort(key=lambda one: (-one.microseconds, one.query.id))
    return found[:most]


def _matcher(nodes: Sequence[Node], schema: Schema) -> Matcher:
    builder = SegmentBuilder(schema)
    if any(declared.kind is Kind.TEXT for declared in schema.fields.values()) and schema.default:
        # Every text is scanned, whether the query asks for it or not.
        builder.add("", Word("xqzxq"))
    for node in nodes:
        builder.add("", node)
    return Matcher(schema, [builder.segment()], engine=load())


def _time(alone: Matcher, nothing: Matcher, sample: Sequence[Sampled], clock: Callable[[], int]) -> float:
    """Microseconds that one document takes more than with no query; words are known already.

    Each document's least time counts, and the two take turns: what else the machine does slows both. Who goes
    second finds the document in the processor's cache, so they take turns in that, too.
    """
    rounds = 1 + max(_ROUNDS, _MATCHES // len(sample))
    taken = np.empty((2, rounds, len(sample)))
    for number in range(rounds):
        for at, (document, metadata) in enumerate(sample):
            for place in (0, 1) if number % 2 else (1, 0):
                begin = clock()
                (nothing, alone)[place].match(document, metadata)
                taken[place, number, at] = clock() - begin
    # The first round learns the words.
    least = taken[:, 1:].min(axis=1).mean(axis=1)
    return max(0.0, float(least[1] - least[0]) / 1000)
