"""Results of tests in the form that was asked for: text as they run, JSON or JUnit at the end."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from alerts.notation import json_value
from alerts.shown import shown_lines
from cep.cli.output import diagnostics_json, diagnostics_text, error_text, paint
from rules.diagnostics import Diagnostic
from rules.testing import (
    Result,
    RuleCoverage,
    Story,
    coverage_json,
    coverage_text,
    percent,
    result_json,
    result_text,
    share_text,
    summary,
)
from rules.typed import Pack

if TYPE_CHECKING:
    from cep.cli.junit import Case, Suite


_SHOWN = 5
"""Tests that are named where none fits."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A test that ran, what happened in it if that was observed, and how long it took."""

    result: Result
    story: Story | None
    seconds: float


@dataclass(slots=True)
class RanTests:
    """All tests that ran, and what stood in the way of others.

    `wanted` is the expression of `--run`, `least` the percentage of each pack that has to be covered;
    `coverage` is filled where it was asked for. `labels` are those of all tests that there are.
    """

    diagnostics: Sequence[Diagnostic]
    wanted: str | None
    least: float | None
    labels: Sequence[str]
    ran: list[Ran] = field(default_factory=list)
    coverage: list[tuple[Pack, tuple[RuleCoverage, ...]]] = field(default_factory=list)

    @property
    def passed(self) -> int:
        """The number of tests that passed."""
        return sum(ran.result.passed for ran in self.ran)

    @property
    def failed(self) -> bool:
        """True if the command fails: for a test, for want of tests, for an error, for too little coverage."""
        well = self.ran and self.passed == len(self.ran)
        return not well or bool(self.diagnostics) or bool(self.too_little())

    def too_little(self) -> list[str]:
        """A sentence for each pack of which too little is covered."""
        return [
            f"{share_text(percent(rules))} of {pack.name} is covered, less than {share_text(self.least)}"
            for pack, rules in self.coverage
            if self.least is not None and percent(rules) < self.least
        ]

    def without_tests(self) -> str:
        """Why nothing ran; empty where something did, or an error says why."""
        if self.ran or self.diagnostics:
            return ""
        return "there is no test" if self.wanted is None else f"no test fits --run {self.wanted!r}"

    def help_without_tests(self) -> str:
        """The help where nothing ran."""
        if not self.labels:
            return 'write one: test RULE "what happens" { at 0s STREAM { ... }  expect nothing }'
        shown = ", ".join(self.labels[:_SHOWN]) + (", ..." if len(self.labels) > _SHOWN else "")
        return f"tests are chosen by their rules and title: {shown}"


def print_before(results: RanTests, form: str) -> None:
    """Print what is to be said before any test runs."""
    if form == "text":
        print(diagnostics_text(results.diagnostics, sys.stderr), end="", file=sys.stderr)


def print_at_once(ran: Ran, form: str) -> None:
    """Print how a test went, if that is not kept for the end."""
    if form == "text":
        text = shown_lines(result_text(ran.result, json_value, None if ran.result.passed else ran.story))
        print(text if ran.result.passed else paint(text, "red", sys.stdout), flush=True)


def print_at_end(results: RanTests, form: str) -> None:
    """Print all that is left to be said."""
    match form:
        case "json":
            print(json.dumps(_json(results), ensure_ascii=False))
        case "junit":
            from cep.cli.junit import junit

            print(junit(list(_suites(results))), end="")
            _print_coverage(results)
        case _:
            _print_text(results)


def _print_text(results: RanTests) -> None:
    if results.without_tests():
        print(error_text(results.without_tests(), results.help_without_tests()), file=sys.stderr)
    total = f"{results.passed:,} passed, {len(results.ran) - results.passed:,} failed"
    well = results.ran and results.passed == len(results.ran)
    for pack, rules in results.coverage:
        print(f"\n{coverage_text(pack, rules)}\n")
    print(paint(total, "green" if well else "red", sys.stdout))
    for sentence in results.too_little():
        print(paint(sentence, "red", sys.stderr), file=sys.stderr)


def _print_coverage(results: RanTests) -> None:
    """JUnit has no place for it."""
    for pack, rules in results.coverage:
        print(coverage_text(pack, rules), file=sys.stderr)
    for sentence in results.too_little():
        print(sentence, file=sys.stderr)


def _json(results: RanTests) -> dict[str, object]:
    told: dict[str, object] = {
        "tests": [
            result_json(ran.result, json_value, None if ran.result.passed else ran.story)
            for ran in results.ran
        ],
        "passed": results.passed,
        "failed": len(results.ran) - results.passed,
        "diagnostics": diagnostics_json(results.diagnostics),
    }
    if results.coverage:
        told["coverage"] = [coverage_json(pack, rules) for pack, rules in results.coverage]
    return told


def _suites(results: RanTests) -> Iterator[Suite]:
    """A suite for each pack; what kept tests from running is a suite of errors."""
    from cep.cli.junit import Case, Suite
    from rules.render import render

    errors = tuple(
        Case(f"{d.code} {number}", "cep", "error", d.message, render(d), d.code)
        for number, d in enumerate(results.diagnostics, 1)
    )
    if results.without_tests():
        errors = (Case("tests", "cep", "failure", results.without_tests()),)
    if errors:
        yield Suite("cep", errors)
    for name in dict.fromkeys(ran.result.pack.name for ran in results.ran):
        yield Suite(name, tuple(_case(ran) for ran in results.ran if ran.result.pack.name == name))


def _case(ran: Ran) -> Case:
    from cep.cli.junit import Case

    result = ran.result
    group = f"{result.pack.name}.{','.join(result.test.rules)}"
    if result.passed:
        return Case(result.test.title, group, seconds=ran.seconds)
    text = result_text(result, json_value, ran.story)
    return Case(result.test.title, group, "failure", summary(result), text, "test", ran.seconds)
