"""Where the passes of name and type resolution leave what they find."""

from __future__ import annotations

from rules.diagnostics import Diagnostic, Label
from rules.source import Span


class Findings:
    """Diagnostics in the order in which they were found."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        note: str = "",
        labels: tuple[Label, ...] = (),
        help_: str,
    ) -> None:
        """Record a finding at that place."""
        self.diagnostics.append(Diagnostic(code, "error", message, span, note, labels, help=help_))
