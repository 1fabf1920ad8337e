"""The running engine raises what the reference raises: same alerts, ids, times and order.

For random rules over random streams, whatever the cuts between batches, restarts and shards. The long run:
`CEP_EXAMPLES=20000 pytest -m slow tests/cep/test_agreement.py`.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest
from duel import Program, by_engine, by_reference, programs
from hypothesis import HealthCheck, given, settings

from rules.instants import parse_instant

MANY = int(os.environ.get("CEP_EXAMPLES", "20000"))
QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck)}


def assert_agreement(program: Program) -> None:
    expected, got = by_reference(program), by_engine(program)
    names = ("id", "rule", "kind", "key", "time", "emit", "events")
    actual = [{n: parse_instant(a["time"]) if n == "time" else a[n] for n in names} for a in got.alerts]
    if actual != expected.alerts:
        shown = "\n".join(
            [
                f"{program}",
                "reference:",
                *map(json.dumps, expected.alerts),
                "engine:",
                *map(json.dumps, actual),
            ]
        )
        pytest.fail(shown, pytrace=False)
    assert got.watermark == expected.watermark, f"{program}"
    assert got.late == expected.late, f"{program}"


@settings(max_examples=120, **QUIET)
@given(programs())
def test_engines_agree(program: Program) -> None:
    assert_agreement(program)


@pytest.mark.slow
@pytest.mark.timeout(0)
@settings(max_examples=MANY, **QUIET)
@given(programs())
def test_engines_agree_on_many(program: Program) -> None:
    assert_agreement(program)


@pytest.mark.slow
@pytest.mark.timeout(0)
@settings(max_examples=max(1, MANY // 10), **QUIET)
@given(programs(compiled=True))
def test_the_compiled_kernel_agrees(program: Program) -> None:
    compiled, plain = by_engine(program), by_engine(replace(program, compiled=False))
    assert compiled.alerts == plain.alerts, f"{program}"
    assert compiled.counts == plain.counts, f"{program}"
