"""Output of the commands: colours for terminals, diagnostics as text or JSON."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TextIO

from alerts.shown import shown_lines
from rules.diagnostics import Diagnostic, Level, in_order

_CODES = {"red": "31", "green": "32", "yellow": "33", "bold": "1", "dim": "2"}
_COLOURS: dict[Level, str] = {"error": "red", "warning": "yellow", "hint": "dim"}
_GUTTER = 8
_NARROW = 40
"""Cells that line numbers take on a terminal, and those that source lines get on the narrowest."""


def coloured(stream: TextIO) -> bool:
    """True if colours go to a stream: to a terminal, or anywhere under CLICOLOR_FORCE.

    Never under NO_COLOR (no-color.org, bixense.com/clicolors).
    """
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0")
    return forced or (stream.isatty() and os.environ.get("TERM") != "dumb")


def terminal_width(stream: TextIO) -> int | None:
    """Cells of a line of the terminal that a stream is; None where it is none."""
    if not stream.isatty():
        return None
    import shutil

    return shutil.get_terminal_size().columns


def paint(text: str, colour: str, stream: TextIO) -> str:
    """The text in a colour (red, green, yellow, bold, dim) where the stream shows colours."""
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if coloured(stream) else text


def error_text(message: str, help: str, code: str = "") -> str:  # noqa: A002
    """A failure as it stands on stderr: one line, and one for what helps; empty: none."""
    return finding_text("error", message, help, code)


def finding_text(level: Level, message: str, help: str, code: str = "") -> str:  # noqa: A002
    """A finding of a level as it stands on stderr: one line, and one for what helps; empty: none."""
    text = (
        f"{paint(f'{level}[{code}]' if code else level, _COLOURS[level], sys.stderr)}: {shown_lines(message)}"
    )
    return f"{text}\n  = help: {shown_lines(help)}" if help else text


def diagnostics_text(diagnostics: Sequence[Diagnostic], stream: TextIO) -> str:
    """Diagnostics in order of place, drawn with the source under them; empty without any."""
    if not diagnostics:
        return ""
    from rules.render import WIDTH, render_all

    terminal = terminal_width(stream)
    width = WIDTH if terminal is None else max(terminal - _GUTTER, _NARROW)
    return render_all(in_order(diagnostics), colour=coloured(stream), width=width)


def diagnostics_json(diagnostics: Sequence[Diagnostic]) -> list[dict[str, object]]:
    """Diagnostics in order of place, as JSON objects."""
    return [d.as_dict() for d in in_order(diagnostics)]
