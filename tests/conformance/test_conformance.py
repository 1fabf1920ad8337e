"""The conformance cases: the reference and both forms of the running engine answer all of them."""

from __future__ import annotations

import pytest
from cases import FILES, Given, by_engine, by_reference, difference, read

CASES = [given for file in FILES for given in read(file)]


def test_every_case_has_a_name_of_its_own_and_a_source() -> None:
    assert len({given.name for given in CASES}) == len(CASES)
    assert [given.name for given in CASES if not given.source] == []


@pytest.mark.parametrize("given", CASES, ids=lambda given: given.name)
def test_the_reference_reads_the_specification(given: Given) -> None:
    found = difference(given.alerts, by_reference(given))
    assert not found, f"{given.case.rules}\n{found}"


@pytest.mark.parametrize(
    "compiled", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["interpreted", "compiled"]
)
@pytest.mark.parametrize("given", CASES, ids=lambda given: given.name)
def test_the_running_engine_answers(given: Given, compiled: bool) -> None:
    found = difference(given.alerts, by_engine(given, compiled))
    assert not found, f"{given.case.rules}\n{found}"
