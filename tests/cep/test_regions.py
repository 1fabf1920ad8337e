"""Conditions that are judged together by region are true of the same events as each by its column."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from duel import accepted, pack_of
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.automata.plan import compile_plan
from cep.automata.regions import WORTH_IT, together
from cep.expressions.columns import Columns
from cep.routing.verdicts import judged
from rules.typed import Expression, On

HEAD = """pack p version "1"
stream e { id_: string  at: timestamp  s: string?  n: long?  w: double  b: boolean?  id id_  time at }
"""
LONGS = st.sampled_from((0, 1, 2, 5, -(2**63) + 1, 2**63 - 1))
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
    """Whether the checker takes the condition: it refuses those that no event can satisfy."""
    return accepted(f"{HEAD}rule r {{ on e[{text}] }}")


def table(rows: list[tuple[object, ...]]) -> pa.Table:
    types = (pa.string(), pa.int64(), pa.float64(), pa.bool_())
    columns = [pa.array([row[n] for row in rows], type_) for n, type_ in enumerate(types)]
    return pa.table(dict(zip("snwb", columns, strict=True)))


@settings(max_examples=examples(60), deadline=None)
@given(PACKS, ROWS)
def test_regions_tell_what_columns_tell(texts: list[str], rows: list[tuple[object, ...]]) -> None:
    texts = [text for text in texts if may_be(text)]
    asked = [*atoms(texts), None]
    columns = Columns(table(rows))
    bits = np.unpackbits(judged(columns, together(asked)), axis=1)[:, : len(asked)]
    for number, atom in enumerate(asked):
        expected = columns.truth(atom).to_pylist()
        assert bits[:, number].astype(bool).tolist() == expected, texts[number : number + 1]


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


def test_a_plan_of_many_conditions_is_judged_in_several_tables() -> None:
    plan = compile_plan([pack_of(HEAD + "".join(f"rule r{n} {{ on e[n == {n}] }}\n" for n in range(4100)))])
    needs = plan.spaces[0].of("e")
    assert needs is not None
    assert [part.first for part in needs.together] == [0, 512]
    rows = judged(Columns(table([("a", n, 0.0, True) for n in (0, 4095, 4096, 4099, 4100)])), needs.together)
    found = [np.flatnonzero(row).tolist() for row in np.unpackbits(rows, axis=1)]
    assert found == [[0], [4095], [4096], [4099], []]
