"""The index finds exactly what brute force finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from percolator_trees import documents, executable

from percolator.index import Index
from percolator.positions import stand_together
from percolator.query.parse import parse
from percolator.query.print import to_text
from percolator.query.tree import Node
from percolator.reference import matches
from percolator.schema import Schema
from percolator.vocabulary import wildcard

SCHEMA = Schema.of({"title": "text", "body": "text english"})


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, pa.Array]:
    return {
        "title": pa.array([row.get("title") for row in rows], pa.string()),
        "body": pa.array([row.get("body") for row in rows], pa.list_(pa.string())),
    }


def _pairs(index: Index, columns: Mapping[str, Any]) -> list[tuple[int, int]]:
    hits = index.match(columns)
    assert hits.document.dtype == hits.query.dtype == np.int32
    return list(zip(hits.document.tolist(), hits.query.tolist(), strict=True))


def _brute(
    queries: Sequence[Node], rows: Sequence[Mapping[str, Any]], schema: Schema
) -> list[tuple[int, int]]:
    return [
        (document, query)
        for document, row in enumerate(rows)
        for query, node in enumerate(queries)
        if matches(node, row, schema)
    ]


@given(st.lists(executable, min_size=12, max_size=20), st.lists(documents, min_size=20, max_size=30))
@settings(max_examples=examples(80), deadline=None)
def test_index_misses_nothing_and_adds_nothing(queries: list[Node], rows: list[dict[str, Any]]) -> None:
    index = Index.build([(to_text(node), node) for node in queries], SCHEMA)
    found, wanted = _pairs(index, _columns(rows)), _brute(queries, rows, SCHEMA)
    assert found == wanted, "\n".join(
        f"{'extra' if pair in found else 'missed'}: {index.ids[pair[1]]}   on   {rows[pair[0]]}"
        for pair in sorted(set(found) ^ set(wanted))
    )


@given(
    st.lists(st.sets(st.integers(0, 9), max_size=5).map(sorted), min_size=1, max_size=4), st.integers(0, 12)
)
@settings(max_examples=examples(1000), deadline=None)
def test_slop_takes_a_position_of_its_own_for_every_part(parts: list[list[int]], slop: int) -> None:
    from itertools import product

    brute = any(
        len(set(chosen)) == len(chosen)
        and max(p - i for i, p in enumerate(chosen)) - min(p - i for i, p in enumerate(chosen)) <= slop
        for chosen in product(*parts)
    )
    assert stand_together(parts, slop) == brute


@given(st.text("ab*?", max_size=7), st.text("ab", max_size=9))
@settings(max_examples=examples(2000), deadline=None)
def test_wildcards_mean_what_fnmatch_means(pattern: str, word: str) -> None:
    from fnmatch import fnmatchcase

    assert (wildcard(pattern).fullmatch(word) is not None) == fnmatchcase(word, pattern)


@pytest.mark.timeout(20)
def test_a_wildcard_with_many_stars_takes_no_time_on_a_long_word() -> None:
    assert not wildcard("*a" * 30 + "*b").fullmatch("a" * 50_000)


def test_a_row_does_not_depend_on_its_neighbours_or_chunk() -> None:
    """5,000 rows are several chunks; every row alone gives the same hits."""
    queries = [
        parse(text) for text in ("x1 x2", '"x3 x4"', "NOT x5", '"x1 x2"~2 OR x6*', "2 of (x1, x2, x3)")
    ]
    rows = [
        {"title": " ".join(f"x{(i * 7 + j * j) % 9}" for j in range(i % 6)), "body": None}
        for i in range(5000)
    ]
    index = Index.build([(str(number), node) for number, node in enumerate(queries)], SCHEMA)
    whole = _pairs(index, _columns(rows))
    singly = [(i, query) for i in range(0, 5000, 37) for _, query in _pairs(index, _columns(rows[i : i + 1]))]
    assert [pair for pair in whole if pair[0] % 37 == 0] == singly
    columns = _columns(rows)
    chunked = {
        name: pa.chunked_array([column.slice(0, 1), column.slice(1, 2999), column.slice(3000)])
        for name, column in columns.items()
    }
    assert _pairs(index, chunked) == whole


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["b a", "a", None, ""], pa.string()),
        pa.array(["b a", "a", None, ""], pa.large_string()),
        pa.array(["b a", "a", None, ""], pa.string()).dictionary_encode(),
        pa.array(["b a", "a", None, ""], pa.string_view()),
        pa.array([["b", None, "a"], ["a"], None, [""]], pa.list_(pa.string())),
        pa.array([["b", "a"], ["a"], None, [""]], pa.large_list(pa.large_string())),
    ],
    ids=lambda column: str(column.type),
)
def test_all_kinds_of_string_columns_are_read(column: pa.Array) -> None:
    index = Index.build(
        [("q", parse("a b")), ("n", parse("NOT a")), ("p", parse("t:*"))], Schema.of({"t": "text"})
    )
    assert _pairs(index, {"t": column}) == [(0, 0), (0, 2), (1, 2), (2, 1), (3, 1), (3, 2)]


def test_a_missing_or_shorter_column_is_refused() -> None:
    index = Index.build([("q", parse("a"))], SCHEMA)
    with pytest.raises(ValueError, match="no column for the field body"):
        index.match({"title": pa.array(["a"])})
    with pytest.raises(ValueError, match="differ in length"):
        index.match({"title": pa.array(["a"]), "body": pa.array(["a", "b"])})


def test_no_queries_and_no_documents_give_no_hits() -> None:
    assert _pairs(Index.build([], SCHEMA), {"title": pa.array(["a"])}) == []
    assert _pairs(Index.build([("q", parse("NOT a"))], SCHEMA), _columns([])) == []


def test_queries_that_ask_for_no_word_need_no_column() -> None:
    index = Index.build([("all", parse("*:*")), ("none", parse("NOT *:*"))], SCHEMA)
    assert _pairs(index, {"other": pa.array([1, 2])}) == [(0, 0), (1, 0)]


def test_long_documents_and_long_words_do_no_harm() -> None:
    """50 KB of words, one word of 50 KB, 20,000 values, thousands of hits of one slop phrase."""
    texts = ["x " * 25_000 + "needle in hay", "y" * 50_000, "a b " * 10_000, "\x00" * 50_000, "é" * 50_000]
    queries = ['"needle in hay"', "y*", '"b a b"~5', '"a a"~1', "NOT x", "é*", '"x needle"~9']
    index = Index.build([(text, parse(text)) for text in queries], Schema.of({"t": "text"}))
    found = {(document, index.ids[query]) for document, query in _pairs(index, {"t": pa.array(texts)})}
    assert found == {
        (0, '"needle in hay"'),
        (0, '"x needle"~9'),
        (1, "y*"),
        (2, '"b a b"~5'),
        (2, '"a a"~1'),
        (4, "é*"),
        *((document, "NOT x") for document in (1, 2, 3, 4)),
    }
    many = pa.array([["a", "b"] * 10_000], pa.list_(pa.string()))
    phrases = Index.build(
        [("far", parse('"a b"~99')), ("near", parse('"a b"~100'))], Schema.of({"t": "text"})
    )
    assert _pairs(phrases, {"t": many}) == [(0, 1)]


def test_a_vocabulary_that_is_full_starts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    import percolator.vocabulary

    monkeypatch.setattr(percolator.vocabulary, "MOST_WORDS", 50)
    texts = [f"w{i} w{i % 7} w{i % 100}" for i in range(9000)]
    queries = [parse("w3 w5*"), parse('"w8 w1"'), parse("NOT w2")]
    schema = Schema.of({"t": "text"})
    index = Index.build([(str(number), node) for number, node in enumerate(queries)], schema)
    wanted = _brute(queries, [{"t": text} for text in texts], schema)
    assert _pairs(index, {"t": pa.array(texts)}) == wanted


def test_deep_and_wide_queries_are_answered() -> None:
    deep = "NOT (x AND " * 90 + "a" + ")" * 90
    wide = " OR ".join(f"w{i}" for i in range(5000))
    queries = [parse(deep), parse(wide), parse(wide.replace("OR", "AND"))]
    rows = [{"t": "a x"}, {"t": "w4999"}, {"t": ""}]
    schema = Schema.of({"t": "text"})
    index = Index.build([(str(number), node) for number, node in enumerate(queries)], schema)
    assert _pairs(index, {"t": pa.array([row["t"] for row in rows])}) == _brute(queries, rows, schema)
