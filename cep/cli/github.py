"""Findings as GitHub workflow commands, which the runner turns into annotations of a pull request.

The form: docs.github.com, "Workflow commands for GitHub Actions"; the escapes: actions/toolkit, command.ts.
"""

from __future__ import annotations

from collections.abc import Iterable

from rules.diagnostics import Diagnostic, in_order

_LEVELS = {"error": "error", "warning": "warning", "hint": "notice"}


def commands(diagnostics: Iterable[Diagnostic]) -> str:
    """One command a line, in order of place. Columns are given where a place is within one line."""
    return "".join(_command(finding) + "\n" for finding in in_order(diagnostics))


def _command(finding: Diagnostic) -> str:
    properties: list[tuple[str, object]] = [("title", finding.code)]
    if finding.span is not None:
        line, column = finding.span.file.position(finding.span.start)
        end_line, end_column = finding.span.file.position(finding.span.end)
        properties += [("file", finding.span.file.name), ("line", line), ("endLine", end_line)]
        if line == end_line:
            properties += [("col", column), ("endColumn", end_column)]
    given = ",".join(f"{name}={_property(str(value))}" for name, value in properties)
    said = [finding.message, *([finding.note] if finding.note else [])]
    text = "; ".join(said) + (f"\nhelp: {finding.help}" if finding.help else "")
    return f"::{_LEVELS[finding.level]} {given}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
