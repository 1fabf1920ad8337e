"""CEP0303: a constant or a stream that nothing uses.

Step names are not looked at: an alert lists its events by them, so each is used.
"""

from __future__ import annotations

from collections.abc import Iterator

from rules import syntax
from rules.checks.subject import Subject, warning
from rules.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every constant that no expression names and every stream that no rule reads."""
    read = subject.streams_read()
    for block in subject.blocks():
        name = block.name.text if isinstance(block, syntax.Let | syntax.Stream) else ""
        if isinstance(block, syntax.Let) and name not in subject.declared.used_constants:
            yield warning("CEP0303", f"constant `{name}` is never used", block.name.span, help_="remove it")
        elif isinstance(block, syntax.Stream) and name not in read:
            yield warning("CEP0303", f"no rule reads stream `{name}`", block.name.span, help_="remove it")
