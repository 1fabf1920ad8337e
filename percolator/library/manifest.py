"""The content of a library at one generation: its schema, segments, dead places and log. One small file.

    manifest-00000007.json     everything that belongs to generation 7, with sizes and checksums
    log-00000007               the changes since; a pin is a generation and an offset in its log
    segment-....segment, .records, dead-...     named by one or several manifests, never altered

The newest manifest counts. It appears in one step after all that it names, so a crash leaves the old
generation whole, and files that no manifest names; the next writer removes those.
"""

from __future__ import annotations

import json
import mmap
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from percolator.disk import Disk
from percolator.library.damage import DamagedError, LibraryError
from percolator.library.stored import SUFFIXES
from percolator.schema import Kind, Schema

VERSION = 1
_NAME = re.compile(r"manifest-(\d{8,})\.json")
_OURS = re.compile(r"(?:manifest|log|segment|dead)-.*")


class Pin(NamedTuple):
    """The state of a library: a generation, and the offset in its log up to which changes count."""

    generation: int
    offset: int


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file that does not change, with its size in bytes and CRC-32."""

    name: str
    size: int
    checksum: int

    @classmethod
    def of(cls, folder: Path, name: str) -> FileEntry:
        """The entry of a file as it is."""
        size = (folder / name).stat().st_size
        return cls(name, size, _checksum(folder / name) if size else 0)

    def verify(self, folder: Path, contents: bool) -> None:
        """Raises DamagedError where the file is not what it was; FileNotFoundError where it is not there."""
        path = folder / self.name
        size = path.stat().st_size
        if size != self.size:
            raise DamagedError(path, f"{size:,} bytes where {self.size:,} were written")
        if contents and size and _checksum(path) != self.checksum:
            raise DamagedError(path, "its contents have changed since they were written")


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """A segment's name, its files, how many queries it holds; the file of its dead places, if any."""

    name: str
    queries: int
    files: tuple[FileEntry, ...]
    dead: FileEntry | None = None

    def dead_places(self, folder: Path) -> npt.NDArray[np.bool_]:
        """For every query whether it is dead."""
        found = np.zeros(self.queries, np.bool_)
        if self.dead is not None:
            found[np.fromfile(folder / self.dead.name, "<u4")] = True
        return found

    def dead_count(self) -> int:
        """The number of dead queries."""
        return 0 if self.dead is None else self.dead.size // 4

    def all_files(self) -> Iterator[FileEntry]:
        """Its files, that of the dead places too."""
        yield from self.files
        if self.dead is not None:
            yield self.dead


@dataclass(frozen=True, slots=True)
class Manifest:
    """One generation."""

    generation: int
    schema: Schema
    segments: tuple[SegmentEntry, ...] = ()

    @property
    def log(self) -> str:
        """The name of its log."""
        return f"log-{self.generation:08d}"

    @property
    def name(self) -> str:
        """The name of its own file."""
        return f"manifest-{self.generation:08d}.json"

    def verify(self, folder: Path, contents: bool) -> None:
        """Raises DamagedError where a file is not what it was; its contents are read only if asked for."""
        for segment in self.segments:
            for file in segment.all_files():
                file.verify(folder, contents)

    def names(self) -> set[str]:
        """All files that belong to it."""
        return {self.name, self.log} | {file.name for one in self.segments for file in one.all_files()}

    def save(self, folder: Path, disk: Disk) -> None:
        """Makes this the newest generation."""
        disk.write_whole(folder / self.name, [self.as_text().encode("ascii")])

    def as_text(self) -> str:
        """JSON, with a checksum over the rest."""
        data = {
            "format": VERSION,
            "generation": self.generation,
            "fields": {
                name: f"text {declared.analyser}" if declared.kind is Kind.TEXT else str(declared.kind)
                for name, declared in self.schema.fields.items()
            },
            "default": list(self.schema.default),
            "segments": [
                {
                    "name": one.name,
                    "queries": one.queries,
                    "files": [_file_data(file) for file in one.files],
                    "dead": None if one.dead is None else _file_data(one.dead),
                }
                for one in self.segments
            ],
        }
        return json.dumps({**data, "checksum": zlib.crc32(json.dumps(data).encode("ascii"))})

    @classmethod
    def from_text(cls, text: str | bytes) -> Manifest:
        """Raises ValueError, KeyError, TypeError where the text is none, LibraryError for another format."""
        data = json.loads(text)
        if data["format"] != VERSION:
            raise LibraryError(f"a library of format {data['format']}; this program reads {VERSION}")
        checksum = data.pop("checksum")
        if zlib.crc32(json.dumps(data).encode("ascii")) != checksum:
            raise ValueError("the checksum does not fit")
        return cls(
            data["generation"],
            Schema.of(data["fields"], data["default"]),
            tuple(
                SegmentEntry(
                    one["name"],
                    one["queries"],
                    tuple(FileEntry(**file) for file in one["files"]),
                    None if one["dead"] is None else FileEntry(**one["dead"]),
                )
                for one in data["segments"]
            ),
        )


def generations(folder: Path) -> list[int]:
    """The generations that are kept, in order."""
    return sorted(int(found[1]) for path in folder.iterdir() if (found := _NAME.fullmatch(path.name)))


def read_manifest(folder: Path, generation: int | None = None) -> Manifest:
    """A generation, the newest where none is named. Raises LibraryError."""
    if not folder.is_dir():
        raise LibraryError(f"{folder}: there is no such folder")
    kept = generations(folder)
    if not kept:
        raise LibraryError(f"{folder}: there is no library in this folder")
    wanted = kept[-1] if generation is None else generation
    if wanted not in kept:
        raise LibraryError(f"{folder}: generation {wanted} is not kept; there are {kept[0]} to {kept[-1]}")
    path = folder / f"manifest-{wanted:08d}.json"
    try:
        found = Manifest.from_text(path.read_bytes())
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise DamagedError(path, f"no manifest: {problem}") from None
    if found.generation != wanted:
        raise DamagedError(path, f"it is generation {found.generation}'s")
    return found


def remove_others(folder: Path, kept: Iterable[Manifest], disk: Disk) -> None:
    """Removes what belongs to none of these generations; manifests first, so that none names what is gone."""
    names = set().union(*(manifest.names() for manifest in kept))
    found = [path for path in folder.iterdir() if _OURS.fullmatch(path.name) and path.name not in names]
    for path in sorted(found, key=lambda path: not path.name.startswith("manifest")):
        disk.remove(path)
    disk.sync_folder(folder)


def segment_entry(folder: Path, name: str, queries: int) -> SegmentEntry:
    """The entry of a segment that has just been written."""
    return SegmentEntry(name, queries, tuple(FileEntry.of(folder, name + suffix) for suffix in SUFFIXES))


def _file_data(file: FileEntry) -> dict[str, Any]:
    return {"name": file.name, "size": file.size, "checksum": file.checksum}


def _checksum(path: Path) -> int:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        return zlib.crc32(mapped)
