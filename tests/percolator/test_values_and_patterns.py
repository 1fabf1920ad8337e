"""Values of fields that are no text; what fuzzy words, wildcards and regular expressions take, in time."""

from __future__ import annotations

from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from typing import Any

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from percolator.checks import check
from percolator.patterns import regex, takes, wildcard, within
from percolator.query.errors import QueryError
from percolator.query.parse import parse
from percolator.query.tree import Regex
from percolator.reference import matches
from percolator.schema import Schema
from percolator.values import DocumentError

SCHEMA = Schema.of(
    {
        "title": "text",
        "price": "number",
        "day": "date",
        "ip": "ip",
        "paid": "boolean",
        "lang": "keyword",
        "url": "keyword",
    }
)

A_DAY = "day is a date, as in 2024-01-31 or 2024-01-31T09:30Z"
STILL = "no date moves with time here: write the day itself, and `*` for an open end"
TRUE = {
    "price:3": [3, 3.0, [1, 3]],
    "price:-1.5e3": [-1500],
    "price:[10 TO 20]": [10, 20, 15.5],
    "price:{10 TO 20}": [10.001, 19],
    "price:[* TO *]": [0],
    "price:9007199254740993": [9007199254740993],
    "day:2024": ["2024-12-31T23:59:59.999999Z", date(2024, 1, 1)],
    "day:2024-02": ["2024-02-29"],
    "day:2024-01-31": ["2024-01-31T23:00:00Z", datetime(2024, 1, 31, 5)],
    "day:[2024-01-01 TO 2024-01-31]": ["2024-01-31T23:59:59Z"],
    "day:{2024-01-01 TO *]": ["2024-01-02"],
    "day:>2024-01-01": ["2024-01-02"],
    "day:<=2024-01-01": ["2024-01-01T12:00Z", "2023"],
    "day:2024-01-01T10:00Z": ["2024-01-01T10:00:59+00:00", "2024-01-01T12:00:00+02:00"],
    'day:"2024-01-01 10:00"': [datetime(2024, 1, 1, 10, 0, 30, tzinfo=UTC)],
    "ip:10.0.0.0/8": ["10.255.0.1", "::ffff:10.1.1.1"],
    "ip:2001:db8::/32": ["2001:db8::1"],
    "ip:[10.0.0.1 TO 10.0.0.9]": ["10.0.0.9"],
    "paid:true": [True],
    "paid:(true OR false)": [False],
    "lang:en": ["en", ["de", "en"]],
    'lang:"en GB"': ["en GB"],
    "lang:{En}": ["En"],
    "url:http*\\?a*": ["https://x.y/?a=[1]"],
    "url:/https?:.*/": ["http://x"],
    "lang:emglish~1": ["english"],
    "NOT lang:*": [None, []],
}

FALSE = {
    "price:3": [30, None, float("nan")],
    "price:{10 TO 20}": [10, 20],
    "price:9007199254740993": [9007199254740992],
    "day:2024": ["2023-12-31T23:59:59Z", "2025"],
    "day:{2024-01-01 TO *]": ["2024-01-01T23:00Z"],
    "day:>2024-01-01": ["2024-01-01T23:00Z"],
    "day:<2024-01-01": ["2024-01-01"],
    "day:2024-01-01T10:00Z": ["2024-01-01T10:00:00+02:00"],
    "ip:10.0.0.0/8": ["11.0.0.0", "::10.0.0.1"],
    "paid:true": [False, None],
    "lang:en": ["EN", "en GB", None],
    "lang:{En}": ["en"],
    "url:a*": ["ba", "\ud800"],
    "NOT lang:*": [""],
}


def _field(query: str) -> str:
    return query.removeprefix("NOT ").split(":")[0]


@pytest.mark.parametrize(
    ("query", "value", "wanted"),
    [
        (query, value, wanted)
        for wanted, cases in ((True, TRUE), (False, FALSE))
        for query in cases
        for value in cases[query]
    ],
    ids=ascii,
)
def test_values_are_compared_as_their_type_says(query: str, value: Any, wanted: bool) -> None:
    node = parse(query)
    check(node, SCHEMA)
    assert matches(node, {_field(query): value}, SCHEMA) == wanted


REFUSED = {
    "price:abc": ("PQ11", 6, "price is a number, not abc"),
    "price:1e999": ("PQ11", 6, "price is a number, not 1e999"),
    "price:nan": ("PQ11", 6, "price is a number, not nan"),
    "price:3*": ("PQ11", 6, "price is of type number, which has values and ranges, no patterns"),
    "price:[20 TO 10]": ("PQ11", 0, "nothing lies between 20 and 10"),
    "price:{10 TO 10]": ("PQ11", 0, "nothing lies between 10 and 10"),
    "day:2024-13-01": ("PQ11", 4, "day is a date, as in 2024-01-31 or 2024-01-31T09:30Z, not 2024-13-01"),
    "day:[today TO *]": ("PQ11", 0, f"{A_DAY}, not today; {STILL}"),
    "day:[now-7d TO now]": ("PQ11", 0, f"{A_DAY}, not now-7d; {STILL}"),
    "day:>now-1d": ("PQ11", 0, f"{A_DAY}, not now-1d; {STILL}"),
    "day:[2026-01-01 TO now]": ("PQ11", 0, f"{A_DAY}, not now; {STILL}"),
    "day:[NOW/DAY-7DAYS TO NOW]": ("PQ11", 0, f"{A_DAY}, not NOW/DAY-7DAYS; {STILL}"),
    "day:2026-01-01||-1M": ("PQ11", 4, f"{A_DAY}, not 2026-01-01||-1M; {STILL}"),
    "day:nowhere": ("PQ11", 4, "day is a date, as in 2024-01-31 or 2024-01-31T09:30Z, not nowhere"),
    "ip:10.0.0.1/8": ("PQ11", 3, "ip is an IP address; 10.0.0.1/8 has host bits set"),
    "ip:1.2.3": ("PQ11", 3, "ip is an IP address, as in 10.0.0.1, not 1.2.3"),
    "paid:yes": ("PQ11", 5, "paid is true or false, not yes"),
    "paid:>=true": ("PQ11", 0, "paid is of type boolean, which has no ranges"),
    "lang:[a TO b]": ("PQ11", 0, "lang is of type keyword, which has no ranges"),
    'lang:"a b"~2': ("PQ07", 5, "lang is a keyword, compared as a whole: it has no slop"),
    "lang:(a NEAR/3 b)": ("PQ07", 6, "lang is of type keyword; only words of texts have places"),
    "first/3 price:3": ("PQ07", 0, "price is of type number; only words of texts have places"),
    "title:a NEAR/3 url:b": (
        "PQ07",
        0,
        "its operands are looked for in different fields, and no place crosses fields",
    ),
    "a /(?=b)/": ("PQ12", 2, "this regular expression cannot be used: invalid perl operator: (?="),
    "/(a/": ("PQ12", 0, "this regular expression cannot be used: missing ): (a"),
    "/a\ud800/": ("PQ12", 0, "half of a surrogate pair in a regular expression"),
    "東*京": ("PQ12", 0, "in Chinese, Japanese and Korean a wildcard can only stand at the ends of a word"),
    '"a 東?"': ("PQ12", 0, "in Chinese, Japanese and Korean a wildcard can only stand at the ends of a word"),
    "東~1": ("PQ07", 0, "a fuzzy term must be one word without wildcards"),
}


@pytest.mark.parametrize("query", REFUSED, ids=ascii)
def test_what_could_never_be_true_is_refused(query: str) -> None:
    with pytest.raises(QueryError) as raised:
        check(parse(query), SCHEMA)
    assert (raised.value.code, raised.value.position, raised.value.message) == REFUSED[query]


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("price:1", "1"),
        ("price:1", True),
        ("day:2024", "soon"),
        ("ip:::1", "home"),
        ("paid:true", 1),
        ("lang:x", 3),
        ("a", 3),
    ],
)
def test_a_document_with_a_value_of_another_type_is_an_error(query: str, value: Any) -> None:
    name = "title" if query == "a" else _field(query)
    with pytest.raises(DocumentError, match=f"field {name} holds"):
        matches(parse(query), {name: value}, SCHEMA)


def _distance(one: str, other: str) -> int:
    """Optimal string alignment by the table of the textbook."""
    table = [[max(i, j) for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i, letter in enumerate(one, 1):
        for j, opposite in enumerate(other, 1):
            table[i][j] = min(
                table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (letter != opposite)
            )
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == opposite:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


@pytest.mark.slow
@given(st.text("abc", max_size=7), st.text("abc", max_size=7), st.integers(0, 2))
@settings(max_examples=examples(3000), deadline=None)
def test_fuzzy_words_are_as_many_edits_away(one: str, other: str, distance: int) -> None:
    assert within(one, other, distance) == (_distance(one, other) <= distance)


@given(st.text("ab*?", max_size=7), st.text("ab\n", max_size=9))
@settings(max_examples=examples(1000), deadline=None)
def test_wildcards_of_values_mean_what_fnmatch_means(pattern: str, value: str) -> None:
    assert takes(wildcard(pattern), value) == fnmatchcase(value, pattern)


@pytest.mark.timeout(20)
def test_nothing_that_is_asked_of_a_long_word_hangs() -> None:
    word = "a" * 50_000
    assert not takes(regex(Regex("(a*)*(a|aa)+(.*a){20}b")), word)
    assert not takes(wildcard("*a" * 30 + "*b"), word)
    assert not within(word + "bcd", word, 2)
    assert within("b" + word, word + "b", 2)
