"""Diagnostics: the messages about an input that cannot be right, as values, not exceptions.

DiagnosticsError    raised where a caller asked for a value and only diagnostics exist
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rules.source import Span

Level = Literal["error", "warning", "hint"]


@dataclass(frozen=True, slots=True)
class Label:
    """A second place that a diagnostic points at, with what is to be seen there."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: a stable code, one sentence, the smallest span, and in `help` the fix.

    `note` is what is drawn under the span itself. A finding about a whole file or about something
    that has no text (a missing file) has no span.
    """

    code: str
    level: Level
    message: str
    span: Span | None = None
    note: str = ""
    labels: tuple[Label, ...] = ()
    help: str = field(kw_only=True)

    def as_dict(self) -> dict[str, object]:
        """The JSON form: code, level, message, file, line, column, end_line, end_column, note, help, labels.

        Lines and columns count from 1, columns in code points; without a span they are null. A label has a
        place and its text.
        """
        return {
            "code": self.code,
            "level": self.level,
            "message": self.message,
            **_place(self.span),
            "note": self.note,
            "help": self.help,
            "labels": [{**_place(label.span), "text": label.text} for label in self.labels],
        }


def _place(span: Span | None) -> dict[str, object]:
    if span is None:
        return dict.fromkeys(("file", "line", "column", "end_line", "end_column"))
    line, column = span.file.position(span.start)
    end_line, end_column = span.file.position(span.end)
    return {
        "file": span.file.name,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
    }


@dataclass(frozen=True, slots=True)
class Allowed:
    """A finding that a comment of the author silences, and the reason given there."""

    diagnostic: Diagnostic
    reason: str


class DiagnosticsError(Exception):
    """Carries the diagnostics that stand in the way of a value."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("; ".join(f"{d.code}: {d.message}" for d in diagnostics))
        self.diagnostics = tuple(diagnostics)


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """True if any of them is an error."""
    return any(d.level == "error" for d in diagnostics)


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics by file name, place and code; those without a place first."""
    return sorted(
        diagnostics,
        key=lambda d: ("", 0, 0, d.code) if d.span is None else (*_begin(d.span), d.code),
    )


def _begin(span: Span) -> tuple[str, int, int]:
    """File and line too, since a text may be an excerpt of its file."""
    return span.file.name, span.file.first_line, span.start
