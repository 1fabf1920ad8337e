"""The text of compressed files, as far as it can be read: a fault in the rest is reported, not raised.

A read gives at most as many bytes as are asked for, however few of the file they come from. Several gzip
members, or zstd frames, in one file are one text; zeros behind a gzip member are padding, as for gzip itself.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol, runtime_checkable

import pyarrow as pa

from cep.decode.beginning import Beginning

if TYPE_CHECKING:
    from zlib import _Decompress

_INPUT = 1 << 18  # bytes that are taken from the file at a time
_STEP = 1 << 20
_GZIP = b"\x1f\x8b"
_WITH_HEADER = 31  # zlib's way to say: gzip, with a window of any size


@runtime_checkable
class Inflated(Protocol):
    """A compressed file that is being read.

    `problem` is why the text is not the whole of the file, once its end is reached. `cut`: the last line of
    the text may be less than what was written. `stored` is how far the file itself has been read, in bytes.
    """

    problem: str | None
    cut: bool
    stored: int

    def read(self, size: int) -> bytes:
        """At most so many bytes of the text; none where it ends. Raises OSError."""


def inflated(file: BinaryIO, path: str, length: int, compression: Literal["gzip", "zstd"]) -> Inflated:
    """The text of the first `length` bytes of a file that is open at its start; `path` is the file's."""
    return _Gzip(file) if compression == "gzip" else _Zstd(path, length)


class _Gzip:
    """By zlib, whose state can be copied: what stands before a damaged place is got out to the last byte."""

    def __init__(self, file: BinaryIO) -> None:
        self.problem: str | None = None
        self.cut = False
        self.stored = 0
        self._file = file
        self._inflater: _Decompress | None = None
        self._input = b""
        self._members = 0
        self._ended = False

    def read(self, size: int) -> bytes:
        """As Inflated says."""
        pieces: list[bytes] = []
        while size > 0 and not self._ended and (self._inflater is not None or self._next_member()):
            piece = self._piece(size)
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _piece(self, most: int) -> bytes:
        assert self._inflater is not None
        if not self._input and not self._more():
            rest = self._inflater.decompress(b"", most)  # what a read that asked for less has left
            if not rest:
                self._end(f"it is cut short: the gzip data has no end after {self.stored:,} bytes", cut=True)
            return rest
        before = self._inflater.copy()
        try:
            piece = self._inflater.decompress(self._input, most)
        except zlib.error as error:
            return self._until_damage(before, most, str(error))
        if self._inflater.eof:
            self._input, self._inflater = self._inflater.unused_data, None
        else:
            self._input = self._inflater.unconsumed_tail
        return piece

    def _until_damage(self, inflater: _Decompress, most: int, why: str) -> bytes:
        """The input before the byte that cannot be read, or the first of it."""
        pieces: list[bytes] = []
        left = most
        for at in range(len(self._input)):
            try:
                pieces.append(inflater.decompress(self._input[at : at + 1], left))
            except zlib.error:
                place = self.stored - len(self._input) + at
                self._end(f"its gzip data is damaged near byte {place:,} ({_without_number(why)})", cut=True)
                break
            left -= len(pieces[-1])
            if left <= 0:
                self._inflater = inflater
                self._input = inflater.unconsumed_tail + self._input[at + 1 :]
                break
        return b"".join(pieces)

    def _next_member(self) -> bool:
        """Begin the next member, if there is one."""
        padded = self._members > 0
        while len(self._input) < len(_GZIP) and self._more():
            self._input = self._input.lstrip(b"\0") if padded else self._input
        if padded:
            self._input = self._input.lstrip(b"\0")
        if not self._input:
            self._ended = True
        elif not self._input.startswith(_GZIP):
            place = self.stored - len(self._input)
            self._end(f"what it holds from its byte {place:,} on is not gzip", cut=False)
        else:
            self._inflater = zlib.decompressobj(_WITH_HEADER)
            self._members += 1
        return not self._ended

    def _more(self) -> bool:
        found = self._file.read(_INPUT)
        self.stored += len(found)
        self._input += found
        return bool(found)

    def _end(self, problem: str, *, cut: bool) -> None:
        self.problem, self.cut, self._ended = problem, cut, True


class _Zstd:
    """By Arrow, which keeps to itself what it has read when a later byte is damaged: then it reads again."""

    def __init__(self, path: str, length: int) -> None:
        self.problem: str | None = None
        self.cut = False
        self._path, self._length = path, length
        self._given = 0
        self._open()

    def read(self, size: int) -> bytes:
        """As Inflated says."""
        pieces: list[bytes] = []
        while size > 0 and self.problem is None:
            try:
                piece = self._text.read(min(size, _STEP))
            except (OSError, pa.ArrowException) as error:
                if getattr(error, "errno", None):
                    raise
                piece = self._until_damage(min(size, _STEP))
            if not piece:
                break
            pieces.append(piece)
            self._given += len(piece)
            size -= len(piece)
        return b"".join(pieces)

    @property
    def stored(self) -> int:
        """The number of bytes of the file that have been read."""
        return int(self._raw.tell())

    @stored.setter
    def stored(self, _: int) -> None:
        raise AttributeError

    def _open(self) -> None:
        self._raw = pa.PythonFile(Beginning(self._path, self._length), mode="r")
        self._text = pa.CompressedInputStream(self._raw, "zstd")

    def _until_damage(self, most: int) -> bytes:
        """Byte by byte what follows what was given already."""
        self._open()
        left = self._given
        while left > 0:
            again = len(self._text.read(min(left, _STEP)))
            if not again:
                self.problem = "it became shorter while it was read"
                return b""
            left -= again
        pieces: list[bytes] = []
        try:
            while len(pieces) < most and (byte := self._text.read(1)):
                pieces.append(byte)
        except (OSError, pa.ArrowException) as error:
            reason = str(error).splitlines()[0].removeprefix("ZSTD decompress failed: ").rstrip(".")
            if "Truncated" in reason:
                self.problem = f"it is cut short: the zstd data has no end after {self._length:,} bytes"
                self.cut = True
            elif "Unknown frame" in reason:
                self.problem = "what it holds behind that is not zstd"
            else:
                self.problem, self.cut = f"its zstd data is damaged ({reason})", True
        return b"".join(pieces)


def _without_number(message: str) -> str:
    """zlib's message without the number before it."""
    return message.rpartition(": ")[2]
