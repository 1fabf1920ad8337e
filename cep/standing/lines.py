"""The lines of a file of standing queries, or of documents, compressed or not by the end of its name.

DamagedTextError    a line that is too long, or a compressed file that cannot be read to its end
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

import pyarrow as pa

from cep.decode.bounds import LONGEST
from cep.decode.inflate import Inflated, inflated

_COMPRESSIONS: dict[str, Literal["gzip", "zstd"]] = {".gz": "gzip", ".zst": "zstd"}
_BLOCK = 1 << 20
MOST = 1 << 30
"""Bytes that a file of queries may hold: as many as one that is not compressed may have."""


class DamagedTextError(OSError):
    """The file holds bytes that cannot be read; the text is a predicate such as "is cut short"."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A line, or all that follows, that cannot be read, and why: a sentence."""

    reason: str


def lines_in(data: bytes, name: str) -> list[bytes]:
    """The lines of a file's bytes, without their ends. Raises OSError and ArrowException."""
    compression = _COMPRESSIONS.get(Path(name).suffix.lower())
    if compression is not None:
        with pa.input_stream(pa.py_buffer(data), compression=compression) as stream:
            data = _bounded(stream)
    return data.removeprefix(b"\xef\xbb\xbf").split(b"\n")


def _bounded(stream: BinaryIO) -> bytes:
    """All of a stream. Raises DamagedTextError where it has too many bytes, or a line has."""
    pieces: list[bytes] = []
    length = line = 0
    while block := stream.read(_BLOCK):
        pieces.append(block)
        length += len(block)
        end = block.rfind(b"\n")
        line = line + len(block) if end < 0 else len(block) - end
        if line > LONGEST:
            raise DamagedTextError(f"a line of it has more than {LONGEST:,} bytes")
        if length > MOST:
            raise DamagedTextError(f"it holds more than {MOST:,} bytes")
    return b"".join(pieces)


def lines_of(name: str) -> Iterator[bytes]:
    """The lines of a file, read a block at a time. Raises OSError and ArrowException."""
    for line in readable_lines(name):
        if isinstance(line, Unread):
            raise DamagedTextError(line.reason)
        yield line


def readable_lines(name: str) -> Iterator[bytes | Unread]:
    """The same; what cannot be read stands where it is, and the next line follows. Raises OSError."""
    compression = _COMPRESSIONS.get(Path(name).suffix.lower())
    with Path(name).open("rb") as file:
        text = file if compression is None else inflated(file, name, Path(name).stat().st_size, compression)
        rest = b""
        while block := text.read(_BLOCK):
            *whole, rest = (rest + block).split(b"\n")
            yield from whole
            if len(rest) > LONGEST:
                length, rest = _behind(text, len(rest))
                yield Unread(f"it has {length:,} bytes: more than {LONGEST:,} are not read")
        cut = isinstance(text, Inflated) and text.cut
        if rest and not cut:
            yield rest
        if isinstance(text, Inflated) and text.problem is not None:
            yield Unread(f"the file cannot be read to its end: {text.problem}")


def _behind(text: BinaryIO | Inflated, length: int) -> tuple[int, bytes]:
    """The length of the line whose first bytes were read, and what was read behind it."""
    while block := text.read(_BLOCK):
        end = block.find(b"\n")
        if end >= 0:
            return length + end, block[end + 1 :]
        length += len(block)
    return length, b""
