"""A part of a block that could not be read, where the rest could."""

from __future__ import annotations

from dataclasses import dataclass

from rules.diagnostics import Diagnostic
from rules.source import Span


@dataclass(frozen=True, slots=True)
class Lost:
    """A clause, field or line with a syntax error.

    `words` are the keywords of what it may have been, or of what it may go on: the empty word for anything.
    """

    words: frozenset[str]
    finding: Diagnostic
    span: Span
