"""A line of progress on a terminal, which goes when the work is done."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO, TypeVar

T = TypeVar("T")

_EVERY = 0.2
"""Seconds between two lines."""
_AFTER = 2.0
"""Seconds that work may take before it shows how far it is."""
_CLEAR = "\r\x1b[K"


@contextmanager
def shown(
    line: Callable[[float], str],
    busy: bool = False,
    stream: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[threading.Event, float], bool] = threading.Event.wait,
) -> Iterator[None]:
    """Shows `line(seconds)` on the stream (stderr), if that is a terminal, while the block takes long.

    Another thread draws the line, so that it moves while a large block is worked on. `busy`: something else
    writes to the terminal meanwhile, so there is no line.
    """
    out = sys.stderr if stream is None else stream
    if busy or not out.isatty():
        yield
        return
    begin, ended = clock(), threading.Event()

    def draw() -> None:
        pause, drawn = _AFTER, False
        while not wait(ended, pause):
            out.write(f"{_CLEAR}{line(clock() - begin)}")
            out.flush()
            pause, drawn = _EVERY, True
        if drawn:
            out.write(_CLEAR)
            out.flush()

    drawing = threading.Thread(target=draw, name="progress", daemon=True)
    drawing.start()
    try:
        yield
    finally:
        ended.set()
        drawing.join()


def watched(things: Iterable[T], line: Callable[[int, float], str], busy: bool = False) -> Iterator[T]:
    """The things; meanwhile `line(how many, seconds)` is shown."""
    number = 0
    with shown(lambda seconds: line(number, seconds), busy):
        for number, thing in enumerate(things):  # noqa: B007  the line tells it
            yield thing


def on_terminal(output: str | None) -> bool:
    """True if an `--output` of that name is written to a terminal."""
    return output == "-" and sys.stdout.isatty()


def speed(number: int, seconds: float, noun: str) -> str:
    """`12,000 documents, 4,100 a second`."""
    return f"{number:,} {noun}, {number / max(seconds, 1e-9):,.0f} a second"
