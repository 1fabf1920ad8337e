"""The matcher: documents that it takes and refuses, and its limits."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest
from percolator_duel import brute, pairs, segment_of, singly

from percolator.build import SegmentBuilder
from percolator.matching.compiled import load
from percolator.matching.matcher import Matcher
from percolator.query.errors import QueryError
from percolator.query.parse import parse
from percolator.query.tree import Near, Node, Not, Phrase, Regex, Word
from percolator.schema import Schema
from percolator.values import DocumentError


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["b a", "a", None, ""], pa.string()),
        pa.array(["x", "b a", "a", None, "", "y"], pa.string()).slice(1, 4),
        pa.array(["b a", "a", None, ""], pa.large_string()),
        pa.array(["b a", "a", None, ""], pa.string()).dictionary_encode(),
        pa.array(["b a", "a", None, ""], pa.string_view()),
        pa.chunked_array([pa.array(["b a"]), pa.array(["a", None, ""])]),
        pa.array([["b", None, "a"], ["a"], None, [""]], pa.list_(pa.string())),
        pa.array([["q"], ["b", None, "a"], ["a"], None, [""]], pa.list_(pa.string())).slice(1),
        pa.array([["b", "a"], ["a"], None, [""]], pa.large_list(pa.large_string())),
    ],
    ids=lambda column: str(column.type),
)
def test_all_kinds_of_string_columns_are_read(column: pa.Array) -> None:
    schema = Schema.of({"t": "text"})
    matcher = Matcher(schema, [segment_of([parse("a b"), parse("NOT a"), parse("t:*")], schema)])
    assert pairs(matcher.match_batch({"t": column})) == [(0, 0), (0, 2), (1, 2), (2, 1), (3, 1), (3, 2)]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2, None, 2**60 + 1], pa.int64()),
        pa.array([1, 2, None, 2**60 + 1], pa.uint64()),
        pa.array([[1], [0, 2], [], [2**60 + 1]], pa.list_(pa.int64())),
    ],
    ids=lambda column: str(column.type),
)
def test_all_kinds_of_number_columns_are_read(column: pa.Array) -> None:
    schema = Schema.of({"n": "number"})
    queries = [parse(text) for text in ("n:2", "n:<2", f"n:>={2**60 + 1}", f"n:>{2**60 + 1}", "n:*")]
    matcher = Matcher(schema, [segment_of(queries, schema)])
    found = [pair for pair in pairs(matcher.match_batch({"n": column})) if pair != (1, 1)]
    assert found == [(0, 1), (0, 4), (1, 0), (1, 4), (3, 2), (3, 4)]


def test_times_are_read_as_times() -> None:
    schema = Schema.of({"at": "date"})
    matcher = Matcher(schema, [segment_of([parse("at:2024-01-31"), parse("at:>2024-01")], schema)])
    moments = [datetime(2024, 1, 31, 23, 59, tzinfo=UTC), datetime(2024, 2, 1, tzinfo=UTC), None]
    for type_ in (pa.timestamp("us", "UTC"), pa.timestamp("ms", "UTC")):
        assert pairs(matcher.match_batch({"at": pa.array(moments, type_)})) == [(0, 0), (1, 1)]


def test_a_column_of_another_type_is_refused_by_name() -> None:
    schema = Schema.of({"t": "text", "n": "number"})
    matcher = Matcher(schema, [segment_of([parse("a"), parse("n:1")], schema)])
    with pytest.raises(DocumentError, match="field t holds strings"):
        matcher.match_batch({"t": pa.array([1]), "n": pa.array([1])})
    with pytest.raises(DocumentError, match="field n holds values of type number"):
        matcher.match_batch({"t": pa.array(["a"]), "n": pa.array(["1"])})
    with pytest.raises(ValueError, match="no column for the field n"):
        matcher.match_batch({"t": pa.array(["a"])})
    with pytest.raises(ValueError, match="differ in length"):
        matcher.match_batch({"t": pa.array(["a"]), "n": pa.array([1, 2])})


def test_filters_hold_before_anything_is_found() -> None:
    schema = Schema.of({"t": "text"})
    builder = SegmentBuilder(schema)
    builder.add("uk", parse("a"), {"country": ["uk", "ie"], "type": ["news"]})
    builder.add("any", parse("a OR b"), {})
    builder.add("not", parse("NOT a"), {"country": ["uk"]})
    matcher = Matcher(schema, [builder.segment()])
    document = {"t": "a"}
    assert pairs(matcher.match(document, {"country": "ie", "type": "news"})) == [(0, 0), (0, 1)]
    assert pairs(matcher.match(document, {"country": ["fr", "uk"], "type": ["news"]})) == [(0, 0), (0, 1)]
    assert pairs(matcher.match(document, {"country": "uk"})) == [(0, 1)]
    assert pairs(matcher.match({"t": "c"}, {"country": "uk"})) == [(0, 2)]
    assert pairs(matcher.match(document)) == [(0, 1)]
    metadata = {"country": pa.array(["uk", None, "uk"]), "type": pa.array(["news", "news", "blog"])}
    batch = matcher.match_batch({"t": pa.array(["a", "a", "c"])}, metadata)
    assert pairs(batch) == [(0, 0), (0, 1), (1, 1), (2, 2)]


def test_long_documents_and_long_words_do_no_harm() -> None:
    """50 KB of words, one word of 50 KB, 20,000 values, thousands of places of one phrase with slop."""
    texts = ["x " * 25_000 + "needle in hay", "y" * 50_000, "a b " * 10_000, "\x00" * 50_000, "é" * 50_000]
    queries = ['"needle in hay"', "y*", '"b a b"~5', '"a a"~1', "NOT x", "é*", '"x needle"~9']
    schema = Schema.of({"t": "text"})
    matcher = Matcher(schema, [segment_of([parse(text) for text in queries], schema)], engine=load())
    hits = pairs(matcher.match_batch({"t": pa.array(texts)}))
    found = {(document, queries[query]) for document, query in hits}
    assert found == {
        (0, '"needle in hay"'),
        (0, '"x needle"~9'),
        (1, "y*"),
        (2, '"b a b"~5'),
        (2, '"a a"~1'),
        (4, "é*"),
        *((document, "NOT x") for document in (1, 2, 3, 4)),
    }
    values = Matcher(schema, [segment_of([parse('"a b"~99'), parse('"a b"~100')], schema)], engine=load())
    assert pairs(values.match({"t": ["a", "b"] * 10_000})) == [(0, 1)]


@pytest.mark.slow
def test_thousands_of_phrases_are_walked_at_once() -> None:
    schema = Schema.of({"t": "text"})
    lengths = range(2, 1500)
    queries: list[Node] = [Phrase(" ".join(["a"] * length)) for length in lengths]
    matcher = Matcher(schema, [segment_of(queries, schema)], engine=load())
    for words in (1, 2, 700, 1499, 3000):
        wanted = [(0, query) for query, length in enumerate(lengths) if length <= words]
        assert pairs(matcher.match({"t": "a " * words})) == wanted


def test_thousands_of_hits_are_in_order() -> None:
    schema = Schema.of({"t": "text"})
    texts = ["a" if number % 3 else f"b{number % 7}" for number in range(9000)]
    matcher = Matcher(schema, [segment_of([parse(text) for text in texts], schema)], engine=load())
    for document in ({"t": "a"}, {"t": "a b3"}, {"t": "b3 b1"}):
        words = document["t"].split()
        wanted = [(0, query) for query, text in enumerate(texts) if text in words]
        assert pairs(matcher.match(document)) == wanted


@pytest.mark.slow
def test_deep_and_wide_queries_are_answered() -> None:
    deep = "NOT (x AND " * 90 + "a" + ")" * 90
    counted = "2 of (a, x, " * 60 + "a" + ")" * 60
    wide = " OR ".join(f"w{i}" for i in range(5000))
    queries = [parse(text) for text in (deep, counted, wide, wide.replace("OR", "AND"))]
    rows = [{"t": "a x"}, {"t": "w4999"}, {"t": ""}, {"t": "a"}]
    schema = Schema.of({"t": "text"})
    matcher = Matcher(schema, [segment_of(queries, schema)], engine=load())
    assert singly(matcher, rows) == brute(queries, rows, schema)


def test_a_tree_that_no_text_gives_is_refused_where_it_has_no_places() -> None:
    node = Near(Word("a"), Not(Word("b")), 3, False)
    with pytest.raises(QueryError, match="Not has no places"):
        segment_of([node], Schema.of({"t": "text"}))


def test_what_comes_to_its_budget_is_reported_and_harms_no_other_query() -> None:
    schema = Schema.of({"t": "text"})
    queries = [parse(text) for text in ("(a NEAR/999999 a) NEAR/5 b", "a", "b OR ((a NEAR/9999 a) NEAR/5 b)")]
    matcher = Matcher(schema, [segment_of(queries, schema)], engine=load(), budget=1000)
    hits = matcher.match({"t": "a " * 3000 + "b"})
    assert hits.query.tolist() == [1, 2]
    assert list(hits.undecided) == [(0, 0)]
    assert pairs(matcher.match({"t": "a a b"})) == [(0, 0), (0, 1), (0, 2)]


@pytest.mark.parametrize(
    "expressions",
    [
        [f"a{n}|b.*{n}" for n in range(70)],
        ["(?P<n>a1)", "(?P<n>b2)", "x"],
        [r"\Qa1", "b[0-9]+", r"\Qx"],
        ["(?-i:A1)", "a1|(b2)", "x{900}" + "y" * 9000, "b2" + "|z" * 4000],
    ],
    ids=lambda some: some[0],
)
def test_regular_expressions_tried_together_are_tried_each(expressions: list[str]) -> None:
    schema = Schema.of({"t": "text english"})
    queries: list[Node] = [Regex(expression) for expression in expressions]
    rows = [{"t": "a1 b2"}, {"t": "b69 A12"}, {"t": "x b777"}, {"t": "z"}, {"t": "Bé42 c"}]
    matcher = Matcher(schema, [segment_of(queries, schema)], engine=load())
    assert singly(matcher, rows) == brute(queries, rows, schema)


@pytest.mark.slow
def test_a_list_of_words_that_is_full_starts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    from percolator.matching import view as module

    monkeypatch.setattr(module, "MOST_POOL", 1 << 10)
    schema = Schema.of({"t": "text"})
    queries = [parse(text) for text in ("w*", "/w.*1/ w2", '"w8 w1"', "*3*", "w1~1")]
    rows = [{"t": f"w{i} w{i % 7} w{i % 100}"} for i in range(900)]
    matcher = Matcher(schema, [segment_of(queries, schema)], engine=load())
    assert singly(matcher, rows) == brute(queries, rows, schema)
    assert len(matcher._views[0]._lists.pool) == 1 << 10
    # The words of one chunk that need more than all room get it.
    found = pairs(matcher.match_batch({"t": pa.array([row["t"] for row in rows])}))
    assert found == brute(queries, rows, schema)


def test_no_queries_and_no_documents_give_no_hits() -> None:
    schema = Schema.of({"t": "text"})
    assert pairs(Matcher(schema).match({"t": "a"})) == []
    assert pairs(Matcher(schema, [segment_of([], schema)]).match({"t": "a"})) == []
    empty = Matcher(schema, [segment_of([parse("NOT a")], schema)])
    assert pairs(empty.match_batch({"t": pa.array([], pa.string())})) == []
    assert pairs(empty.match({})) == [(0, 0)]
    some = Matcher(schema, [segment_of([parse("*:*"), parse("NOT *:*")], schema)])
    assert pairs(some.match_batch({"other": pa.array([1, 2])})) == [(0, 0), (1, 0)]
