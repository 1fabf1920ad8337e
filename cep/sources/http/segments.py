"""The segments of a log: `0000000001.jsonl` and so on, files of a folder or objects of a bucket.

A file is whole but the last, which grows. A line in it is whole or was never taken: behind the last line end
of the last file there may be the beginning of one that a crash cut short. An object has all its lines from
the beginning, and never changes.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cep.buckets import store_errors
from cep.files import content
from cep.folders import entries

if TYPE_CHECKING:
    from cep.files import AnyPath

SUFFIX = ".jsonl"
_NAME = re.compile(r"(\d{10})\.jsonl")
_CHUNK = 1 << 20
_SEARCHED = 1 << 16
digesting = partial(hashlib.blake2b, digest_size=16)
"""Makes the digest by which the bytes of a stretch are compared with what they were."""


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


def path_of(folder: AnyPath, segment: int) -> AnyPath:
    """The place of a segment."""
    return folder / f"{segment:010d}{SUFFIX}"


def number_of(path: AnyPath) -> int | None:
    """The number of the segment at a place; None where it is none."""
    name = _NAME.fullmatch(path.name)
    return None if name is None else int(name[1])


def numbers(folder: AnyPath) -> list[int]:
    """The segments that are there, in order; none where there is no folder. Raises OSError."""
    return sorted(_sizes(folder))


def _sizes(folder: AnyPath) -> dict[int, int]:
    """The segments that are there, with the bytes of those that are objects."""
    found = [(_NAME.fullmatch(one.name), one.size) for one in entries(folder)]
    return {int(name[1]): size for name, size in found if name is not None}


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


def end_of_log(folder: AnyPath) -> Position:
    """The place behind the last whole line. Raises OSError."""
    found = _sizes(folder)
    if not found:
        return Position()
    last, path = max(found), path_of(folder, max(found))
    return Position(last, end_of_lines(path) if isinstance(path, Path) else found[last])


def bytes_between(folder: AnyPath, since: Position, until: Position) -> int:
    """The bytes of a log between two places. Raises OSError."""
    return sum(last - first for _, first, last in stretches(folder, since, until))


def stretches(
    folder: AnyPath, since: Position, until: Position, known: Mapping[int, int] | None = None
) -> list[Stretch]:
    """The whole lines of the log between two places, where there are any.

    `known` are the bytes of objects: where it has all of these the store is not asked. Raises OSError for a
    segment whose end has to be known and that is not there.
    """
    between = range(max(1, since.segment), until.segment)
    ends = _ends(folder, between, known or {})
    found = []
    for segment in range(max(1, since.segment), until.segment + 1):
        first = since.byte if segment == since.segment else 0
        last = until.byte if segment == until.segment else ends[segment]
        if first < last:
            found.append((segment, first, last))
    return found


def _ends(folder: AnyPath, segments: range, known: Mapping[int, int]) -> Mapping[int, int]:
    """The end of the lines of each of these segments."""
    if isinstance(folder, Path):
        paths = ((segment, path_of(folder, segment)) for segment in segments)
        return {segment: end_of_lines(path) for segment, path in paths if isinstance(path, Path)}
    sizes = {segment: size for segment in segments if (size := known.get(segment)) is not None}
    if len(sizes) < len(segments):
        sizes = _sizes(folder)
    for segment in segments:
        if segment not in sizes:
            raise FileNotFoundError(None, "is missing", str(path_of(folder, segment)))
    return sizes


Held: TypeAlias = Callable[[], bytes]
"""Gives all that a place holds. Raises OSError."""


def chunks(
    path: AnyPath, first: int, until: int, size: int = _CHUNK, held: Held | None = None
) -> Iterator[bytes]:
    """The bytes of a segment from `first` up to, not including, `until`, or as many of these as there are.

    About `size` at a time; of an object all is read at once, by `held` where it is given. Raises OSError.
    """
    if not isinstance(path, Path):
        with store_errors(path):
            data = memoryview(held() if held else content(path))[first:until]
        yield from (bytes(data[at : at + size]) for at in range(0, len(data), size))
        return
    with path.open("rb", buffering=0) as file:
        file.seek(first)
        while first < until and (chunk := file.read(min(size, until - first))):
            first += len(chunk)
            yield chunk


def line_begin(path: AnyPath, at: int, until: int) -> int:
    """The place of the first line that begins at a byte or behind it; `until` where none begins before.

    Raises OSError.
    """
    at -= 1
    for chunk in chunks(path, at, until, _SEARCHED):
        found = chunk.find(b"\n")
        if found >= 0:
            return at + found + 1
        at += len(chunk)
    return until
