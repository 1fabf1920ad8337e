"""What commands print: colours for terminals, diagnostics as text or JSON, counted nouns."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TextIO

from rules.diagnostics import Diagnostic, in_order

_CODES = {"red": "31", "green": "32", "yellow": "33", "bold": "1", "dim": "2"}


def coloured(stream: TextIO) -> bool:
    """Whether to write colours to a stream: only to a terminal, and not under NO_COLOR (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str, stream: TextIO) -> str:
    """The text in a colour (red, green, yellow, bold, dim) where the stream shows colours."""
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if coloured(stream) else text


def error_text(message: str, help: str = "") -> str:  # noqa: A002
    """A failure as it stands on stderr: one line, and one for what helps."""
    text = f"{paint('error', 'red', sys.stderr)}: {message}"
    return f"{text}\n  = help: {help}" if help else text


def counted(number: int, noun: str) -> str:
    """`1 rule`, `2 rules`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def diagnostics_text(diagnostics: Sequence[Diagnostic], stream: TextIO) -> str:
    """Diagnostics in order of place, drawn with the source under them; empty without any."""
    from rules.render import render

    drawn = [render(d, colour=coloured(stream)).rstrip("\n") for d in in_order(diagnostics)]
    return "".join(f"{text}\n\n" for text in drawn)


def diagnostics_json(diagnostics: Sequence[Diagnostic]) -> list[dict[str, object]]:
    """Diagnostics in order of place, as JSON objects."""
    return [d.as_dict() for d in in_order(diagnostics)]
