"""The parts of a file that are read independently, and the pieces of a part that a library opens as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import BinaryIO, Literal, cast

import pyarrow as pa

from cep.decode.beginning import Beginning
from cep.decode.formats import BY_NAME, FeedFormat, UnknownFormatError
from cep.decode.inflate import inflated
from cep.decode.parquet_rows import opened
from cep.sources.source import BLOCK, END, Piece

_TOLD = (OSError, pa.ArrowException, EOFError, UnicodeDecodeError, UnknownFormatError)
"""What a reader makes a dead letter of by itself."""
_ROWS = 1 << 18
_CHUNK = 8 << 20


@dataclass(frozen=True, slots=True)
class Split:
    """A part of a file that one reader takes: bytes `start` to `end`, or row groups of a Parquet file.

    Of a line file it holds the records whose first byte lies in it. `length` is the file's, in bytes,
    when it was listed. `end` is -1 where a split goes to the end of the file, whatever that is.
    """

    file: str
    start: int
    end: int
    length: int

    @property
    def path(self) -> str:
        """The file."""
        return self.file


def splits(file: str, length: int, block: int = BLOCK, feed: FeedFormat = BY_NAME) -> list[Split]:
    """The parts in which a file of a feed is to be read, in order; `length` is the file's, in bytes.

    Lines are cut into equal parts of at most `block` bytes; CSV only if no cell is quoted, which is looked
    up; compressed files never. A Parquet file is cut at row groups. A file that cannot be looked into is
    one part: reading it says what is wrong.
    """
    whole = [Split(file, 0, -1, length)]
    try:
        written = feed.of(file)
        if written.kind == "parquet":
            return _row_groups(file, length, block)
        if (
            length <= block
            or written.compression != "none"
            or (written.kind == "csv" and _quotes(file, length))
        ):
            return whole
    except (OSError, pa.ArrowException, UnicodeDecodeError, UnknownFormatError):
        return whole
    parts = -(-length // block)
    places = [length * number // parts for number in range(parts + 1)]
    return [Split(file, start, end, length) for start, end in pairwise(places)]


def pieces(split: Split, feed: FeedFormat = BY_NAME) -> Sequence[Piece]:
    """The row groups of a split, or its compressed file as one; none of lines, which are read as they are.

    Raises OSError where the file cannot be opened.
    """
    try:
        written = feed.of(split.file)
        if written.kind == "parquet":
            return _groups(split)
    except OSError as error:
        if error.errno:
            raise
        return ()
    except _TOLD:  # who reads it tells that
        return ()
    return () if written.compression == "none" else [Piece(0, END, split)]


def probe(split: Split, feed: FeedFormat = BY_NAME) -> None:
    """Opens and decompresses a split."""
    try:
        written = feed.of(split.file)
        if written.kind == "parquet":
            _read_groups(split)
        elif written.compression != "none":
            _decompress(split, written.compression)
    except _TOLD:
        pass


def _groups(split: Split) -> list[Piece]:
    with opened(split.file, split.length) as file:
        rows = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    ends = list(accumulate(rows, initial=0))
    end = len(rows) if split.end == -1 else split.end
    return [
        Piece(
            ends[group],
            ends[group + 1],
            replace(split, start=group, end=split.end if group + 1 == end else group + 1),
        )
        for group in range(split.start, end)
    ]


def _read_groups(split: Split) -> None:
    with opened(split.file, split.length) as file:
        end = file.metadata.num_row_groups if split.end == -1 else split.end
        for group in range(split.start, end):
            for _ in file.iter_batches(row_groups=[group], use_threads=False, batch_size=_ROWS):
                pass


def _decompress(split: Split, compression: Literal["gzip", "zstd"]) -> None:
    with Beginning(split.file, split.length) as file:
        text = inflated(cast(BinaryIO, file), split.file, split.length, compression)
        while text.read(_CHUNK):
            pass


def _row_groups(file: str, length: int, block: int) -> list[Split]:
    with opened(file, length) as stored:
        sizes = [stored.metadata.row_group(i).total_byte_size for i in range(stored.metadata.num_row_groups)]
    found: list[Split] = []
    size = 0
    for group, more in enumerate(sizes):
        if not found or size + more > block:
            found.append(Split(file, group, group + 1, length))
            size = 0
        found[-1] = replace(found[-1], end=group + 1)
        size += more
    if not found:
        return [Split(file, 0, -1, length)]
    found[-1] = replace(found[-1], end=-1)
    return found


def _quotes(file: str, length: int) -> bool:
    with Beginning(file, length) as stream:
        while chunk := stream.read(8 << 20):
            if b'"' in chunk:
                return True
    return False
