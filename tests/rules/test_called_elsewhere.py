"""Names of functions in other languages: each leads to one of ours, or to a sentence, and to no other."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from writing import loaded, matching, on

from rules.called_elsewhere import _OURS, _SAID, SHOWN, called_here, ours_for
from rules.functions import FUNCTIONS

ELSEWHERE = [name for names in _OURS.values() for name in names.split()]
SPOKEN_OF = [name for names in _SAID for name in names.split()]


def plain(name: str) -> str:
    return name.replace("_", "").lower()


def test_a_name_is_said_once_and_is_none_of_ours() -> None:
    twice = [name for name, number in Counter(map(plain, [*ELSEWHERE, *SPOKEN_OF])).items() if number > 1]
    assert twice == []
    assert {plain(name) for name in SHOWN} & {plain(name) for name in [*ELSEWHERE, *SPOKEN_OF]} == set()


def test_every_name_leads_to_a_function_that_there_is() -> None:
    assert set(_OURS) <= set(SHOWN)
    for name in ELSEWHERE:
        assert called_here(name.upper()) == f"write `{SHOWN[ours_for(name) or '']}`"


def test_no_sentence_names_a_function_that_there_is_not() -> None:
    known = {*SHOWN, "like", "matches", "in", "summary", "over", "absent"}
    for said in _SAID.values():
        assert set(re.findall(r"(?<![\w.])([a-z_]+)\(", said)) <= known, said


@pytest.mark.parametrize("name", [*ELSEWHERE, *SPOKEN_OF])
def test_a_call_of_it_is_reported_in_a_condition_and_in_an_emit(name: str) -> None:
    """A reserved word (`between(`) is no call; it has its own message."""
    for text in (
        on(f"{name}(kind) == kind"),
        matching("a: payment{3}", f"within 1h emit x = {name}(a.kind)"),
    ):
        (only,) = [d for d in loaded(text).diagnostics if d.level == "error"]
        assert only.code == "CEP0204" or name in ("between", "matches")
        assert only.help


def test_a_function_of_single_values_is_shown_as_it_is_called() -> None:
    assert called_here("Haversine") == f"write `{FUNCTIONS['distance_km'].shown}`"
    assert called_here("p95") == "write `percentile(step.field, 0.95)`"
    assert called_here("p5") == "write `percentile(step.field, 0.05)`"
    assert called_here("frobnicate") == ""
