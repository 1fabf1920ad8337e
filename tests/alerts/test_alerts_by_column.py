"""Alerts that are written by column are those that are written one by one, byte for byte."""

from __future__ import annotations

import json
import string
from json.encoder import encode_basestring

import numpy as np
import pyarrow as pa
import pytest
from alert_kernel import kernel_in_use
from effort import examples
from hypothesis import event, given, settings
from hypothesis import strategies as st

from alerts import notation
from alerts.alert import Kind
from alerts.arrow_columns import ChosenTexts, ListedTexts, StringTexts, Texts, texts_of, timestamps
from alerts.column_writer import Content, Writing, written
from alerts.columns import Column
from alerts.joining import joined
from alerts.raised import Apart, ApartTexts, Raised, Withholding, Writer
from alerts.raised_columns import RaisedColumns, Raising
from alerts.ranks import decided, rank
from alerts.stages.order import in_order

ODD = (
    '"', "\\", "%s", "%", "\x00", "\\u0000", "\x1f\n\t", "\x7f\u2028", "\ud800", "\udfff\ud800", "é", "𝄞",
    "{}", "null",
)  # fmt: skip
TEXTS = st.text(st.characters(), max_size=4) | st.sampled_from(ODD)
LONGS = st.integers(-(2**63), 2**63 - 1)
NUMBERS = LONGS | st.floats(allow_nan=False, allow_infinity=False)
SIMPLE = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = SIMPLE | st.lists(SIMPLE, max_size=3) | st.dictionaries(TEXTS, SIMPLE, max_size=2)
COLUMNS = (SIMPLE, TEXTS, NUMBERS, LONGS, st.booleans(), st.none(), VALUES)
NAMES = st.lists(TEXTS, max_size=3, unique=True)
TIMES = st.integers(-9_223_372_036, 9_223_372_035).flatmap(
    lambda second: st.sampled_from((0, 5_000_000, 1_000, 999_999_999)).map(lambda ns: second * 10**9 + ns)
)


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_alerts_by_column_are_those_one_by_one(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 4))

    def columns(names: list[str]) -> dict[str, list[object]]:
        kinds = {name: data.draw(st.sampled_from(COLUMNS)) for name in names}
        return {name: [data.draw(kind) for _ in range(count)] for name, kind in kinds.items()}

    texts = st.lists(TEXTS, min_size=count, max_size=count)
    key, emit, said = columns(data.draw(NAMES)), columns(data.draw(NAMES)), data.draw(texts)
    around = data.draw(st.lists(TEXTS, min_size=2, max_size=3))
    summary = [text.join(around) for text in said]
    taken = {
        step: [data.draw(st.lists(TEXTS, min_size=1, max_size=3)) for _ in range(count)]
        for step in data.draw(NAMES)
    }
    times = data.draw(st.lists(TIMES, min_size=count, max_size=count))
    order = st.lists(LONGS, max_size=3)
    orders = data.draw(st.lists(order, min_size=count, max_size=count))
    withheld = [Withholding(text, 5) for text in summary] if data.draw(st.booleans()) else None
    kind: Kind = data.draw(st.sampled_from(("event", "match", "timeout", "hit", "window")))
    apart = data.draw(st.lists(_apart(kind), min_size=count, max_size=count))
    estimates = [",".join(Column(one.approximate).json) for one in apart]
    by = Column([one.query if kind == "hit" else one.window for one in apart])
    told = ApartTexts(by.json, estimates) if kind in ("hit", "window") else None
    pack, revision, rule, structure, severity, tag = (data.draw(TEXTS) for _ in range(6))
    rules = (rule, f"{rule}2")
    writers = [
        Writer(pack, revision, name, structure, severity, [tag], data.draw(st.none() | TEXTS))
        for name in rules
    ]

    def alert(writer: Writer, n: int) -> Raised:
        return writer.raised(
            kind, times[n], _row(key, n), summary[n], _row(emit, n),
            [(step, ids[n]) for step, ids in taken.items()], orders[n], withheld[n] if withheld else None,
            apart[n],
        )  # fmt: skip

    by_column = writers[0].by_column(
        kind, times, _columns(key), Column(summary), _columns(emit),
        [(step, [",".join(Column(ids).json) for ids in of_each]) for step, of_each in taken.items()],
        [decided(order) for order in orders], withheld, told,
    )  # fmt: skip
    assert by_column == [alert(writers[0], n) for n in range(count)]
    # Some of the rows are of both rules.
    decided_by = data.draw(st.lists(st.sampled_from(([0], [1], [0, 1])), min_size=count, max_size=count))
    of, row = zip(*((number, n) for n, some in enumerate(decided_by) for number in some), strict=True)
    one_by_one = [alert(writers[number], n) for number, n in zip(of, row, strict=True)]
    raising = [Raising(pack, name, severity, 5 if withheld else None) for name in rules]
    own_rows = len(row) == count and data.draw(st.booleans())
    try:
        with kernel_in_use(data.draw(st.booleans())):
            shown = [StringTexts(pa.array(said, pa.string())).shown] * (len(around) - 1)
            in_arrow = written(
                [Writing(writer, one, around) for writer, one in zip(writers, raising, strict=True)],
                np.array(of), None if own_rows else np.array(row),
                Content(
                    kind, np.array(times), _texts(key), shown, _texts(emit),
                    [
                        (step, pa.array([",".join(Column(ids).json) for ids in of_each], pa.string()))
                        for step, of_each in taken.items()
                    ],
                    pa.array([decided(order) for order in orders], pa.binary()),
                    [pa.array(summary, pa.string())] if withheld else [""],
                    told and ApartTexts(ListedTexts(by).json, pa.array(estimates, pa.string())),
                ),
            )  # fmt: skip
    except UnicodeEncodeError:
        event("a lone surrogate")
    else:
        assert list(in_arrow) == one_by_one
    columns_of_rows = RaisedColumns.of(one_by_one)
    assert list(columns_of_rows) == one_by_one
    assert list(columns_of_rows.in_order()) == in_order(one_by_one)
    assert all(type(one) is Raised for one in by_column)


def _apart(kind: Kind) -> st.SearchStrategy[Apart]:
    match kind:
        case "hit":
            return st.builds(Apart, TEXTS)
        case "window":
            window = st.lists(TEXTS, min_size=2, max_size=3)
            return st.builds(Apart, st.none(), window, st.lists(TEXTS, max_size=2))
        case _:
            return st.just(Apart())


def _texts(columns: dict[str, list[object]]) -> dict[str, Texts]:
    """In Arrow where it has a type for the values."""
    found: dict[str, Texts] = {}
    for name, values in columns.items():
        types = set(map(type, values)) - {type(None)}
        if types in ({str}, {int}, {float}, {bool}):
            found[name] = texts_of(pa.array(values))
        else:
            found[name] = ListedTexts(Column(values))
    return found


def _row(columns: dict[str, list[object]], number: int) -> dict[str, object]:
    return {name: values[number] for name, values in columns.items()}


def _columns(columns: dict[str, list[object]]) -> dict[str, Column]:
    return {name: Column(values) for name, values in columns.items()}


WELL_FORMED = st.text(st.characters(exclude_categories=("Cs",)), max_size=4) | st.sampled_from(
    ('"', "\\", "\x00", "\x1f\n\t", "\x7f\u2028", "é", "𝄞", "null", "")
)
DOUBLES = (
    st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-(10**12), 10**12).map(lambda n: n / 1000)
    | st.integers(-(10**17), 10**17).map(float)
    | st.sampled_from((0.0, -0.0, 1e-4, 9.99e-5, 1e9, 1e9 - 1, 1e16, 1e22, 5e-324, 1.7976931348623157e308))
)


@settings(max_examples=examples(150), deadline=None)
@given(
    st.sampled_from((WELL_FORMED, DOUBLES, LONGS, st.booleans())).flatmap(
        lambda one: (
            st.lists(st.none() | one, min_size=1, max_size=20) | st.lists(one, min_size=1, max_size=20)
        )
    ),
    st.data(),
)
def test_arrow_writes_what_python_writes(values: list[object], data: st.DataObject) -> None:
    """Doubles of every size, the ends of the range of whole numbers, all that JSON escapes."""
    (type_,) = set(map(type, values)) - {type(None)} or {str}
    arrow = texts_of(pa.array(values, pa.string() if type_ is str else None))
    column = Column(values)
    rows = data.draw(st.lists(st.integers(0, len(values) - 1), min_size=1, max_size=30))
    for name in ("json", "canonical", "ranked", "shown"):
        texts = getattr(column, "plain" if name == "shown" else name)
        expected = [encode_basestring(text)[1:-1] for text in texts] if name == "shown" else texts
        assert getattr(arrow, name).to_pylist() == expected, name
        # Once more as texts of which each row has one.
        type_ = pa.binary() if name == "ranked" else pa.string()
        with kernel_in_use(data.draw(st.booleans())):
            found = joined([getattr(ChosenTexts(arrow, np.array(rows)), name)], type_)
        assert found.to_pylist() == [expected[row] for row in rows], name


@given(st.lists(TIMES | st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=10))
def test_arrow_writes_times(times: list[int]) -> None:
    assert timestamps(np.array(times)).to_pylist() == notation.timestamps(times)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2) | st.sampled_from((-(2**63), -(2**62), 2**62, 2**63 - 1)),
            st.sampled_from(("r", "rr", "q")),
            st.binary(max_size=20),
            st.integers(0, 3),
        ),
        max_size=30,
    )
)
def test_columns_sort_as_rows_do(some: list[tuple[int, str, bytes, int]]) -> None:
    """Times far apart, keys that begin alike over many words, equal rows, and ids that decide."""
    rows = []
    for time, rule, key, number in some:
        id_ = bytes([number]).hex() * 32
        place = rank(time, rule, "p", ["k" * 15 + key.hex()], (number % 2,), id_)
        rows.append(Raised(place, id_, "p", rule, "low", time, '{"id":"","key":{}}'))
    assert list(RaisedColumns.of(rows).in_order()) == in_order(rows)


@given(st.lists(TEXTS, max_size=40), st.data())
def test_some_rows_behind_one_another(said: list[str], data: st.DataObject) -> None:
    rows = []
    for number, text in enumerate(said):
        id_ = f"{number:064x}"
        body = f'{{"id":{json.dumps(text)},"key":{{}}}}'
        rows.append(Raised(rank(number, "r", "p", [], (0,), id_), id_, "p", "r", "low", number, body))
    ends = sorted(data.draw(st.tuples(*[st.integers(0, len(rows))] * 2)))
    columns = RaisedColumns.of(rows)
    with kernel_in_use(data.draw(st.booleans())):
        some = columns.between(*ends)
        assert list(some) == rows[slice(*ends)]
        assert list(some.between(0, len(some) // 2)) == rows[slice(*ends)][: len(some) // 2]
        assert list(RaisedColumns.ordered([some, columns.between(0, ends[0])])) == rows[: ends[1]]
        assert b"".join(some.lines()).decode() == "".join(f"{one.body}\n" for one in rows[slice(*ends)])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("beside", [[], [1.5], ["a", None]])
def test_what_is_no_json_number_is_refused(value: float, beside: list[object]) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        _ = Column([*beside, value]).json
    if not beside or isinstance(beside[0], float):
        with pytest.raises(ValueError, match="not JSON compliant"):
            _ = texts_of(pa.array([*beside, value])).json


def test_a_column_has_the_texts_of_its_values() -> None:
    column = Column([900.0, 1e-07, -0.0, 7, True, None, 'a"%', [1.0, None], {"b": 2, "a": 1.0}])
    assert column.json == [
        "900.0", "1e-07", "-0.0", "7", "true", "null", '"a\\"%"', "[1.0,null]", '{"b":2,"a":1.0}',
    ]  # fmt: skip
    assert column.canonical == [
        "900", "1e-7", "0", "7", "true", "null", '"a\\"%"', "[1,null]", '{"a":1,"b":2}',
    ]  # fmt: skip
    assert column.plain == [
        "900", "1e-7", "0", "7", "true", "null", 'a"%', "1, null", '{"b":2,"a":1.0}',
    ]  # fmt: skip
    assert Column(list(string.ascii_lowercase)).ranked == sorted(Column(list(string.ascii_lowercase)).ranked)


def test_parts_of_both_forms_are_put_together_in_their_order() -> None:
    writers = [Writer("p", "r1", f"rule{n}", "s", "low", [], None) for n in range(2)]
    one, two, three, four = (
        writers[n % 2].raised("event", n, {"k": n}, "s", {}, [("e", [f"e{n}"])], [n], None) for n in range(4)
    )
    for parts in (
        [[one], [], [two], RaisedColumns.of([three]), [four]],
        [RaisedColumns.of([one, two]), RaisedColumns.of(()), [three], [four]],
        [[one, two, three], RaisedColumns.of([four])],
        [[one], [two], [three, four]],
    ):
        assert list(RaisedColumns.together(parts)) == [one, two, three, four]
