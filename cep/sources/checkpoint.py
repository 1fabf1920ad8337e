"""Spark's checkpoint as it lies on disk: its logs, and what each file of it should be. Needs no Java.

    metadata              the query's id
    offsets/N             up to where batch N reads each source; written before the batch runs
    commits/N             batch N is over
    sources/feed_X/       what Spark's source of a feed writes down besides (cep.sources.files.spark_log)
    state/0/P/V.changelog what version V changed in partition P; batch N begins with version N
    state/0/P/V.zip       all of version V, its large parts in SSTs/

Beside each lies its checksum, `.NAME.crc`: Spark reads nothing that does not fit it.

DamagedError    a file that is not what Spark wrote: `path`, and `why` is said of it; `repair` is a safe one
"""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cep.files import content

if TYPE_CHECKING:
    from cep.files import AnyPath

FEED = "feed_"
"""Prefix of the name of a feed's source; its stream's name follows."""
TICKS = "ticks"
"""The name of the source of ticks."""

_CRC = struct.Struct(">4sI")
_SUMMED = 512
"""Bytes that Hadoop writes each checksum of; where a file's head says another number, Java fails."""
_ABSENT = "-"


class DamagedError(Exception):
    """A file of the checkpoint is missing, or is not what Spark wrote."""

    def __init__(self, path: AnyPath, why: str, repair: str = "") -> None:
        super().__init__(f"{path} {why}")
        self.path = path
        self.why = why
        self.repair = repair


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The checkpoint in a folder. Its methods raise DamagedError, and OSError where the disk does."""

    root: AnyPath

    def batches(self, log: str) -> list[int]:
        """The numbers of a log's entries, `offsets` or `commits`, in order."""
        folder = self.root / log
        if not folder.is_dir():
            return []
        return sorted(int(path.name) for path in folder.iterdir() if path.name.isdecimal())

    def offsets(self, batch: int) -> dict[str, Any]:
        """Up to where a batch reads every feed, by stream: JSON, as Spark's source of it counts."""
        found = self._offsets(batch).items()
        return {source.removeprefix(FEED): offset for source, offset in found if source.startswith(FEED)}

    def ticked(self) -> bool:
        """True if the last batch is over or has a tick; of a run that takes what is there only the first has
        one (cep.sources.ticks)."""
        begun = self.batches("offsets")
        if not begun or begun[-1] in self.batches("commits"):
            return True
        before = self._offsets(begun[-1] - 1) if begun[-1] else {}
        return self._offsets(begun[-1]).get(TICKS) != before.get(TICKS)

    def _offsets(self, batch: int) -> dict[str, Any]:
        """Up to where a batch reads every source, by its name."""
        lines = text(self.offsets_file(batch)).split("\n")
        try:
            if lines[0] != "v2":
                raise ValueError("another version")
            json.loads(lines[1])
            parted = (line.partition(":") for line in lines[2:])
            return {source: json.loads(offset) for source, _, offset in parted if offset != _ABSENT}
        except (ValueError, IndexError) as error:
            raise self.no_record(batch) from error

    def offsets_file(self, batch: int) -> AnyPath:
        """Where Spark has written up to where a batch reads."""
        return self.root / "offsets" / str(batch)

    def no_record(self, batch: int) -> DamagedError:
        """The error for offsets that Spark cannot have written."""
        return DamagedError(self.offsets_file(batch), "is no record of a batch")

    def log(self, stream: str) -> AnyPath:
        """The folder in which Spark's source of a feed keeps its own record."""
        return self.root / "sources" / f"{FEED}{stream}"

    def knows(self, stream: str) -> bool:
        """True if Spark's source of a feed has written something down."""
        return any(self.log(stream).glob("[0-9]*"))

    def commit(self, batch: int) -> None:
        """Check the commit of a batch; it holds nothing that we need. Raises DamagedError."""
        path = self.root / "commits" / str(batch)
        try:
            first, _, rest = text(path).partition("\n")
            if first not in ("v1", "v2") or not isinstance(json.loads(rest), dict):
                raise ValueError(first)
        except ValueError as error:
            raise DamagedError(path, "is no commit of a batch") from error


def text(path: AnyPath) -> str:
    """A file's text. Raises DamagedError where it is not what was written."""
    try:
        return intact(path).decode()
    except UnicodeDecodeError as error:
        raise DamagedError(path, "is no text") from error


def intact(path: AnyPath) -> bytes:
    """A file's content. Raises DamagedError where it does not fit its checksum, if it has one."""
    try:
        data = content(path)
    except FileNotFoundError:
        raise DamagedError(path, "is missing") from None
    if not data:
        raise DamagedError(path, "is empty")
    if not isinstance(path, Path):
        return data  # a store has checksums of its own, and Spark writes none beside
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
