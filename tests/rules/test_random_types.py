"""Whatever is well-typed is accepted; with one operand of a wrong type it is refused where that stands."""

from __future__ import annotations

import pytest
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from typed_expressions import EXPRESSIONS, STREAM, Node, edits, written

from rules.diagnostics import Diagnostic
from rules.packs import load_texts

HEAD = f'pack p version "1"\n{STREAM}rule r {{ on e emit x = '


def errors(expression: str) -> list[Diagnostic]:
    return [d for d in load_texts([("t", f"{HEAD}{expression} }}")]).diagnostics if d.level == "error"]


def accepts(node: Node) -> None:
    text = written(node)
    assert [(d.code, d.message) for d in errors(text)] == [], text


def refuses(text: str, start: int, end: int) -> None:
    found = errors(text)
    assert len(found) == 1, (text, [d.message for d in found])
    span = found[0].span
    assert span is not None
    assert found[0].code in {"CEP0207", "CEP0208", "CEP0209", "CEP0211"}, (text, found[0])
    held = text[start:end]
    at = span.start - len(HEAD)
    assert start <= at and at + (span.end - span.start) <= end, (held, span.text)  # noqa: PT018  # one place


@settings(max_examples=examples(100), deadline=None)
@given(EXPRESSIONS)
def test_a_well_typed_expression_is_accepted(node: Node) -> None:
    accepts(node)


@settings(max_examples=examples(100), deadline=None)
@given(EXPRESSIONS, st.randoms(use_true_random=False))
def test_a_wrong_operand_is_refused_where_it_stands(node: Node, random: object) -> None:
    wrong = list(edits(node))
    assume(wrong)
    refuses(*random.choice(wrong))  # type: ignore[attr-defined]


@pytest.mark.slow
@settings(max_examples=examples(500), deadline=None)
@given(EXPRESSIONS)
def test_every_wrong_operand_of_many_expressions_is_refused(node: Node) -> None:
    accepts(node)
    for edit in list(edits(node))[:10]:
        refuses(*edit)
