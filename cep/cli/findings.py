"""Findings in the form that was asked for: text, JSON, SARIF, GitHub's commands, JUnit.

Every verb that reports findings prints them by `told`.
"""

from __future__ import annotations

import sys
from typing import Literal, assert_never, cast

from cep.cli.found import Findings
from rules.diagnostics import Diagnostic, in_order

Format = Literal["text", "json", "sarif", "github", "junit"]
"""The names in cep.cli.arguments.FORMATS."""


def told(found: Findings, form: str) -> str:
    """The findings in one of FORMATS, for stdout, in order of place; each line ended."""
    match cast(Format, form):
        case "text":
            from cep.cli.output import diagnostics_text

            return diagnostics_text(found.diagnostics, sys.stdout) + _total(found)
        case "json":
            return _json(found)
        case "sarif":
            from cep.cli.sarif import sarif

            return sarif(found)
        case "github":
            from cep.cli.github import commands

            return commands(found.diagnostics) + _total(found)
        case "junit":
            return _junit(found)
        case other:
            assert_never(other)


def _total(found: Findings) -> str:
    from cep.cli.output import paint
    from rules.nouns import counted

    counts = (found.rules, "rule"), (found.errors, "error"), (found.warnings, "warning")
    text = ", ".join(counted(number, noun) for number, noun in counts)
    colour = "red" if found.errors else "yellow" if found.warnings else "green"
    return paint(text, colour, sys.stdout) + "\n"


def _json(found: Findings) -> str:
    import json

    from cep.cli.output import diagnostics_json

    counts = {"rules": found.rules, "errors": found.errors, "warnings": found.warnings}
    return (
        json.dumps({"diagnostics": diagnostics_json(found.diagnostics), **counts}, ensure_ascii=False) + "\n"
    )


def _junit(found: Findings) -> str:
    """A suite for each file, a case for each finding; a file without any is a case that passed."""
    from cep.cli.junit import Case, Suite, junit
    from rules.render import render

    def case(number: int, finding: Diagnostic) -> Case:
        fails = finding.level == "error" or (finding.level == "warning" and found.strict)
        at = f"line {finding.span.line}" if finding.span is not None else str(number)
        return Case(
            f"{finding.code} {at}",
            _file(finding),
            "failure" if fails else "skipped",
            finding.message,
            render(finding),
            finding.code,
        )

    suites: list[Suite] = []
    for name in dict.fromkeys([*found.files, *map(_file, in_order(found.diagnostics))]):
        here = [d for d in in_order(found.diagnostics) if _file(d) == name]
        cases = tuple(case(number, d) for number, d in enumerate(here, 1))
        suites.append(Suite(name, cases or (Case("no findings", name),)))
    if found.rules == 0 and not found.errors:
        suites.append(Suite("cep", (Case("rules", "cep", "failure", "there is no rule"),)))
    return junit(suites)


def _file(finding: Diagnostic) -> str:
    return "cep" if finding.span is None else finding.span.file.name
