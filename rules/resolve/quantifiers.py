"""Quantifiers and the modifiers after them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rules import syntax, typed
from rules.diagnostics import Label
from rules.resolve.findings import Findings


@dataclass(frozen=True, slots=True)
class Loop:
    """The repetition of a step or group: how often, until what, and with what gap (nanoseconds)."""

    quantifier: typed.Quantifier
    until: syntax.Source | None
    gap: int | None


def loop_of(
    quantifiers: Sequence[syntax.Quantifier],
    modifiers: Sequence[syntax.Modifier],
    findings: Findings,
) -> Loop:
    """The loop that quantifiers and modifiers after a step or a group make."""
    if len(quantifiers) > 1:
        help_ = "put what it repeats in parentheses: `(s{3})?`"
        findings.error("CEP0406", "a quantified step is quantified again", quantifiers[1].span, help_=help_)
    given: dict[str, syntax.Modifier] = {}
    for modifier in modifiers:
        if modifier.kind in given:
            again = (Label(given[modifier.kind].span, "first given here"),)
            findings.error(
                "CEP0409",
                f"`{modifier.kind}` is given twice",
                modifier.span,
                labels=again,
                help_="remove one of them",
            )
        given[modifier.kind] = modifier
        if not quantifiers and modifier.kind != "gap":
            message = f"`{modifier.kind}` needs a quantifier before it"
            findings.error("CEP0408", message, modifier.span, help_="such as `+` or `{2,}`")
    gap = given["gap"].gap if "gap" in given else None
    if gap is not None and gap.value == 0:
        findings.error(
            "CEP0402",
            "a gap of nothing admits no event",
            gap.span,
            help_="give it a length: `gap 5 minutes`, or remove it",
        )
    _contradictions(quantifiers, given, findings)
    until = given["until"].until if "until" in given else None
    return Loop(_quantifier(quantifiers, given), until, None if gap is None else gap.value)


def _contradictions(
    quantifiers: Sequence[syntax.Quantifier], given: dict[str, syntax.Modifier], findings: Findings
) -> None:
    if "any" in given and "contiguous" in given:
        label = (Label(given["contiguous"].span, "the opposite"),)
        message = "a loop's events follow one another `contiguous` or in `any` way, not both"
        findings.error("CEP0409", message, given["any"].span, labels=label, help_="remove one of them")
    exhaustive = given.get("each") or given.get("any")
    if exhaustive is not None and quantifiers and quantifiers[0].reluctant:
        label = (Label(quantifiers[0].span, "reluctant"),)
        message = f"`{exhaustive.kind}` takes every length, reluctant the first only"
        findings.error("CEP0409", message, exhaustive.span, labels=label, help_="remove one of the two")


def _quantifier(
    quantifiers: Sequence[syntax.Quantifier], given: dict[str, syntax.Modifier]
) -> typed.Quantifier:
    if not quantifiers:
        return typed.ONCE
    first = quantifiers[0]
    mode: Literal["greedy", "reluctant", "each"] = "reluctant" if first.reluctant else "greedy"
    if "each" in given or "any" in given:
        mode = "each"
    own: Literal["relaxed", "contiguous", "any"] = "relaxed"
    if "any" in given:
        own = "any"
    elif "contiguous" in given:
        own = "contiguous"
    return typed.Quantifier(first.least, first.most, mode, own)
