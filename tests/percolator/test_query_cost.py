"""Costly queries are reported and refused before they run; the slow ones are named when they do."""

from __future__ import annotations

import re
from itertools import accumulate, count
from pathlib import Path

import pytest
from hypothesis import given, settings
from percolator_trees import WHOLE_SCHEMA, whole

from percolator.build import SegmentBuilder
from percolator.library.collection import Collection
from percolator.library.cost import Limits, estimate, needs_words
from percolator.library.refusal import LifeCode, RefusedError
from percolator.library.slow import slowest
from percolator.library.standing import StandingQuery
from percolator.matching.compiled import load
from percolator.matching.matcher import TIMED, Matcher
from percolator.query.parse import parse
from percolator.query.tree import Node
from percolator.reference import matches
from percolator.schema import Schema

SCHEMA = Schema.of({"body": "text"})
PAGE = Path(__file__).parents[2] / "docs" / "errors" / "PQ23.md"


def units(text: str) -> float:
    return estimate(parse(text), Limits()).units


def test_dearer_forms_are_believed_to_be_dearer() -> None:
    """The order that benchmarks/percolator_cost.py measures."""
    order = [
        "apple",
        "appl*",
        "*pple",
        "appl* NEAR/5 pea*",
        "apple~2",
        "/a.*e/",
        "/a.*e/ NEAR/500 /p.*r/ NEAR/500 /k.*i/",
    ]
    costs = [units(text) for text in order]
    assert costs == sorted(costs)
    assert costs[-1] > 100 * costs[0]


@pytest.mark.slow
@given(whole)
@settings(deadline=None)
def test_a_query_that_needs_words_is_not_true_on_nothing(node: Node) -> None:
    if needs_words(node):
        assert not matches(node, {}, WHOLE_SCHEMA)


def test_the_query_of_the_page_is_refused_and_nothing_has_changed() -> None:
    (text,) = re.findall(r"```query\n(.*)\n```", PAGE.read_text("utf-8"))
    queries = Collection(SCHEMA)
    with pytest.raises(RefusedError) as raised:
        queries.add(StandingQuery("q", text))
    assert raised.value.refusal.code == LifeCode.TOO_COSTLY
    assert len(queries) == 0
    Collection(SCHEMA, limits=Limits(refuse=1e9)).add(StandingQuery("q", text))


def test_a_warning_tells_of_a_query_that_every_document_is_checked_against() -> None:
    (warning,) = Collection(SCHEMA).add(StandingQuery("q", "NOT apple")).estimate.warnings
    assert "every document" in warning
    assert Collection(SCHEMA).add(StandingQuery("q", "pear NOT apple")).estimate.warnings == ()


def test_a_limit_of_queries_still_lets_replace() -> None:
    queries = Collection(SCHEMA, limits=Limits(queries=1))
    queries.add(StandingQuery("q", "apple"))
    with pytest.raises(RefusedError, match="as many as allowed"):
        queries.add(StandingQuery("r", "apple"))
    assert queries.add(StandingQuery("q", "pear")).query.version == 2


def test_hits_are_counted_through_every_change() -> None:
    queries = Collection(SCHEMA)
    queries.add(StandingQuery("q", "apple"))
    for number in range(20):
        queries.match({"body": "apple pear"})
        queries.add(StandingQuery(f"r{number}", "pear"))
    assert queries.hit_counts()["q"] == 20
    assert queries.hit_counts()["r0"] == 19
    assert "r19" not in queries.hit_counts()


@pytest.mark.slow
def test_the_slow_list_names_the_slow_query() -> None:
    queries = Collection(SCHEMA)
    for number in range(200):
        queries.add(StandingQuery(f"q{number}", f"apple{number}"))
    queries.add(StandingQuery("slow", "(a* NEAR/200 b*) NEAR/200 (a* NEAR/200 c*)"))
    text = " ".join(f"a{n} b{n} c{n}" for n in range(400))
    queries.match({"body": text})
    found = slowest(queries, 3)
    assert found[0].query.id == "slow"
    assert found[0].hits == 1
    assert found[0].microseconds > found[1].microseconds


@pytest.mark.slow
def test_a_machine_that_grows_slower_makes_no_query_slow() -> None:
    queries = Collection(SCHEMA)
    for number in range(20):
        queries.add(StandingQuery(f"q{number}", "apple"))
    queries.match({"body": "apple"})
    moments = accumulate(1000 * (1 + call // 400) for call in count())
    assert {slow.microseconds for slow in slowest(queries, 20, clock=lambda: next(moments))} == {0}


def test_a_collection_may_time_its_candidates_more_often() -> None:
    every, seldom = (Collection(SCHEMA, engine=load(), timed=timed) for timed in (1, None))
    for queries in (every, seldom):
        queries.add(StandingQuery("q", "(a NEAR/200 b) NEAR/200 (a NEAR/200 c)"))
        queries._matcher._clock = accumulate([1, 1, 98] * 3).__next__
    for text in ("", "", "a b c " * 30):
        for queries in (every, seldom):
            queries.match({"body": text})
    assert every.busy(1) == {"q": pytest.approx(0.097)}
    assert seldom.busy(1) == {}


def test_the_time_of_candidates_is_shared_out_by_their_work() -> None:
    schema, queries = SCHEMA, ["a NEAR/9 b", "a b", "a", "zebra", "NOT a"]
    builder = SegmentBuilder(schema)
    for text in queries:
        builder.add(text, parse(text))
    # Nanoseconds at the beginning of a walk, at its end, and behind what is counted.
    moments = iter([0, 10_000, 110_000, 500_000, 510_000, 540_000])
    matcher = Matcher(schema, [builder.segment()], engine=load(), clock=lambda: next(moments))
    untimed = Matcher(schema, [builder.segment()], engine=load(), clock=lambda: next(iter([])))
    documents = [{"body": "a b " * number} for number in range(TIMED + 1)]
    for number, document in enumerate(documents):
        untimed._runs = 1
        found = matcher.match(document)
        assert found.query.tolist() == untimed.match(document).query.tolist()
        if number == 1:
            empty = matcher.microseconds()
    assert next(moments, None) is None
    # The first document has no word: what is true on it is looked at, all in 90 microseconds.
    assert empty.tolist() == [0, 0, 0, 0, 90]
    taken = matcher.microseconds()
    assert taken.sum() == pytest.approx((90 + 20) / 2)
    assert taken[3] == 0
    assert taken[0] > 20 * taken[1] > 0
    assert taken[1] >= taken[2] > 0


@pytest.mark.slow
def test_the_busiest_queries_are_named_while_they_stand() -> None:
    queries = Collection(SCHEMA, engine=load())
    for number in range(50):
        queries.add(StandingQuery(f"q{number}", f"apple{number} OR a"))
    queries.add(StandingQuery("busy", "(a NEAR/200 b) NEAR/200 (a NEAR/200 c)"))
    moments = iter([0, 10_000, 90_000])
    queries._matcher._clock = lambda: next(moments)
    queries.match({"body": "a b c " * 30})
    (first, microseconds), *_ = queries.busy(3).items()
    assert first == "busy"
    assert microseconds > 0
    (among_all,) = [slow.among_all for slow in slowest(queries, len(queries)) if slow.query.id == "busy"]
    assert among_all == microseconds
    queries.remove("busy")
    assert "busy" not in queries.busy(3)


def test_positions_beyond_the_budget_are_undecided_and_counted() -> None:
    queries = Collection(SCHEMA, budget=1000)
    queries.add(StandingQuery("near", "(a NEAR/9999 a) NEAR/5 b"))
    queries.add(StandingQuery("word", "a"))
    small = queries.match({"body": "a a b"})
    assert [hit.query.id for hit in small.hits] == ["near", "word"]
    large = queries.match({"body": "a " * 3000 + "b"})
    assert [hit.query.id for hit in large.hits] == ["word"]
    assert [query.id for query in large.undecided] == ["near"]
    assert queries.undecided == {"near": 1}
