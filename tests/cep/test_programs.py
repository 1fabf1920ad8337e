"""Conditions over an earlier step, as bytecode, mean what `scalar` says, whatever the expression."""

from __future__ import annotations

import itertools
import re

import pytest
from effort import examples
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from random_expressions import FIELDS, STREAM, booleans, rows

from cep.batch.clock import BatchStart
from cep.events import FILE, ID, MAX_TIME, OFFSET, TIME, Events, event_schema
from cep.inprocess.rows import line_events
from cep.inprocess.session import Session
from cep.operators.patterns.runtime.engines import engine
from cep.packs.compile import compile_plan
from cep.packs.unsupported import unsupported
from cep.reference import decided
from cep.shard.advance import MatchOptions
from rules.packs import load_texts
from rules.typed import Pack

NAMES = re.compile(r'"(?:[^"\\]|\\.)*"|\b(' + "|".join(FIELDS) + r")\b(?!\()")


@st.composite
def conditions(draw: st.DrawFn) -> str:
    """A condition of which some fields are those of the step before."""
    text = draw(booleans(draw(st.integers(1, 2))))
    of_step = draw(st.integers(0, 2**24 - 1))
    numbers = itertools.cycle(bit == "1" for bit in f"{of_step:024b}")

    def renamed(found: re.Match[str]) -> str:
        return f"a.{found[0]}" if found[1] and next(numbers) else found[0]

    return NAMES.sub(renamed, text)


def pack_with(condition: str) -> Pack | None:
    text = f'pack p version "1"\n{STREAM}\nrule r {{ match a: e -> b: e[{condition}] within unbounded }}'
    return load_texts([("p.rules", text)]).pack


def events_of(pack: Pack, values: list[dict[str, object]]) -> Events:
    import pyarrow as pa

    schema = event_schema(pack.streams[0])
    columns: dict[str, list[object]] = {name: [row[name] for row in values] for name in FIELDS}
    columns |= {TIME: [0, 1], ID: ["1", "2"], FILE: ["f", "f"], OFFSET: [0, 1]}
    return Events("e", "p", pa.table([pa.array(columns[f.name], f.type) for f in schema], schema=schema))


def assert_as_the_reference(condition: str, earlier: dict[str, object], later: dict[str, object]) -> None:
    """Both forms of the kernel raise as many alerts as the reference."""
    pack = pack_with(condition)
    assume(pack is not None)
    assert pack is not None
    assume(not unsupported(pack))
    values = [{**earlier, "at": 0, "id_": "1"}, {**later, "at": 1, "id_": "2"}]
    expected = decided(pack, [("e", str(row["id_"]), row) for row in values], MAX_TIME)
    plan, events = compile_plan([pack]), [events_of(pack, values)]
    for compiled in (False, True):
        session = Session(plan, options=MatchOptions(compiled=compiled))
        got = [*session.feed(events), *session.drain()]
        assert len(got) == len(expected), (condition, compiled)


@pytest.mark.slow
@settings(max_examples=examples(400), deadline=None, suppress_health_check=list(HealthCheck))
@given(conditions(), rows(), rows())
def test_programs_mean_what_expressions_mean(
    condition: str, earlier: dict[str, object], later: dict[str, object]
) -> None:
    assert_as_the_reference(condition, earlier, later)


def test_the_compiled_kernel_is_another_form_of_the_same_source() -> None:
    plain, compiled = engine(1, False), engine(1, True)
    assert plain.run_rules is not compiled.run_rules
    assert compiled.run_rules.__wrapped__ is plain.run_rules  # type: ignore[attr-defined]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("x", [1e308, -1e19, 2.0**63, 2.0**53 + 2])
def test_a_double_beyond_whole_numbers_of_64_bits_is_its_own_rounding(x: float, compiled: bool) -> None:
    text = """pack p version "1"
    stream e { id_: string  at: timestamp  x: double  id id_  time at }
    rule r { match a: e -> b: e[round(a.x) == x] within 1 hour }"""
    pack = load_texts([("p.rules", text)]).need()
    lines = [
        (n, "e", b'{"id_": "%d", "at": "2026-01-01T00:00:0%dZ", "x": %s}' % (n, n, repr(x).encode()))
        for n in range(2)
    ]
    events, rejected = line_events(pack, lines)
    assert not rejected
    session = Session(
        compile_plan([pack]), start=BatchStart(one_partition=True), options=MatchOptions(compiled=compiled)
    )
    assert len([*session.feed(events), *session.drain()]) == 1
