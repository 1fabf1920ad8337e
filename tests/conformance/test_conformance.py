"""The conformance cases: the reference and both forms of the running engine answer all of them."""

from __future__ import annotations

import pytest
from cases import Given, by_engine, by_reference, difference, read

from rules.diagnostics import DiagnosticsError

CASES = [*read("cases.jsonl"), *read("found.jsonl")]
CONTRADICTED = frozenset({"siddhi/every_pattern_09"})
"""One step name twice in a row, which the specification refuses ("a step name occurs once")."""


@pytest.mark.parametrize(
    "given", [given for given in CASES if given.name not in CONTRADICTED], ids=lambda g: g.name
)
def test_the_reference_reads_the_specification(given: Given) -> None:
    found = difference(given.alerts, by_reference(given))
    assert not found, f"{given.case.rules}\n{found}"


@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize(
    "given", [given for given in CASES if given.name not in CONTRADICTED], ids=lambda g: g.name
)
def test_the_running_engine_answers(given: Given, compiled: bool) -> None:
    found = difference(given.alerts, by_engine(given, compiled))
    assert not found, f"{given.case.rules}\n{found}"


def test_a_step_name_occurs_once() -> None:
    for given in CASES:
        if given.name in CONTRADICTED:
            with pytest.raises(DiagnosticsError, match="CEP0410"):
                given.pack()
