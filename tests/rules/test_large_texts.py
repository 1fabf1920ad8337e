"""Texts of a size that no author writes: read in time that grows with them, refused where that is not so."""

from __future__ import annotations

import gc

import pytest
from writing import condition_of, errors, on

from cep.collector import young_only
from cep.expressions.strings import like
from rules import typed

DEEP = 10_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "condition",
    [
        "(" * DEEP + "n > 1" + ")" * DEEP,
        "not " * DEEP + "n > 1",
        "n > " + "-" * DEEP + "1",
        "abs(" * DEEP + "n" + ")" * DEEP + " > 1",
        "true ? " * DEEP + "true" + " : true" * DEEP,
        "n > " + "+".join("1" * DEEP),
        "n in " + "(" * DEEP + "1" + ")" * DEEP,
    ],
    ids=lambda text: text[:6],
)
def test_what_is_nested_without_end_is_refused(condition: str) -> None:
    assert [code for code, _ in errors(on(condition))] == ["CEP0104"]


@pytest.mark.slow
def test_a_thousand_alternatives_are_read() -> None:
    assert errors(on(" or ".join(f"n == {number}" for number in range(1000)))) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "expression",
    [
        "((a{100}){100}){100}",
        r"\\pL{900}\\pL{900}\\pL{900}\\pL{900}",
        "a" * 1_000_000,
        "(" * DEEP + ")" * DEEP,
    ],
    ids=lambda text: text[:8],
)
def test_an_expression_that_cannot_be_used_is_refused_before_it_runs(expression: str) -> None:
    assert [code for code, _ in errors(on(f'kind =~ "{expression}"'))] == ["CEP0215"]


def test_like_takes_no_more_time_than_it_has_pieces() -> None:
    assert not like("a" * 3000, "%a" * 200 + "%b")
    assert like("xay" * 50, "%a" * 50 + "%y")
    assert like("a.c\nd", "a_c%d")
    assert not like("abab", "%ab%abb")


def test_a_colon_in_a_call_is_reported_where_the_bracket_is() -> None:
    assert errors(on("abs(n : 2) > 1")) == [("CEP0103", "abs")]


def test_rubbish_is_collected_while_packs_are_read() -> None:
    before = gc.get_threshold()
    with young_only():
        assert gc.get_threshold()[1] > 10**6
    assert gc.get_threshold() == before


def test_the_values_of_a_list_are_those_that_are_written() -> None:
    values = ["1", "-2", "(3)", "4.5", "10 - 4"] * 400
    found = condition_of(f"amount in ({', '.join(values)})")
    assert isinstance(found, typed.In)
    items = [item for item in found.items if isinstance(item, typed.Literal)]
    assert [item.value for item in items] == [1, -2, 3, 4.5, 6] * 400
    assert [item.span.text.strip("()") for item in items] == [value.strip("()") for value in values]
