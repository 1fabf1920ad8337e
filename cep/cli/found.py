"""The findings of a check, counted; `cep.cli.findings` prints them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rules.diagnostics import Allowed, Diagnostic


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings in files; `allowed` is what their comments silence, `rules` how many rules were read.

    `strict`: warnings fail, too; what cannot run yet is an error then.
    """

    diagnostics: Sequence[Diagnostic]
    allowed: Sequence[Allowed]
    files: Sequence[str]
    rules: int
    strict: bool

    @property
    def errors(self) -> int:
        """The number of errors."""
        return sum(d.level == "error" for d in self.diagnostics)

    @property
    def warnings(self) -> int:
        """The number of warnings."""
        return sum(d.level == "warning" for d in self.diagnostics)

    @property
    def failed(self) -> bool:
        """True if the command fails: for an error, for a warning if strict, or for want of rules."""
        return self.errors > 0 or (self.strict and self.warnings > 0) or self.rules == 0
