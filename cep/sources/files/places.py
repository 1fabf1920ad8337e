"""Where in a file an event is, as a person looks it up: line, row or byte."""

from __future__ import annotations

import re
from pathlib import Path

from cep.decode.formats import FeedFormat, UnknownFormatError

_LOOKED_AT = 256 << 20
"""Bytes before a place that are read to number its line."""


def place(file: str, start: int, end: int, feed: FeedFormat) -> str:
    """The events of a file whose @offset is `start` up to, not including, `end`."""
    one = end == start + 1
    if _parquet(file, feed):
        rows = f"row {start:,}" if one else f"rows {start:,} to {end - 1:,}"
        return f"{file}, {rows}"
    first = _line(file, start)
    if first is None:
        return f"{file}, byte {start:,}{'' if one else f' to {end - 1:,}'}"
    last = first if one else _line(file, end - 1)
    if last is None or last == first:
        return f"{file}, line {first:,}"
    return f"{file}, lines {first:,} to {last:,}"


def _parquet(file: str, feed: FeedFormat) -> bool:
    try:
        return feed.of(file).kind == "parquet"
    except UnknownFormatError:
        return False


def _line(path: str, offset: int) -> int | None:
    """The number of the line, from 1, in which a byte of a file is; None where that is not easily told."""
    if re.search(r"\.(gz|zst)$", path.lower()) or offset > _LOOKED_AT:
        return None
    try:
        with Path(path).open("rb") as file:
            return file.read(offset).count(b"\n") + 1
    except OSError:
        return None
