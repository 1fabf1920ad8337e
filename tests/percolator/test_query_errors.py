"""Nothing silently matches nothing: every mistake has a code, a place and a reason."""

from __future__ import annotations

import contextlib

import pytest

from percolator.checks import parse_checked
from percolator.query.errors import QueryError
from percolator.query.parse import MAX_LENGTH, parse
from percolator.schema import Schema, SchemaError

SYNTAX = {
    "": ("PQ01", None, "empty query"),
    " \n": ("PQ01", None, "empty query"),
    "+++": ("PQ02", None, "no searchable word in +++"),
    "a +++": ("PQ02", 2, "no searchable word in +++"),
    '"..."': ("PQ02", None, 'no searchable word in "..."'),
    "a - b": ("PQ02", 2, "no searchable word in -"),
    "{+}": ("PQ02", 0, "no searchable word between { and }"),
    'a "b c': ("PQ03", 2, "unclosed quote"),
    "a (b OR (c)": ("PQ03", 2, "unclosed bracket ("),
    "2 of (a, b": ("PQ03", 0, "unclosed bracket ("),
    "price:[10 TO": ("PQ03", 6, "unclosed range"),
    "/ab": ("PQ03", 0, "unclosed regular expression"),
    "{WHO": ("PQ03", 0, "unclosed bracket {"),
    '"a {b"': ("PQ03", 3, "unclosed bracket { in a phrase"),
    "a) b": ("PQ04", 1, "closing bracket ) without its opening one"),
    "a ]": ("PQ04", 2, "closing bracket ] without its opening one"),
    "a} b": ("PQ04", 1, "closing bracket } without its opening one"),
    "apple OR OR pear": ("PQ05", 9, "operand missing before OR"),
    "AND a": ("PQ05", 0, "operand missing before AND"),
    "a AND": ("PQ05", 5, "operand missing"),
    "a NOT": ("PQ05", 5, "operand missing"),
    "a ()": ("PQ05", 3, "operand missing"),
    "2 of (a, , b)": ("PQ05", 9, "operand missing"),
    "2 of (a, b,)": ("PQ05", 11, "operand missing"),
    "a NEAR/3 AND b": ("PQ05", 9, "operand missing before AND"),
    "title: a": ("PQ05", 6, "nothing to look for after title:"),
    "price:>= 3": ("PQ05", 8, "a value is missing after >="),
    "a NEAR b": ("PQ06", 2, "NEAR needs a distance, as in NEAR/5"),
    "a NEAR/x b": ("PQ06", 7, "the distance of NEAR must be a whole number, as in 5"),
    "a NEAR/-1 b": ("PQ06", 7, "the distance of NEAR must be a whole number, as in 5"),
    "a NEAR/99999999 b": ("PQ06", 7, "the distance of NEAR must be from 0 to 1000000"),
    "atleast/0 a": ("PQ06", 8, "the number of atleast must be from 1 to 1000000"),
    "first/ a": ("PQ06", 6, "the number of first must be a whole number, as in 5"),
    "name~3": ("PQ06", 4, "the distance of a fuzzy word must be from 1 to 2"),
    '"a b"~': ("PQ06", 5, "the slop of a phrase must be a whole number, as in 5"),
    "3 of (a, b)": ("PQ06", 0, "3 of 2 branches can never be true"),
    "0 of (a, b)": ("PQ06", 0, "the number of branches must be from 1 to 1000000"),
    "(a AND b) NEAR/3 c": ("PQ07", 1, "NEAR takes words, phrases, ORs and NEARs of them"),
    "a NEAR/3 NOT b": ("PQ07", 9, "NOT cannot stand inside NEAR, atleast or first"),
    "a NEAR/3 (b OR NOT c)": ("PQ07", 15, "NEAR takes words, phrases, ORs and NEARs of them"),
    "sentence(a, NOT b)": ("PQ07", 12, "sentence takes words, phrases, ORs and NEARs of them"),
    "a-b~1": ("PQ07", 0, "a fuzzy term must be one word without wildcards"),
    "(" * 5000 + "a": ("PQ08", 500, "more than 500 open brackets"),
    "NOT " * 5000 + "a": ("PQ08", 800, "more than 200 levels"),
    "a" + " NEAR/1 a" * 300: ("PQ08", 1600 + 9, "more than 200 levels"),
    "a " * (MAX_LENGTH // 2) + "b": ("PQ09", None, "a query may have 1000000 characters, not 1000001"),
    "price:[1, 2]": ("PQ11", 6, "a range is written [10 TO 20], {10 TO 20} or [10 TO *]"),
    "a *": ("PQ12", 2, "`*` has no letter to look for; `*:*` is every document, `title:*` every title"),
    "a [1 TO 2]": ("PQ13", 2, "a range needs a field, as in price:[10 TO 20]"),
    "title:-a": ("PQ13", 6, "write -title:x for the opposite of title:x"),
    "a NOT ONEAR/5 b": ("PQ13", 2, "NOT ONEAR does not exist; write a NOT NEAR/5 b"),
    "a \\": ("PQ13", 2, "a backslash must stand before a character"),
}


@pytest.mark.parametrize("text", SYNTAX, ids=lambda text: repr(text[:24]))
def test_a_text_that_is_no_query_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(QueryError) as raised:
        parse(text)
    error = raised.value
    if error.code == "PQ08":
        assert error.position is not None
        assert (error.code, error.message) == (SYNTAX[text][0], SYNTAX[text][2])
    else:
        assert (error.code, error.position, error.message) == SYNTAX[text]


SCHEMA = Schema.of({"title": "text", "body": "text english", "price": "number", "lang": "keyword"})

REFUSED = {
    "a titel:b": ("PQ10", 2, "there is no field titel; did you mean title?"),
    "titel:*": ("PQ10", 0, "there is no field titel; did you mean title?"),
    "a title:(b OR +)": ("PQ02", 14, "no searchable word"),
    "title:[a TO b]": ("PQ11", 0, "title is of type text, which has no ranges"),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_answered_is_refused_before_anything_runs(text: str) -> None:
    with pytest.raises(QueryError) as raised:
        parse_checked(text, SCHEMA)
    assert (raised.value.code, raised.value.position, raised.value.message) == REFUSED[text]


def test_a_schema_without_text_has_nothing_to_look_in() -> None:
    with pytest.raises(QueryError, match="no default field"):
        parse_checked("a", Schema.of({"price": "number"}))


@pytest.mark.parametrize(
    ("declarations", "default", "message"),
    [
        ({"a": "txt"}, None, "field a: 'txt' is none of text, keyword, number, date, ip, boolean"),
        ({"a": "text klingon"}, None, "field a: 'klingon' is none of plain, danish"),
        ({"a": "number english"}, None, "field a: only text has an analyser"),
        ({"a": "text"}, ["b"], "the default field b is not declared"),
        ({"a": "number"}, ["a"], "the default field a is not of type text"),
    ],
)
def test_a_wrong_schema_is_refused(
    declarations: dict[str, str], default: list[str] | None, message: str
) -> None:
    with pytest.raises(SchemaError) as raised:
        Schema.of(declarations, default)
    assert str(raised.value).startswith(message)


LONG = [*("x:{", "a\\\\", "a~", '"a" ', "a:(", "2 of ", "a,", "{a}", "/a/ ", "*", "a NEAR/1 ", "a = ", "手*")]


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("fragment", LONG, ids=ascii)
def test_a_long_text_is_read_or_refused_in_linear_time(fragment: str) -> None:
    text = fragment * (MAX_LENGTH // len(fragment) // 4)
    with contextlib.suppress(QueryError):
        parse(text)
    with contextlib.suppress(QueryError):
        parse(text + "~x")
