"""The conformance cases: the reference and both forms of the running engine answer all of them."""

from __future__ import annotations

import pytest
from cases import Given, by_engine, by_reference, difference, read

OWN = ("own/sql_row_pattern.jsonl", "own/sase.jsonl", "own/language.jsonl")
CASES = [given for file in ("cases.jsonl", "found.jsonl", *OWN) for given in read(file)]


@pytest.mark.parametrize("given", CASES, ids=lambda given: given.name)
def test_the_reference_reads_the_specification(given: Given) -> None:
    found = difference(given.alerts, by_reference(given))
    assert not found, f"{given.case.rules}\n{found}"


@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("given", CASES, ids=lambda given: given.name)
def test_the_running_engine_answers(given: Given, compiled: bool) -> None:
    found = difference(given.alerts, by_engine(given, compiled))
    assert not found, f"{given.case.rules}\n{found}"
