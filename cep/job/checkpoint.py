"""Spark's checkpoint as it lies on disk: its logs, and what each file of it should be. Needs no Java.

    metadata              the query's id
    offsets/N             up to where batch N reads each source; written before the batch runs
    commits/N             batch N is over
    sources/feed_X/K      the files that came with entry K of a feed's log; K.compact has all entries up to K
    state/0/P/V.changelog what version V changed in partition P; batch N begins with version N
    state/0/P/V.zip       all of version V, its large parts in SSTs/

Beside each lies its checksum, `.NAME.crc`: Spark reads nothing that does not fit it.

DamagedError    a file that is not what Spark wrote: `path`, and `why` is said of it
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

FEED = "feed_"
"""Prefix of the name of a feed's source; its stream's name follows."""
COMPACTED = 100
"""After so many entries the log of a feed is written anew as one file."""

_CRC = struct.Struct(">4sI")
_SUMMED = 512
"""Bytes that Hadoop writes each checksum of; where a file's head says another number, Java fails."""
_ABSENT = "-"


class DamagedError(Exception):
    """A file of the checkpoint is missing, or is not what Spark wrote."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} {why}")
        self.path = path
        self.why = why


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The checkpoint in a folder. Its methods raise DamagedError, and OSError where the disk does."""

    root: Path

    def batches(self, log: str) -> list[int]:
        """The numbers of a log's entries, `offsets` or `commits`, in order."""
        folder = self.root / log
        if not folder.is_dir():
            return []
        return sorted(int(path.name) for path in folder.iterdir() if path.name.isdecimal())

    def offsets(self, batch: int) -> dict[str, int]:
        """The last entry that a batch reads of the log of every feed, by stream."""
        path = self.root / "offsets" / str(batch)
        lines = text(path).split("\n")
        found: dict[str, int] = {}
        try:
            if lines[0] != "v2":
                raise ValueError("another version")
            json.loads(lines[1])
            for line in lines[2:]:
                source, _, offset = line.partition(":")
                if source.startswith(FEED) and offset != _ABSENT:
                    found[source.removeprefix(FEED)] = int(json.loads(offset)["logOffset"])
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise DamagedError(path, "is no record of a batch") from error
        return found

    def commit(self, batch: int) -> None:
        """Check the commit of a batch; it holds nothing that we need. Raises DamagedError."""
        path = self.root / "commits" / str(batch)
        try:
            first, _, rest = text(path).partition("\n")
            if first not in ("v1", "v2") or not isinstance(json.loads(rest), dict):
                raise ValueError(first)
        except ValueError as error:
            raise DamagedError(path, "is no commit of a batch") from error

    def files(self, batch: int) -> list[tuple[str, str]]:
        """The files that a batch reads, by stream and path."""
        until = self.offsets(batch)
        since = self.offsets(batch - 1) if batch else {}
        return sorted(
            {
                (stream, path)
                for stream, last in until.items()
                for entry in range(since.get(stream, -1) + 1, last + 1)
                for path in self._entry(stream, entry)
            }
        )

    def logged(self, stream: str) -> list[Path]:
        """The files of a feed's log that Spark reads: the last compacted one and all since, in order."""
        folder = self.root / "sources" / f"{FEED}{stream}"
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        numbers = [
            int(name.removesuffix(".compact")) for name in names if re.fullmatch(r"\d+(\.compact)?", name)
        ]
        if not numbers:
            return []
        latest = max(numbers)
        compact = latest - (latest + 1) % COMPACTED
        entries = [folder / str(number) for number in range(max(compact, -1) + 1, latest + 1)]
        return [folder / f"{compact}.compact", *entries] if compact >= 0 else entries

    def _entry(self, stream: str, entry: int) -> Iterator[str]:
        folder = self.root / "sources" / f"{FEED}{stream}"
        path = folder / str(entry)
        if not path.exists():
            path = folder / f"{entry + (COMPACTED - 1 - entry) % COMPACTED}.compact"
            if not path.exists():
                raise DamagedError(folder / str(entry), "is missing")
        return (local_path(str(row["path"])) for row in entries(path) if row["batchId"] == entry)


def entries(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of a feed's log. Raises DamagedError."""
    first, *rows = text(path).split("\n")
    try:
        found = [json.loads(row) for row in rows if row]
        if first != "v1" or not all({"path", "batchId"} <= row.keys() for row in found):
            raise ValueError(first)
    except (ValueError, AttributeError) as error:
        raise DamagedError(path, "is no list of files") from error
    return found


def local_path(path: str) -> str:
    """The file of a path as Spark writes it down."""
    return unquote(re.sub(r"^file:/*", "/", path))


def text(path: Path) -> str:
    """A file's text. Raises DamagedError where it is not what was written."""
    try:
        return intact(path).decode()
    except UnicodeDecodeError as error:
        raise DamagedError(path, "is no text") from error


def intact(path: Path) -> bytes:
    """A file's content. Raises DamagedError where it does not fit its checksum, if it has one."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise DamagedError(path, "is missing") from None
    if not data:
        raise DamagedError(path, "is empty")
    beside = path.with_name(f".{path.name}.crc")
    try:
        sums = beside.read_bytes()
        begin, size = _CRC.unpack_from(sums)
    except FileNotFoundError:
        return data  # Spark reads it, too
    except struct.error:
        raise DamagedError(beside, "is no checksum") from None
    if begin != b"crc\0" or size != _SUMMED:
        raise DamagedError(beside, "is no checksum")
    view = memoryview(data)
    pieces = [zlib.crc32(view[at : at + size]) for at in range(0, len(view), size)]
    if struct.pack(f">{len(pieces)}I", *pieces) != sums[_CRC.size :]:
        raise DamagedError(path, "is not what Spark wrote: its checksum differs")
    return data
