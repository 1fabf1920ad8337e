"""A line of progress on a terminal, which goes when the work is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO, TypeVar

T = TypeVar("T")

_EVERY = 0.2
"""Seconds between two lines."""


def watched(
    things: Iterable[T],
    line: Callable[[int, float], str],
    stream: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[T]:
    """The things; meanwhile `line(how many, seconds)` stands on the stream (stderr), on a terminal."""
    out = sys.stderr if stream is None else stream
    if not out.isatty():
        yield from things
        return
    begin = last = clock()
    number = 0
    try:
        for number, thing in enumerate(things):
            now = clock()
            if now - last >= _EVERY:
                last = now
                out.write(f"\r\x1b[K{line(number, now - begin)}")
                out.flush()
            yield thing
    finally:
        out.write("\r\x1b[K")
        out.flush()


def speed(number: int, seconds: float, noun: str) -> str:
    """`12,000 documents, 4,100 a second`."""
    return f"{number:,} {noun}, {number / max(seconds, 1e-9):,.0f} a second"
