"""What a user is told about an input that cannot be right: values, not exceptions.

DiagnosticsError    raised where a caller asked for a value and only diagnostics exist
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
    """One finding: a stable code, one sentence, the smallest span, and where one exists the fix.

    `note` is what is drawn under the span itself. A finding about a whole file or about something
    that has no text (a missing file) has no span.
    """

    code: str
    level: Level
    message: str
    span: Span | None = None
    note: str = ""
    labels: tuple[Label, ...] = ()
    help: str = ""

    def as_dict(self) -> dict[str, object]:
        """The JSON form: code, level, message, file, line, column, end_line, end_column, help.

        Lines and columns count from 1; without a span they are null.
        """
        place: dict[str, object] = dict.fromkeys(("file", "line", "column", "end_line", "end_column"))
        if self.span is not None:
            end_line, end_column = self.span.file.position(self.span.end)
            place = {
                "file": self.span.file.name,
                "line": self.span.line,
                "column": self.span.column,
                "end_line": end_line,
                "end_column": end_column,
            }
        return {"code": self.code, "level": self.level, "message": self.message, **place, "help": self.help}


class DiagnosticsError(Exception):
    """Carries the diagnostics that stand in the way of a value."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("; ".join(f"{d.code}: {d.message}" for d in diagnostics))
        self.diagnostics = tuple(diagnostics)


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any of them is an error."""
    return any(d.level == "error" for d in diagnostics)


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics by file name, place and code; those without a place first."""
    return sorted(
        diagnostics,
        key=lambda d: ("", 0, d.code) if d.span is None else (d.span.file.name, d.span.start, d.code),
    )
