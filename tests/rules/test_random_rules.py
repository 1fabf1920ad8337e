"""Well-typed rules are accepted; every mistake in any clause of one is reported there and nowhere else."""

from __future__ import annotations

from random import Random

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from rules_with_mistakes import Piece, mistaken, rules, written

from rules.diagnostics import Diagnostic
from rules.packs import load_texts


def errors(text: str) -> list[Diagnostic]:
    return [d for d in load_texts([("p.rules", text)]).diagnostics if d.level == "error"]


def assert_reported(text: str, code: str, start: int, end: int) -> None:
    found = errors(text)
    shown = f"{text[start:end]!r} is to be {code}, not {[(d.code, d.message) for d in found]}, in\n{text}"
    assert code in {d.code for d in found}, shown
    for finding in found:
        assert finding.span is not None, shown
        apart = finding.span.start > end or finding.span.end < start
        assert not apart, f"{finding.message} elsewhere: {shown}"


@settings(max_examples=examples(100), deadline=None)
@given(rules())
def test_a_well_typed_rule_is_accepted(parts: tuple[Piece, ...]) -> None:
    assert errors(written(parts)) == [], written(parts)


@settings(max_examples=examples(100), deadline=None)
@given(rules(), st.randoms(use_true_random=False))
def test_a_mistake_in_a_rule_is_reported_where_it_stands(parts: tuple[Piece, ...], random: Random) -> None:
    assert_reported(*random.choice(list(mistaken(parts))))


@pytest.mark.slow
@settings(max_examples=examples(50), deadline=None)
@given(rules())
def test_every_mistake_in_many_rules_is_reported_where_it_stands(parts: tuple[Piece, ...]) -> None:
    for mistake in mistaken(parts):
        assert_reported(*mistake)
