"""A line at the foot of a terminal that renews itself, and the lines that go above it.

Whatever else is written to that terminal has to go through here: the line is taken away, the text written,
the line drawn again. It is never wider than the terminal, since what wraps cannot be taken away.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, TextIO

from alerts.shown import shown_lines

if TYPE_CHECKING:
    from alerts.receivers.console import Stream

_CLEAR = "\r\x1b[2K"
_USUAL = 80
"""Columns of a terminal that does not say how many it has."""
_ECHO = 2
"""Cells for the `^C` that a terminal shows where the cursor is."""


class StatusLine:
    """Draws on `out` where that is a terminal. Methods may be called from any thread.

    Once `out` takes nothing more, since its reader or the terminal is gone, nothing more is written.
    """

    def __init__(self, out: TextIO) -> None:
        self._out: TextIO | None = out
        self._lock = threading.Lock()
        self._drawn = ""
        self.terminal = _is_terminal(out)

    def draw(self, *forms: str) -> None:
        """Draws the longest form that fits, from the longest on; the last one is cut if it has to be."""
        with self._lock:
            if self.terminal and (room := self._columns() - 1 - _ECHO) > 0:
                text = next((form for form in forms if len(form) <= room), forms[-1])
                self._drawn = text if len(text) <= room else f"{text[: max(room - 3, 0)]}..."[:room]
                self._write(f"{_CLEAR}{self._drawn}")

    def print(self, line: str) -> None:
        """Writes a line that stays."""
        with self._lock:
            self._write(f"{self._taken()}{shown_lines(line)}\n{self._drawn}")

    def above(self, stream: TextIO) -> Stream:
        """The stream; where both are terminals, one whose lines go above this one."""
        return _Above(self, stream) if self.terminal and _is_terminal(stream) else stream

    def write_above(self, stream: TextIO, text: str) -> None:
        """Writes whole lines to another stream to the terminal. Raises what that stream raises."""
        with self._lock:
            self._write(self._taken())
            try:
                stream.write(text)
                stream.flush()
            finally:
                self._write(self._drawn)

    def end(self) -> None:
        """Leaves the line where it is."""
        with self._lock:
            if self._drawn:
                self._drawn = ""
                self._write("\n")

    def _taken(self) -> str:
        return _CLEAR if self._drawn else ""

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._out.fileno() if self._out else -1).columns or _USUAL
        except OSError:
            return _USUAL

    def _write(self, text: str) -> None:
        if self._out is None or not text:
            return
        try:
            self._out.write(text)
            self._out.flush()
        except (OSError, ValueError):
            self._out = None


class _Above:
    def __init__(self, line: StatusLine, stream: TextIO) -> None:
        self._line = line
        self._stream = stream

    def write(self, text: str, /) -> object:
        self._line.write_above(self._stream, text)
        return len(text)

    def flush(self) -> object:
        return None


def _is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"
