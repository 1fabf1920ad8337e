"""Expressions over columns give what they give row by row: random expressions over random rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
import pytest
from effort import examples
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from random_expressions import EXPRESSIONS, STREAM, booleans, rows

from cep.events import declared_schema
from cep.expressions.columns import Columns
from cep.expressions.held import python, value_at
from cep.expressions.scalar import evaluate
from rules.packs import load_texts
from rules.typed import Aggregate, Expression, Pack, Path, PrevRef, StepRef, TextMatch, WindowAggregate


def checked(expression: str) -> tuple[Pack, Expression] | None:
    """The expression as the front end types it, or None where it refuses it."""
    text = f'pack p version "1"\n{STREAM}\nrule r {{\n  on e\n  emit it_ = {expression}\n}}\n'
    loaded = load_texts([("p.rules", text)])
    if loaded.pack is None:
        return None
    return loaded.pack, loaded.pack.rules[0].emit[0].value


@dataclass
class Row:
    """One event as a scope."""

    values: Mapping[str, object]

    def field(self, path: Path) -> object:
        return value_at(self.values, path)

    def key(self, name: str) -> object:
        raise AssertionError(name)

    def step(self, ref: StepRef) -> object:
        raise AssertionError(ref)

    def previous(self, ref: PrevRef) -> object:
        raise AssertionError(ref)

    def window(self, ref: WindowAggregate) -> object:
        raise AssertionError(ref)

    def aggregate(self, ref: Aggregate) -> object:
        raise AssertionError(ref)

    def text_match(self, ref: TextMatch) -> bool | None:
        raise AssertionError(ref)


def by_column(pack: Pack, expression: Expression, given_rows: list[dict[str, object]]) -> list[object]:
    schema = declared_schema(pack.streams[0])
    arrays = [pa.array([row[f.name] for row in given_rows], f.type) for f in schema]
    return python(Columns(pa.Table.from_arrays(arrays, schema=schema)).evaluate(expression))


def same(a: object, b: object) -> bool:
    """Equal values of equal types; of doubles, as near as functions of libm agree."""
    if isinstance(a, float) and isinstance(b, float):
        return a == b or math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12)
    if isinstance(a, Decimal) or isinstance(b, Decimal):
        return a == b
    return type(a) is type(b) and a == b


def assert_agreement(text: str, given_rows: list[dict[str, object]]) -> None:
    known = checked(text)
    if known is None:
        return
    pack, expression = known
    expected = [evaluate(expression, Row(row)) for row in given_rows]
    actual = by_column(pack, expression, given_rows)
    wrong = [
        f"  row {number}: by row {e!r}, by column {a!r}\n    {given_rows[number]}"
        for number, (e, a) in enumerate(zip(expected, actual, strict=True))
        if not same(e, a)
    ]
    assert not wrong, f"{text}\n" + "\n".join(wrong[:3])


@pytest.mark.slow
@pytest.mark.timeout(0)
@settings(max_examples=examples(400), deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS | booleans(3), st.lists(rows(), max_size=12))
@example("(null == null)", [])
def test_columns_and_rows_agree(text: str, given_rows: list[dict[str, object]]) -> None:
    assert_agreement(text, given_rows)


@settings(max_examples=examples(200), deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS)
def test_the_front_end_accepts_what_the_strategies_build(text: str) -> None:
    assert checked(text) is not None, text
