"""Conditions that are evaluated together by region are true of the same events as each by its column."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from duel import accepted, pack_of
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cep.batch import predicates
from cep.batch.predicates import FEW, Bits, Column, Numbers, evaluated, widened
from cep.expressions.columns import Columns
from cep.operators.patterns.runtime.engines import INTERPRETED
from cep.packs.compile import compile_plan
from cep.plan.regions import WORTH_IT, together
from rules.typed import Expression, On

HEAD = """pack p version "1"
stream e { id_: string  at: timestamp  s: string?  n: long?  w: double  b: boolean?  id id_  time at }
"""
LONGS = st.sampled_from((0, 1, 2, 5, -(2**63), -(2**63) + 1, 2**63 - 1))
DOUBLES = st.sampled_from((0.0, -0.0, 1.0, 1.5, -2.25, 1e300, 5e-324))
NAMES = st.sampled_from(("", "a", "b", "ab", "é", "zz"))
SIGNS = st.sampled_from(("<", "<=", ">", ">=", "==", "!="))
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@st.composite
def conditions(draw: st.DrawFn) -> str:
    """A comparison of a field with a constant, or one of other forms."""
    field, constant = draw(st.sampled_from((("n", LONGS), ("w", DOUBLES), ("s", NAMES))))
    value = draw(constant)
    written = f'"{value}"' if isinstance(value, str) else _number(value)
    sign = draw(SIGNS)
    forms = [
        f"{field} {sign} {written}",
        f"{written} {TURNED[sign]} {field}",
        "n + 1 > n",
        "b",
        f"not (n {sign} 1)",
    ]
    if field == "s":
        forms.append(f's in ("{draw(NAMES)}", "{draw(NAMES)}")')
    return draw(st.sampled_from(forms))


def _number(value: float) -> str:
    return f"{value!r}" if isinstance(value, int) else f"{value:.1f}" if abs(value) < 1e20 else "100000000.0"


PACKS = st.lists(st.lists(conditions(), min_size=1, max_size=3).map(" and ".join), min_size=1, max_size=30)
ROWS = st.lists(
    st.tuples(st.none() | NAMES, st.none() | LONGS, DOUBLES, st.none() | st.booleans()), max_size=20
)


def atoms(texts: list[str]) -> list[Expression | None]:
    rules = "".join(f"rule r{n} {{ on e[{text}] }}\n" for n, text in enumerate(texts))
    bodies = [rule.body for rule in pack_of(HEAD + rules).rules]
    return [body.condition for body in bodies if isinstance(body, On)]


@lru_cache
def may_be(text: str) -> bool:
    """True if the checker takes the condition: it refuses those that no event can satisfy."""
    return accepted(f"{HEAD}rule r {{ on e[{text}] }}")


def table(rows: list[tuple[object, ...]]) -> pa.Table:
    types = (pa.string(), pa.int64(), pa.float64(), pa.bool_())
    columns = [pa.array([row[n] for row in rows], type_) for n, type_ in enumerate(types)]
    return pa.table(dict(zip("snwb", columns, strict=True)))


@pytest.fixture(params=["rows", "bits", "numbers"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The form in which predicate bits travel, whatever would take less room."""
    monkeypatch.setattr(predicates, "FEW", 10**9 if request.param == "rows" else 0)
    monkeypatch.setattr(predicates, "A_NUMBER", 0 if request.param == "numbers" else 10**9)
    return str(request.param)


@settings(
    max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(PACKS, ROWS, st.randoms(use_true_random=False))
def test_regions_tell_what_columns_tell(
    form: str, texts: list[str], rows: list[tuple[object, ...]], random: Random
) -> None:
    texts = [text for text in texts if may_be(text)]
    asked = [*atoms(texts), None]
    columns = Columns(table(rows))
    parts = together(asked)
    found = evaluated(columns, parts)
    sparse = all(regions.own is not None for regions in parts[0].regions)
    assert not rows or isinstance(found, Numbers) == (form == "numbers" and sparse)
    chosen = np.array(random.sample(range(len(rows)), len(rows)), np.int64)
    came = Column.of(found.column(chosen))
    truths = [columns.truth(atom).to_numpy(zero_copy_only=False) for atom in asked]
    assert found.wanted().tolist() == [any(truth[row] for truth in truths) for row in range(len(rows))]
    for number, truth in enumerate(truths):
        true = came.true_of(number, np.arange(len(rows)))
        assert true.tolist() == truth[chosen].tolist(), texts[number : number + 1]
    some = np.array([random.random() < 0.5 for _ in asked])
    backwards = np.arange(len(rows))[::-1]
    any_true = [any(truth[row] for truth, mine in zip(truths, some, strict=True) if mine) for row in chosen]
    assert came.any_of(some, backwards).tolist() == any_true[::-1]


def test_where_most_is_false_its_numbers_are_told() -> None:
    many = [f"n == {n}" for n in range(8 * FEW + 8)]
    rows = table([("a", n, 0.0, True) for n in (3, 1, 200)])
    found = evaluated(Columns(rows), together(atoms(many)))
    assert isinstance(found, Numbers)
    assert found.column(np.array([0, 2])).to_pylist() == [b"\x03\0\0\0", b""]
    few = evaluated(Columns(rows), together(atoms(many[: 8 * FEW])))
    assert few.column(np.array([0, 2])).to_pylist() == [b"\x10" + bytes(FEW - 1), bytes(FEW)]
    most = evaluated(Columns(rows), together(atoms([f"n < {n}" for n in range(8 * FEW + 8)])))
    assert isinstance(most, Bits)
    assert Column.of(most.column(np.array([0, 1]))).true_of(2, np.arange(2)).tolist() == [False, True]


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.frozensets(st.integers(0, 199), max_size=9)), max_size=12))
def test_what_came_in_several_forms_is_one_column(events: list[tuple[bool, frozenset[int]]]) -> None:
    came_as = [
        pa.array([np.packbits([atom in true for atom in range(200)]).tobytes()], pa.binary(25))
        if as_bits
        else Numbers(np.array([len(true)]), np.array(sorted(true), np.int64)).column(np.array([0]))
        for as_bits, true in events
    ]
    column = pa.concat_arrays([NO_VERDICTS, *map(widened, came_as)])
    came, every = Column.of(column), np.arange(len(events))
    counts, hits = np.zeros(came.atoms + 1, np.int64), np.zeros(sum(len(t) for _, t in events), np.int64)
    INTERPRETED.count_hits(came.data, came.ends, came.bits, every, 0, counts)
    ends = np.cumsum(counts)
    INTERPRETED.list_hits(came.data, came.ends, came.bits, every, 0, every, ends[:-1].copy(), hits)
    for atom in range(200):
        expected = [atom in true for _, true in events]
        assert came.true_of(atom, every).tolist() == expected
        if atom < came.atoms:
            assert hits[ends[atom] : ends[atom + 1]].tolist() == np.flatnonzero(expected).tolist()


NO_VERDICTS = pa.array([], pa.large_binary())


@pytest.mark.parametrize("sign", ["<", ">="])
def test_many_thresholds_are_one_search(sign: str) -> None:
    (part,) = together(atoms([f"w {sign} {n}.5" for n in range(WORTH_IT)]))
    assert not part.columns
    (regions,) = part.regions
    assert regions.path == ("w",)
    assert regions.bounds is not None
    assert all(a < b for a, b in pairwise(regions.bounds))


def test_few_thresholds_are_columns() -> None:
    (part,) = together(atoms([f"w < {n}.5" for n in range(WORTH_IT - 1)]))
    assert not part.regions
    assert len(part.columns) == WORTH_IT - 1


@pytest.mark.slow
def test_a_plan_of_many_conditions_is_evaluated_in_several_tables() -> None:
    plan = compile_plan([pack_of(HEAD + "".join(f"rule r{n} {{ on e[n == {n}] }}\n" for n in range(4100)))])
    needs = plan.spaces[0].of("e")
    assert needs is not None
    assert [part.first for part in needs.together] == [0, 512]
    found = evaluated(
        Columns(table([("a", n, 0.0, True) for n in (0, 4095, 4096, 4099, 4100)])), needs.together
    )
    came = Column.of(found.column(np.arange(5)))
    true = [[atom for atom in range(4100) if came.true_of(atom, np.array([row]))[0]] for row in range(5)]
    assert true == [[0], [4095], [4096], [4099], []]
