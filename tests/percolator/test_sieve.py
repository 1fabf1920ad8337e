"""The sieve leaves out only words that no query asks for, and they leave no trace."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from percolator_duel import brute, difference, pairs, segment_of

from percolator.matching.compiled import load
from percolator.matching.matcher import Matcher
from percolator.query.parse import parse
from percolator.schema import Schema

SCHEMA = Schema.of({"body": "text", "lang": "keyword"})

# Keys are cut at 16 bytes, ends at 8, insides at 6; masks begin anew at 64. Few letters, so that much fits.
written = st.text("abAB", min_size=1, max_size=6).flatmap(
    lambda part: st.sampled_from([part, part * 4, part * 12, f"{part}.{part}", f"{part}é", f"É{part}"])
)
asked = st.one_of(
    written,
    written.map(lambda word: f"{word}*"),
    written.map(lambda word: f"*{word}"),
    written.map(lambda word: f"*{word}*"),
    written.map(lambda word: f"{word[0]}?{word[1:]}*"),
    written.map(lambda word: f"{{{word}}}"),
    written.map(lambda word: f'"{word} {word[:2]}*"'),
    st.lists(written, min_size=2, max_size=3).map(lambda words: f'"{" ".join(words)}"'),
    st.tuples(written, written).map(lambda two: f'"{{{two[0]}}} {two[1]}"'),
    st.tuples(written, written, written).map(lambda three: f'"{three[0]} {three[1][:1]}* {three[2]}"'),
    st.tuples(written, written).map(lambda two: f"{two[0]} NEAR/3 {two[1]}"),
    st.tuples(written, written).map(lambda two: f'"{two[0]} {two[1]}"~2'),
    written.map(lambda word: f"lang:{word}"),
    written.map(lambda word: f"lang:{word}*"),
)
texts = st.lists(written, min_size=1, max_size=30).map(" ".join)


@pytest.mark.slow
@given(
    st.lists(asked, min_size=1, max_size=12),
    st.lists(st.fixed_dictionaries({"body": texts, "lang": written}), min_size=1, max_size=6),
    st.integers(0, 12),
)
@settings(max_examples=examples(400), deadline=None)
def test_nothing_that_is_asked_for_is_left_out(
    queries: list[str], rows: list[dict[str, str]], cut: int
) -> None:
    """Also not when the segments in use change between two documents."""
    nodes = [parse(text) for text in queries]
    segments = [segment_of(nodes[:cut], SCHEMA), segment_of(nodes[cut:], SCHEMA)]
    matcher = Matcher(SCHEMA, segments[:1], engine=load())
    for row in rows:
        matcher.use(segments[:1])
        assert pairs(matcher.match(row)) == brute(nodes[:cut], [row], SCHEMA)
        matcher.use(segments)
        found, wanted = pairs(matcher.match(row)), brute(nodes, [row], SCHEMA)
        assert found == wanted, difference(found, wanted, nodes, [row])


@given(
    st.lists(asked, min_size=1, max_size=12),
    st.lists(st.fixed_dictionaries({"body": texts, "lang": written}), min_size=1, max_size=6),
    st.integers(0, 2**64 - 1),
)
@settings(max_examples=examples(200), deadline=None)
def test_a_sieve_that_takes_words_for_others_changes_no_hit(
    queries: list[str], rows: list[dict[str, str]], taken: int
) -> None:
    """As it does once in some hundred thousand documents: here a part of its bits is set by chance."""
    nodes = [parse(text) for text in queries]
    matcher = Matcher(SCHEMA, [segment_of(nodes, SCHEMA)], engine=load())
    matcher.match(rows[0])
    source = np.random.default_rng(taken)
    for bits in (matcher._sieve.arrays.bits, matcher._sieve.arrays.heads):
        bits |= source.integers(0, 2**64, len(bits), np.uint64)
        bits[:: 1 + taken % 3] = 2**64 - 1
    columns = {name: pa.array([row[name] for row in rows]) for name in ("body", "lang")}
    found, wanted = pairs(matcher.match_batch(columns)), brute(nodes, rows, SCHEMA)
    assert found == wanted, difference(found, wanted, nodes, rows)


def test_the_first_word_of_a_text_has_none_before_it() -> None:
    """What is taken for a part of a phrase keeps its neighbour; a first word has none, least of all the last
    word of the document before."""
    nodes = [parse("pear AND apple"), parse('"ripe plum"')]
    matcher = Matcher(SCHEMA, [segment_of(nodes, SCHEMA)], engine=load())
    matcher.match({"body": "pear", "lang": None})
    matcher._sieve.arrays.bits[:] = 2**64 - 1
    columns = {"body": pa.array(["pear", "other apple", "pear apple"]), "lang": pa.nulls(3, pa.string())}
    assert pairs(matcher.match_batch(columns)) == [(2, 0)]


@pytest.mark.slow
def test_words_of_phrases_are_found_wherever_they_stand() -> None:
    """At every place of a window of words, at its borders, and after words that nobody asks for."""
    phrases = ['"alpha beta"', '"alpha beta gamma"', '"beta été"', '"alpha b* gamma"', "alpha NEAR/7 omega"]
    nodes = [parse(text) for text in phrases]
    matcher = Matcher(SCHEMA, [segment_of(nodes, SCHEMA)], engine=load())
    source = random.Random(3)
    parts = ["alpha beta", "alpha beta gamma", "Beta été", "alpha bold gamma", "alpha", "omega", "été"]
    rows = []
    for length in range(0, 1200, 7):
        words = source.choices([*parts[4:], "beta", "gamma", "other"], k=length)
        rows.append({"body": " ".join([*words, *source.sample(parts, 3)]), "lang": None})
        rows.append({"body": " ".join(["other"] * length + ["alpha"] + ["else"] * (length % 12) + ["omega"])})
    for row in rows:
        assert pairs(matcher.match(row)) == brute(nodes, [row], SCHEMA)


def test_a_word_that_meant_nothing_hits_as_soon_as_a_query_asks_for_it() -> None:
    matcher = Matcher(SCHEMA, [segment_of([parse("pear")], SCHEMA)], engine=load())
    document = {"body": "an apple " * 20, "lang": "en"}
    assert pairs(matcher.match(document, noted=True)) == []
    matcher.use([*matcher.segments, segment_of([parse("apple")], SCHEMA)])
    nodes = [parse("pear"), parse("apple")]
    assert pairs(matcher.match(document, noted=True)) == [(0, 1)]
    (hit,) = matcher.highlights(document, [1], nodes.__getitem__)
    assert hit is not None
    assert len(hit.highlights["body"]) == 20


def test_new_words_leave_no_trace() -> None:
    """Not in plain text, nor as keywords; a few are taken for words of queries."""
    source = random.Random(1)
    queries = [f"word{n} AND begin{n}*" for n in range(500)] + ["lang:en", '"abc abd"', '"abe abf"']
    matcher = Matcher(SCHEMA, [segment_of([parse(text) for text in queries], SCHEMA)], engine=load())
    matcher.match({"body": " ".join(queries), "lang": "en"})
    before = matcher.nbytes
    for _ in range(300):
        new = ["".join(source.choices("abcdefghij", k=9)) for _ in range(98)]
        new += ["abd", "Abc", "abf", "ABE"]  # words of phrases, none of them beside its neighbour
        matcher.match({"body": " ".join(new), "lang": new[:50]})
    assert matcher.nbytes == before
