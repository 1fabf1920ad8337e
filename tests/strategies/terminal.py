"""A terminal as far as our lines need one, and a real one that it watches.

The model wraps as terminals do (xterm's autowrap: the cursor waits behind the last column until another
letter comes) and refuses every escape that it does not know.
"""

from __future__ import annotations

import os
import pty
import re
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO

_PIECES = re.compile(r"\x1b\[2K|\r|\n|[^\x00-\x1f\x7f]|(.)", re.DOTALL)
_BEGUN = re.compile(r"\x1b(\[2?)?\Z")


@dataclass
class Screen:
    """Rows of a terminal that never scrolls anything away; `text` is what has been written to it."""

    columns: int
    rows: list[list[str]] = field(default_factory=lambda: [[]])
    column: int = 0
    text: str = ""
    rest: str = ""

    def feed(self, text: str) -> None:
        """Shows what is written; the beginning of a sequence waits for its end."""
        self.text += text
        text = self.rest + text
        begun = _BEGUN.search(text)
        text, self.rest = (text, "") if begun is None else (text[: begun.start()], begun[0])
        for piece in _PIECES.finditer(text):
            assert piece[1] is None, f"the terminal is sent {piece[1]!r} in {text!r}"
            match piece[0]:
                case "\r":
                    self.column = 0
                case "\n":
                    self.rows.append([])
                case "\x1b[2K":
                    self.rows[-1] = []
                case letter:
                    self._put(letter)

    def _put(self, letter: str) -> None:
        if self.column == self.columns:
            self.rows.append([])
            self.column = 0
        row = self.rows[-1]
        row += " " * (self.column + 1 - len(row))
        row[self.column] = letter
        self.column += 1

    def lines(self) -> list[str]:
        """The text that a person reads, row by row."""
        return ["".join(row).rstrip() for row in self.rows]


def wrapped(line: str, columns: int) -> list[str]:
    """The rows that a line takes."""
    return [line[at : at + columns].rstrip() for at in range(0, len(line), columns)] or [""]


@dataclass
class Terminal:
    """A pseudo-terminal of this machine: `slave` is the side of a program, `screen` what it shows."""

    master: int
    slave: int
    screen: Screen

    def open(self) -> TextIO:
        """A stream to it, as a program's stdout and stderr are."""
        return open(os.dup(self.slave), "w", encoding="utf-8", buffering=1)  # noqa: PTH123

    def read(self) -> Screen:
        """The screen with all that has been written by now."""
        os.set_blocking(self.master, False)
        while True:
            try:
                data = os.read(self.master, 65_536)
            except (BlockingIOError, OSError):
                return self.screen
            if not data:
                return self.screen
            self.screen.feed(data.decode())


@contextmanager
def terminal(columns: int) -> Iterator[Terminal]:
    """A terminal that is so wide."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, columns))
    try:
        yield Terminal(master, slave, Screen(columns))
    finally:
        os.close(slave)
        os.close(master)
