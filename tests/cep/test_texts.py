"""Values without 64 bits of their own, as numbers of a dictionary: equal and ordered as in the language."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from test_decode_round_trips import TYPES, values_of

from cep.batch.texts import Texts, as_text, from_text
from cep.events import arrow_type
from cep.expressions.held import as_held, held, python
from rules.types import ListOf, Record, Scalar, Type


def is_held_as_text(type_: Type) -> bool:
    return isinstance(type_, ListOf | Record) or type_ in (Scalar.STRING, Scalar.TEXT, Scalar.DECIMAL)


@st.composite
def columns(draw: st.DrawFn) -> tuple[Type, list[object]]:
    type_ = draw(TYPES.filter(is_held_as_text))
    return type_, draw(st.lists(values_of(type_), max_size=6))


@settings(max_examples=examples(200), deadline=None)
@given(columns())
def test_numbers_are_equal_where_values_are_and_lead_back_to_them(given_: tuple[Type, list[object]]) -> None:
    type_, values = given_
    texts = Texts.empty()
    column = as_held(pa.array([*values, None], arrow_type(type_)))
    assert column.type == held(type_)
    numbers = texts.numbers(column)[:-1].tolist()
    assert python(column)[:-1] == values
    for value, number in zip(python(column), numbers, strict=False):
        assert from_text(texts.values[number].as_py(), type_) == value
        assert texts.numbers(pa.array([as_text(value)]))[0] == number
        assert [number == other for other in numbers] == [value == other for other in values]


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(values_of(Scalar.DECIMAL), max_size=8))
def test_decimals_have_ranks_in_their_order(values: list[Decimal]) -> None:
    texts = Texts.empty()
    numbers = texts.numbers(pa.array(values, arrow_type(Scalar.DECIMAL)))
    ranks = texts.ranks()[numbers] if values else np.zeros(0)
    assert [values[place] for place in np.argsort(ranks, kind="stable")] == sorted(values)
