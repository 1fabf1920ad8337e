"""Highlights that the kernel finds are those of the reference, whatever the matcher has seen before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from percolator_duel import Document, accepted, segment_of
from percolator_trees import WHOLE_SCHEMA, executable, whole, whole_documents

from percolator.highlight_code import HighlightCoder
from percolator.hit import Hit
from percolator.library.collection import Collection
from percolator.library.standing import StandingQuery
from percolator.lookup import Lookup
from percolator.matching import view as view_module
from percolator.matching.compiled import interpreted, load
from percolator.matching.documents import of_document
from percolator.matching.kernel.arrays import EDGE, GAP, RUN, RUN_POINTS
from percolator.matching.kernel.highlights import MOST_NAMES
from percolator.matching.matcher import Matcher
from percolator.query.parse import parse
from percolator.query.print import to_text
from percolator.query.tree import Node
from percolator.reference import hit
from percolator.schema import Schema
from percolator.words import token_spans


def judge(matcher: Matcher, queries: Sequence[Node], rows: Sequence[Document], noted: bool = True) -> int:
    """Compares every highlight that the kernel finds with the reference's; returns their number."""
    highlighted = 0
    for row in rows:
        found = matcher.match(row, noted=noted).query.tolist()
        for query, one in zip(found, matcher.highlights(row, found, lambda at: queries[at]), strict=True):
            wanted = hit(queries[query], row, matcher.schema)
            assert wanted is not None
            if one is not None:
                highlighted += 1
                assert one == wanted, (to_text(queries[query]), row)
                assert list(one.highlights) == list(wanted.highlights)
    return highlighted


@pytest.mark.slow
@given(
    st.lists(whole, min_size=16, max_size=24),
    st.lists(whole_documents, min_size=16, max_size=24),
    st.integers(0, 16),
    st.booleans(),
)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
def test_the_kernel_shows_what_the_reference_finds(
    queries: list[Node], rows: list[Document], cut: int, noted: bool
) -> None:
    queries = accepted(queries)
    segments = [segment_of(queries[:cut]), segment_of(queries[cut:])]
    judge(Matcher(WHOLE_SCHEMA, segments, engine=load()), queries, rows, noted)


@given(st.lists(executable, min_size=6, max_size=9), st.lists(whole_documents, min_size=5, max_size=8))
@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
def test_the_interpreted_kernel_shows_the_same(queries: list[Node], rows: list[Document]) -> None:
    queries = accepted(queries)
    judge(Matcher(WHOLE_SCHEMA, [segment_of(queries)], engine=interpreted()), queries, rows)


SCHEMA = Schema.of({"title": "text", "body": "text english", "lang": "keyword", "price": "number"})

TOLD = [
    "recall",
    "recalls OR recalled",
    '"a b" OR b OR "b c d"',
    "rec* AND re?all AND *call AND /re.all/ AND recal~1",
    "recal~1 OR recall",
    "(café OR cafe) AND caf?",
    "{Recall} OR {RECALL}",
    '"the {Recall} of"',
    '"a* b"',
    "手 OR 手机",
    '"大 手机"',
    "2 of (a, b, title:c, lang:en)",
    "a NOT (zebra OR price:>5)",
    "x = (a OR y = (zebra)) OR z = (NOT zebra) OR x = (b)",
    "lang:en AND price:[1 TO 5] AND title:* AND *:*",
    "NOT zebra",
]
DOCUMENT = {
    "title": "a b c: the Recall of b",
    "body": [
        "Recalled, recalls; a b c d",
        "",
        "大手机店 café cafe\u0301 b",
        "b c x",
        "d the Recall 😀 of a1 b",
    ],
    "lang": ["de", "en"],
    "price": 3,
}


@pytest.mark.parametrize("noted", [True, False])
def test_what_has_no_distances_is_highlighted_by_the_kernel(noted: bool) -> None:
    queries = [parse(text) for text in TOLD]
    for engine in (load(), interpreted()):
        matcher = Matcher(SCHEMA, [segment_of(queries, SCHEMA)], engine=engine)
        for row in (DOCUMENT, {**DOCUMENT, "title": "recall"}, DOCUMENT, {**DOCUMENT, "body": "a b 手"}):
            found = matcher.match(row, noted=noted).query.tolist()
            highlighted = matcher.highlights(row, found, lambda at: queries[at])
            assert highlighted == [hit(queries[at], row, SCHEMA) for at in found]
        assert len(found) > len(TOLD) // 3


def test_sentences_in_other_queries_do_not_come_between_the_words() -> None:
    queries = [parse(text) for text in ("sentence(a, b)", '"a b" OR c', "title:a")]
    row = {"title": "c. a. b", "body": "x a b. c\n\nd. a. b"}
    matcher = Matcher(SCHEMA, [segment_of(queries, SCHEMA)], engine=load())
    assert matcher.segments[0].units
    assert judge(matcher, queries, [row]) == 2


@pytest.mark.slow
def test_a_table_that_was_started_anew_shows_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_module, "MOST_POOL", 1 << 10)
    queries = [parse(text) for text in ("w* w2", "/w.*1/ OR w2", '"w8 w1"', "*3*", "w1~1")]
    rows = [{"title": f"w{n} w{n % 7} w8 w1 w{n % 100}", "body": f"w{n} w2 w3"} for n in range(400)]
    matcher = Matcher(SCHEMA, [segment_of(queries, SCHEMA)], engine=load(), most_words=64)
    assert judge(matcher, queries, rows) > 1000
    assert matcher._work.words.generation > 5
    # Each is shown after the others have been matched, when nothing is known of its words any more.
    found = [matcher.match(row).query.tolist() for row in rows[:50]]
    for row, some in zip(rows, found, strict=False):
        highlighted = matcher.highlights(row, some, lambda at: queries[at])
        assert highlighted == [hit(queries[at], row, SCHEMA) for at in some]


def test_a_part_that_the_segment_leaves_out_is_highlighted_elsewhere() -> None:
    queries = [parse("a OR *:*"), parse("b")]
    matcher = Matcher(SCHEMA, [segment_of(queries, SCHEMA)], engine=load())
    assert matcher.match({"title": "a b"}).query.tolist() == [0, 1]
    first, second = matcher.highlights({"title": "a b"}, [0, 1], lambda at: queries[at])
    assert first is None
    assert second == Hit((), {"title": [(2, 3)]})
    collection = Collection(SCHEMA, engine=load())
    collection.add(StandingQuery("q", "a OR *:*"))
    (found,) = collection.match({"title": "a b"}, highlight=True).hits
    assert found.highlights == {"title": [(0, 1)]}


def test_more_names_than_bits_are_highlighted_elsewhere() -> None:
    query = " OR ".join(f"n{number} = (a{number})" for number in range(MOST_NAMES + 1))
    collection = Collection(SCHEMA, engine=load())
    collection.add(StandingQuery("all", query))
    collection.add(StandingQuery("most", query.rpartition(" OR ")[0]))
    text = " ".join(f"a{number}" for number in range(MOST_NAMES + 1))
    names = tuple(f"n{number}" for number in range(MOST_NAMES + 1))
    for highlight in (True, False):
        found = collection.match({"body": text}, highlight=highlight).hits
        assert [one.names for one in found] == [names, names[:-1]]


@pytest.mark.slow
def test_twenty_thousand_hits_with_all_their_ranges() -> None:
    queries = [parse(text) for text in ("a", "a b", "b OR c")]
    nodes = [queries[number % 3] for number in range(20_000)]
    matcher = Matcher(SCHEMA, [segment_of(nodes, SCHEMA)], engine=load())
    row = {"title": "a b c " * 40}
    found = matcher.match(row, noted=True).query.tolist()
    wanted = [hit(query, row, SCHEMA) for query in queries]
    assert len(found) == 20_000
    highlighted = matcher.highlights(row, found, lambda at: nodes[at])
    assert all(one == wanted[number % 3] for number, one in enumerate(highlighted))


def test_code_that_has_grown_too_much_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    from percolator.matching import highlights as module

    queries = [parse(f"a{number} OR a") for number in range(60)]
    queries += [parse(f"a{number} NEAR/1 b") for number in range(60)]
    rows = [{"title": f"a{number} b a{number + 1}"} for number in range(58)]
    for name in ("MOST_CODE", "MOST_KEPT"):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, 40)
            matcher = Matcher(SCHEMA, [segment_of(queries, SCHEMA)], engine=load())
            assert judge(matcher, queries, rows) == 116
            assert matcher._views[0].codes.kept < 48


SIGNS = "aB7é_.'’ \n!東か゛ゞ\u3099ｶﾞ\u1100\u1161\u11a8가\U00020000😀\ud800ﬁ\u0301"


@pytest.mark.parametrize(
    ("query", "sifted"),
    [("title:a body:b", False), ("title:a body:b", True), ('title:"a b" body:"7 é a"', True)],
)
@given(values=st.lists(st.text(SIGNS, max_size=25), max_size=4))
@settings(max_examples=examples(400), deadline=None)
def test_words_begin_and_end_where_the_definition_says(query: str, sifted: bool, values: list[str]) -> None:
    """In code points of their value; those that mean nothing to the query are counted."""
    matcher = Matcher(SCHEMA, [segment_of([parse(query)], SCHEMA)], engine=load())
    if not sifted:
        matcher._sieve.open_to(np.zeros(2, np.int32))
    pieces = of_document({"title": values, "body": values}, {"title": 0, "body": 1})
    edges = np.empty(EDGE * pieces.size, np.int32)
    tokens, runs = matcher._scan([(pieces.data, pieces.rows)], edges, units=False)
    wanted = [place for value in [*values, *values] for place in token_spans(value)]
    word = 0
    for number, places in zip(tokens.tolist(), edges.reshape(-1, EDGE).tolist(), strict=False):
        if number < 0:
            word += GAP - number
            continue
        assert tuple(places) == tuple(wanted[word])
        word += 1
    assert word == len(wanted)
    assert sifted or len(tokens) == len(wanted)
    assert runs.reshape(-1, RUN)[:, RUN_POINTS].tolist() == [len(value) for value in [*values, *values]]


@pytest.mark.slow
def test_every_query_of_words_has_code_and_no_other() -> None:
    """Whatever the hash table holds beside its words."""
    queries = [parse(f"a{number} OR b{number}* OR {{C{number}}}") for number in range(3000)]
    lookup = Lookup(segment_of(queries, SCHEMA))
    numbers = {"title": 0, "body": 1}
    coder = HighlightCoder(SCHEMA, lookup, numbers)
    assert all(coder.code(query) for query in queries)
    assert coder.code(parse("a3000")) is None
