"""Highlights by column are those of each document alone, which are the reference's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from percolator_duel import Document, accepted, columns
from percolator_trees import WHOLE_SCHEMA, executable, whole, whole_documents

from percolator import highlight_code as coder_module
from percolator.highlighted import RANGES, HighlightedPairs
from percolator.hit import Hit
from percolator.library import collection as module
from percolator.library.collection import Collection
from percolator.library.standing import StandingQuery
from percolator.matching import highlights as codes_module
from percolator.matching import matcher as matcher_module
from percolator.matching.compiled import Engine, interpreted, load
from percolator.query.print import to_text
from percolator.query.tree import Node
from percolator.reference import hit
from percolator.schema import Schema

Found = dict[tuple[int, str], Hit | None]
"""By row and id of the query; None where the places are too many."""


def told(queries: Collection, found: HighlightedPairs) -> Found:
    """The pairs as Python's objects; what Arrow has of them is the same."""
    assert np.array_equal(found.document, np.sort(found.document))
    ids = queries.ids(found.query).to_pylist()
    keys = list(zip(found.document.tolist(), ids, strict=True))
    shown = list(found.highlights())
    as_arrow = found.arrow()
    as_arrow.validate(full=True)
    assert as_arrow.type == RANGES
    for ranges, one in zip(shown, as_arrow.to_pylist(), strict=True):
        flat = [(name, *pair) for name, some in ranges.items() for pair in some]
        assert (one or []) == [dict(zip(("field", "start", "end"), row, strict=True)) for row in flat]
    return {
        key: None if number in found.incomplete else Hit(found.names.get(number, ()), dict(shown[number]))
        for number, key in enumerate(keys)
    }


def collection_of(queries: Sequence[Node], engine: Engine, cuts: int = 1) -> Collection:
    """The queries under their numbers, in so many segments or less."""
    found = Collection(WHOLE_SCHEMA, engine=engine)
    size = len(queries) // cuts + 1
    for first in range(0, len(queries), size):
        for number, node in enumerate(queries[first : first + size], first):
            found.add(StandingQuery(str(number), to_text(node)))
        found.settle()
    return found


def by_reference(queries: Sequence[Node], rows: Sequence[Document]) -> Found:
    return {
        (row, str(number)): known
        for row, document in enumerate(rows)
        for number, node in enumerate(queries)
        if (known := hit(node, document, WHOLE_SCHEMA)) is not None
    }


@pytest.mark.slow
@given(
    st.lists(whole, min_size=16, max_size=24),
    st.lists(whole_documents, min_size=16, max_size=24),
    st.integers(1, 3),
    st.sampled_from([1, 64, 1 << 18]),
    st.sampled_from([1, 7, 4096]),
)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
def test_columns_have_what_the_reference_finds(
    queries: list[Node], rows: list[Document], cuts: int, chunk: int, pairs: int
) -> None:
    """In several segments, with documents and pairs cut into parts of any size."""
    queries = accepted(queries)
    rows = [row for row in rows if row.get("lang") != "\ud800"]  # Arrow has no half surrogates
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(matcher_module, "CHUNK_BYTES", chunk)
        patched.setattr("percolator.matching.view.PAIRS_AT_ONCE", pairs)
        standing = collection_of(queries, load(), cuts)
        assert told(standing, standing.highlight_batch(columns(rows))) == by_reference(queries, rows)


@given(st.lists(executable, min_size=6, max_size=9), st.lists(whole_documents, min_size=5, max_size=8))
@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
def test_the_interpreted_kernel_has_the_same(queries: list[Node], rows: list[Document]) -> None:
    queries = accepted(queries)
    rows = [row for row in rows if row.get("lang") != "\ud800"]
    standing = collection_of(queries, interpreted())
    assert told(standing, standing.highlight_batch(columns(rows))) == by_reference(queries, rows)


SCHEMA = Schema.of({"title": "text", "body": "text", "price": "number"})


def standing_queries(texts: dict[str, str], **more: Any) -> Collection:
    found = Collection(SCHEMA, engine=load(), **more)
    for id_, text in texts.items():
        found.add(StandingQuery(id_, text))
    return found


def test_fields_of_several_values_and_other_letters() -> None:
    standing = standing_queries({"a": 'body:"é b" OR title:b', "b": "x = (b) price:>2", "c": "b NEAR/3 c"})
    rows = {
        "title": pa.array(["b", None, "手 b", ""]),
        "body": pa.array([["é b", "b c"], ["c"], [], ["ü é b", "", "é b c"]]),
        "price": pa.array([1, 3, 3, None]),
    }
    found = standing.highlight_batch(rows)
    assert told(standing, found) == {
        (0, "a"): Hit((), {"title": [(0, 1)], "body": [(0, 3)]}),
        (0, "c"): Hit((), {"body": [(4, 5), (6, 7)]}),
        (2, "a"): Hit((), {"title": [(2, 3)]}),
        (2, "b"): Hit(("x",), {"title": [(2, 3)]}),
        (3, "a"): Hit((), {"body": [(2, 5), (7, 10)]}),
        (3, "c"): Hit((), {"body": [(9, 10), (11, 12)]}),
    } | {(0, "c"): hit_alone(standing, rows, 0, "c"), (3, "c"): hit_alone(standing, rows, 3, "c")}


def hit_alone(standing: Collection, rows: dict[str, pa.Array], row: int, id_: str) -> Hit:
    document = {name: column[row].as_py() for name, column in rows.items()}
    (found,) = [one for one in standing.match(document, highlight=True).hits if one.query.id == id_]
    assert found.highlights is not None
    return Hit(found.names, dict(found.highlights))


def test_expired_queries_have_no_rows_and_are_not_counted() -> None:
    standing = Collection(SCHEMA, engine=load())
    standing.add(StandingQuery("stays", "n = (a) OR b"))
    standing.add(StandingQuery("goes", "a", expires=5))
    standing.settle()
    standing.add(StandingQuery("near", "a NEAR/1 b", expires=6))
    rows = {"title": ["a", "b a", "a b"], "body": [None] * 3, "price": [None] * 3}
    table = pa.table({**rows, "price": pa.nulls(3)})
    found = standing.highlight_batch(table, times=np.array([4, 5, 6]))
    assert told(standing, found) == {
        (0, "goes"): Hit((), {"title": [(0, 1)]}),
        (0, "stays"): Hit(("n",), {"title": [(0, 1)]}),
        (1, "near"): Hit((), {"title": [(0, 1), (2, 3)]}),
        (1, "stays"): Hit(("n",), {"title": [(0, 1), (2, 3)]}),
        (2, "stays"): Hit(("n",), {"title": [(0, 1), (2, 3)]}),
    }
    assert standing.hit_counts() == {"stays": 3, "goes": 1, "near": 1}


def test_places_beyond_the_budget_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    standing = standing_queries({"many": "(a NEAR/5 b) NEAR/9 a", "word": "a"})
    monkeypatch.setattr("percolator.highlight.MOST_STEPS", 1)
    monkeypatch.setattr("percolator.analysed.MOST_STEPS", 1)
    rows = {"title": pa.array(["a b " * 50]), "body": pa.nulls(1, pa.string()), "price": pa.nulls(1)}
    alone = standing.match({"title": "a b " * 50}, highlight=True)
    assert [one.complete for one in alone.hits] == [False, True]
    found = standing.highlight_batch(rows)
    assert found.incomplete == {0}
    assert found.arrow().is_null().to_pylist() == [True, False]
    assert told(standing, found)[0, "many"] is None


def test_nothing_hits_or_nothing_is_asked() -> None:
    rows = {"title": pa.array(["a"]), "body": pa.nulls(1, pa.string()), "price": pa.array([1])}
    nobody = standing_queries({})
    assert told(nobody, nobody.highlight_batch(rows)) == {}
    assert told(nobody, nobody.highlight_batch({})) == {}
    no_text = standing_queries({"dear": "n = (price:>0)", "cheap": "price:<0"})
    assert told(no_text, no_text.highlight_batch(rows)) == {(0, "dear"): Hit(("n",), {})}
    with pytest.raises(ValueError, match="no column for the field price"):
        no_text.highlight_batch({"title": pa.array(["a"])})


def test_code_made_anew_between_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codes_module, "MOST_KEPT", 3)
    monkeypatch.setattr(coder_module, "MOST_KEPT", 3)
    monkeypatch.setattr(matcher_module, "CHUNK_BYTES", 8)
    texts = {f"q{number}": f"n{number} = (a{number}) OR a" for number in range(20)}
    standing = standing_queries(texts)
    titles = [f"a{number} a{(number + 3) % 20}" for number in range(20)]
    rows = {"title": pa.array(titles), "body": pa.nulls(20, pa.string()), "price": pa.nulls(20)}
    found = told(standing, standing.highlight_batch(rows))
    assert len(found) == 40
    for (row, id_), one in found.items():
        assert one is not None
        number = int(id_.removeprefix("q"))
        begin = titles[row].split().index(f"a{number}") and titles[row].index(" ") + 1
        assert one == Hit((f"n{number}",), {"title": [(begin, begin + len(f"a{number}"))]})


def test_remembered_queries_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_REMEMBERED", 2)
    standing = standing_queries({f"q{number}": "a NEAR/3 b" for number in range(5)})
    rows = {"title": pa.array(["a b"]), "body": pa.nulls(1, pa.string()), "price": pa.nulls(1)}
    first = told(standing, standing.highlight_batch(rows))
    assert told(standing, standing.highlight_batch(rows)) == first
    assert len(first) == 5
