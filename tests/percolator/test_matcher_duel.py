"""The matcher finds exactly what the reference finds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from percolator_duel import Document, accepted, brute, columns, difference, pairs, segment_of, singly
from percolator_trees import WHOLE_SCHEMA, whole, whole_documents

from percolator.build import SegmentBuilder
from percolator.matching.compiled import interpreted, load
from percolator.matching.matcher import Matcher
from percolator.query.print import to_text
from percolator.query.tree import Node


@pytest.mark.slow
@given(
    st.lists(whole, min_size=40, max_size=48),
    st.lists(whole_documents, min_size=50, max_size=60),
    st.integers(0, 40),
)
@settings(max_examples=examples(45), deadline=None, suppress_health_check=list(HealthCheck))
def test_the_matcher_misses_nothing_and_adds_nothing(
    queries: list[Node], rows: list[Document], cut: int
) -> None:
    """More than a hundred thousand pairs; the queries in two segments, documents alone and in columns."""
    queries = accepted(queries)
    wanted = brute(queries, rows)
    matcher = Matcher(WHOLE_SCHEMA, [segment_of(queries[:cut]), segment_of(queries[cut:])], engine=load())
    found = singly(matcher, rows)
    assert found == wanted, difference(found, wanted, queries, rows)
    storable = [row for row in rows if row.get("lang") != "\ud800"]  # Arrow has no half surrogates
    batch = pairs(matcher.match_batch(columns(storable)))
    assert batch == brute(queries, storable)


@given(st.lists(whole, min_size=6, max_size=9), st.lists(whole_documents, min_size=5, max_size=8))
@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
def test_the_interpreted_kernel_finds_the_same(queries: list[Node], rows: list[Document]) -> None:
    queries = accepted(queries)
    found = singly(Matcher(WHOLE_SCHEMA, [segment_of(queries)], engine=interpreted()), rows)
    assert found == brute(queries, rows), difference(found, brute(queries, rows), queries, rows)


@given(
    st.lists(whole, min_size=16, max_size=24),
    st.lists(whole_documents, min_size=12, max_size=20),
    st.lists(whole_documents, min_size=5, max_size=20),
)
@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
def test_a_sample_changes_where_queries_are_found_and_no_answer(
    queries: list[Node], rows: list[Document], sample: list[Document]
) -> None:
    queries = accepted(queries)
    rows, sample = ([row for row in some if row.get("lang") != "\ud800"] for some in (rows, sample))
    builder = SegmentBuilder(WHOLE_SCHEMA)
    for node in queries:
        builder.add(to_text(node), node)
    matcher = Matcher(WHOLE_SCHEMA, [builder.segment(columns(sample))], engine=load())
    found = pairs(matcher.match_batch(columns(rows)))
    assert found == brute(queries, rows), difference(found, brute(queries, rows), queries, rows)


@pytest.mark.slow
@given(
    st.lists(whole, min_size=20, max_size=30), st.lists(whole_documents, min_size=30, max_size=40), st.data()
)
@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
def test_queries_that_come_and_go_hit_as_if_they_had_always_been_there(
    queries: list[Node], rows: list[Document], data: st.DataObject
) -> None:
    """Segments are put in use and out of use, queries are killed, and words are forgotten in between."""
    queries = accepted(queries)
    cuts = [0, len(queries) // 3, 2 * len(queries) // 3, len(queries)]
    segments = [segment_of(queries[low:high]) for low, high in pairwise(cuts)]
    matcher = Matcher(WHOLE_SCHEMA, engine=load(), most_words=32)
    in_use: list[int] = []
    dead: set[int] = set()
    for at in range(0, len(rows), 5):
        chosen = data.draw(st.lists(st.integers(0, 2), unique=True))
        # A segment that goes takes the memory of its dead queries with it.
        kept = set(chosen) & set(in_use)
        dead = {query for query in dead if any(_in(query, number, cuts) for number in kept)}
        in_use = chosen
        matcher.use([segments[number] for number in in_use])
        places = [query for number in in_use for query in range(cuts[number], cuts[number + 1])]
        if places and data.draw(st.booleans()):
            place = data.draw(st.integers(0, len(places) - 1))
            matcher.kill([place])
            dead.add(places[place])
        some = rows[at : at + 5]
        wanted = sorted(
            (document, places.index(query))
            for document, query in brute(queries, some)
            if query in places and query not in dead
        )
        assert singly(matcher, some) == wanted


def _in(query: int, number: int, cuts: Sequence[int]) -> bool:
    return cuts[number] <= query < cuts[number + 1]
