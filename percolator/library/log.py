"""The log of changes since the segments: frames of records, the last of which may be torn.

A frame is a length, a checksum, and JSON lines: {"add": QUERY} | {"remove": ID} | {"expire": MICROSECONDS}.
It is written at once and counts as soon as it is whole; what a crash left of one is cut off by the next
writer. A damaged frame with others behind it is damage, and is reported.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from percolator.disk import Disk
from percolator.library.damage import DamagedError

Record = dict[str, Any]

_HEAD = struct.Struct("<III")
"""Length and checksum of what follows, and the checksum of these two."""


def frame(records: Sequence[Record]) -> bytes:
    """The records as one frame; surrogates survive as escapes."""
    body = "\n".join([json.dumps(record, separators=(",", ":")) for record in records]).encode("ascii")
    head = struct.pack("<II", len(body), zlib.crc32(body))
    return head + struct.pack("<I", zlib.crc32(head)) + body


def frames(path: Path, start: int, end: int | None = None) -> Iterator[tuple[list[Record], int]]:
    """The records of each frame from `start` on, and where the next begins.

    With `end`, up to exactly there. Raises DamagedError; without `end` a torn last frame is none.
    """
    with path.open("rb") as file:
        file.seek(0, 2)
        size = file.tell() if end is None else end
        if start > file.tell() or size > file.tell():
            raise DamagedError(path, f"the log ends at byte {file.tell()}, before {max(start, size)}")
        file.seek(start)
        at = start
        while at < size:
            data = file.read(_HEAD.size)
            length = _length(data)
            behind = at + _HEAD.size + length
            body = file.read(length) if behind <= size else b""
            if not body or zlib.crc32(body) != _HEAD.unpack(data)[1]:
                last = len(data) < _HEAD.size or (length and behind >= size) or not any(file.read())
                if end is None and last:
                    return
                raise DamagedError(path, f"the frame at byte {at} is damaged")
            yield [json.loads(line) for line in body.split(b"\n")], behind
            at = behind


def _length(head: bytes) -> int:
    """The number of bytes that follow, 0 where the head is none."""
    if len(head) < _HEAD.size:
        return 0
    length, _, checksum = _HEAD.unpack(head)
    return int(length) if zlib.crc32(head[:8]) == checksum else 0


class LogWriter:
    """Appends to a log; `end` is where its last frame ends. One at a time (percolator.library.writer).

    It is `broken` once it is not known what is on disk: then it takes nothing more.
    """

    def __init__(self, path: Path, disk: Disk, end: int) -> None:
        """Cuts off what is behind `end`."""
        self._disk = disk
        self.end = end
        self._file: BinaryIO = disk.open(path, "r+b")
        self.broken = False
        if path.stat().st_size > end:
            disk.truncate(self._file, end)
            disk.sync(self._file)
        self._file.seek(end)

    def append(self, records: Sequence[Record]) -> int:
        """Writes the records as one frame and waits for the disk; the new end. Raises OSError."""
        if self.broken:
            # A further frame might stand behind half of one.
            raise OSError("an earlier change could not be written; open the library anew")
        data = frame(records)
        self.broken = True
        self._disk.write(self._file, data)
        self._disk.sync(self._file)
        self.broken = False
        self.end += len(data)
        return self.end

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
