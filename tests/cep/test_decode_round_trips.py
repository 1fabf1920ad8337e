"""Values of every type, lists and records in one another, come out of every format as they went in."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
from decoding import stream_of
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.notation import json_value
from cep.decode import Decoded, decode_typed, decoder
from cep.events import arrow_type
from cep.expressions.held import as_held, python
from rules.decimals import DIGITS, EXACT, SCALE
from rules.types import ListOf, Record, Scalar, Type

_TIME = st.integers(-(2**63) + 10**9, 2**63 - 1)  # Arrow reads no text of the first second
_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)
_DIGITS = st.integers(-(10**DIGITS) + 1, 10**DIGITS - 1) | st.integers(-(10**20), 10**20)
_SCALARS: dict[Scalar, st.SearchStrategy[object]] = {
    Scalar.STRING: _TEXT,
    Scalar.TEXT: _TEXT,
    Scalar.LONG: st.integers(-(2**63), 2**63 - 1),
    Scalar.DOUBLE: st.floats(allow_nan=False, allow_infinity=False),
    Scalar.DECIMAL: _DIGITS.map(lambda n: EXACT.scaleb(Decimal(n), -SCALE)),
    Scalar.BOOLEAN: st.booleans(),
    Scalar.TIMESTAMP: _TIME,
    Scalar.DURATION: _TIME,
}
_NAMES = ("a", "b", "c")
TYPES: st.SearchStrategy[Type] = st.recursive(
    st.sampled_from(list(_SCALARS)),
    lambda inner: st.one_of(
        inner.map(ListOf),
        st.builds(
            lambda parts, nullable: Record(tuple(zip(_NAMES, parts, strict=False)), nullable),
            st.lists(inner, min_size=1, max_size=3),
            st.frozensets(st.sampled_from(_NAMES)),
        ),
    ),
    max_leaves=4,
)


def values_of(type_: Type) -> st.SearchStrategy[object]:
    """Values of the type, never null themselves."""
    match type_:
        case ListOf(element):
            return st.lists(values_of(element), max_size=3).map(tuple)
        case Record(fields, nullable):
            parts = {
                name: st.none() | values_of(part) if name in nullable else values_of(part)
                for name, part in fields
            }
            return st.fixed_dictionaries(parts)
        case Scalar():
            return _SCALARS[type_]


@st.composite
def columns(draw: st.DrawFn, types: st.SearchStrategy[Type]) -> tuple[Type, list[object]]:
    """A type and some values of it, nulls among them."""
    type_ = draw(types)
    return type_, draw(st.lists(st.none() | values_of(type_), min_size=1, max_size=5))


def as_json(value: object, type_: Type) -> str:
    """A value as a source writes it: decimals as numbers."""
    match type_, value:
        case _, None:
            return "null"
        case Scalar.DECIMAL, Decimal():
            return format(value, "f")
        case ListOf(element), tuple():
            return "[" + ", ".join(as_json(item, element) for item in value) + "]"
        case Record(fields), Mapping():
            return "{" + ", ".join(f'"{name}": {as_json(value[name], part)}' for name, part in fields) + "}"
        case _:
            return json.dumps(json_value(value, type_))


def assert_same(decoded: Decoded, values: Sequence[object]) -> None:
    assert not decoded.dead, decoded.dead[0].reason
    assert python(as_held(decoded.events.table.column("x"))) == values


@settings(max_examples=examples(200), deadline=None)
@given(columns(TYPES))
def test_json_lines(given_: tuple[Type, list[object]]) -> None:
    type_, values = given_
    lines = [
        f'{{"eid": "{n}", "at": "2020-01-01", "x": {as_json(value, type_)}}}'
        for n, value in enumerate(values)
    ]
    data = "\n".join(lines).encode()
    assert_same(decoder(stream_of({"x": type_}, ("x",))).decode_block(data, "in.jsonl", 0, "s"), values)


@settings(max_examples=examples(200), deadline=None)
@given(columns(TYPES), st.integers(1, 3))
def test_parquet(given_: tuple[Type, list[object]], row_group: int) -> None:
    type_, values = given_
    table = pa.table(
        {
            "eid": [str(n) for n in range(len(values))],
            "at": ["2020-01-01"] * len(values),
            "x": pa.array(values, arrow_type(type_)),
        }
    )
    stored = io.BytesIO()
    pq.write_table(table, stored, row_group_size=row_group)
    stream = stream_of({"x": type_}, ("x",))
    assert_same(decoder(stream).decode_block(stored.getvalue(), "in.parquet", 0, "s"), values)


@settings(max_examples=examples(200), deadline=None)
@given(columns(st.sampled_from(list(_SCALARS))))
def test_csv(given_: tuple[Type, list[object]]) -> None:
    type_, values = given_
    values = [None if value == "" else value for value in values]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(["eid", "at", "x"])
    for number, value in enumerate(values):
        shown = json_value(value, type_)
        writer.writerow([number, "2020-01-01", json.dumps(shown) if isinstance(shown, bool) else shown])
    data = text.getvalue().encode()
    assert_same(decoder(stream_of({"x": type_}, ("x",))).decode_block(data, "in.csv", 0, "s"), values)


@settings(max_examples=examples(200), deadline=None)
@given(columns(TYPES))
def test_values_of_tests(given_: tuple[Type, list[object]]) -> None:
    type_, values = given_
    rows = [{"eid": str(number), "at": number, "x": value} for number, value in enumerate(values)]
    assert_same(decode_typed(stream_of({"x": type_}, ("x",)), rows), values)
