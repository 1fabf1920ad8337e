"""The files of a log: `0000000001.jsonl` and so on, each whole but the last, which grows.

A line is whole or was never taken: behind the last line end of the last segment there may be the beginning of
one that a crash cut short.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

SUFFIX = ".jsonl"
_NAME = re.compile(r"(\d{10})\.jsonl")
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a log: a byte of a segment."""

    segment: int = 0
    byte: int = 0

    @property
    def number(self) -> int:
        """The place as one number, which rises as places do."""
        return self.segment << 40 | self.byte


Stretch: TypeAlias = tuple[int, int, int]
"""A segment, the first byte of it, and the byte behind the last."""


def path_of(folder: Path, segment: int) -> Path:
    """The file of a segment."""
    return folder / f"{segment:010d}{SUFFIX}"


def numbers(folder: Path) -> list[int]:
    """The segments that are there, in order; none where there is no folder."""
    try:
        found = [_NAME.fullmatch(path.name) for path in folder.iterdir()]
    except FileNotFoundError:
        return []
    return sorted(int(one[1]) for one in found if one is not None)


def end_of_lines(path: Path) -> int:
    """The byte behind the last line end of a file. Raises OSError."""
    with path.open("rb", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        while end:
            begin = max(0, end - _CHUNK)
            file.seek(begin)
            found = file.read(end - begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            end = begin
    return 0


def end_of_log(folder: Path) -> Position:
    """The place behind the last whole line. Raises OSError."""
    found = numbers(folder)
    return Position(found[-1], end_of_lines(path_of(folder, found[-1]))) if found else Position()


def bytes_between(folder: Path, since: Position, until: Position) -> int:
    """The bytes of a log between two places. Raises OSError."""
    return sum(last - first for _, first, last in stretches(folder, since, until))


def stretches(folder: Path, since: Position, until: Position) -> list[Stretch]:
    """The whole lines of the log between two places, where there are any.

    Raises OSError for a segment whose end has to be known and that is not there.
    """
    found = []
    for segment in range(max(1, since.segment), until.segment + 1):
        first = since.byte if segment == since.segment else 0
        last = until.byte if segment == until.segment else end_of_lines(path_of(folder, segment))
        if first < last:
            found.append((segment, first, last))
    return found
