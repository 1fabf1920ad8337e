"""A compiled set of queries: parts that do not change, what of each is dead, and the lines they came from.

In a folder: part N is `N.segment` and `N.records` (percolator.library.stored), `N.dead.npy` the places in it
that are dead, `lines.npy` which line gave which query, `files.json` the checksums of all these. So a file of
which some lines were changed is compiled from the set before it: the parts stay, under further names of the
same files, and what is new is one part more.
"""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cep.files import read_json, write_json
from percolator.disk import Disk
from percolator.library.damage import DamagedError
from percolator.library.manifest import FileEntry
from percolator.library.stored import SUFFIXES, StoredSegment

Bools = npt.NDArray[np.bool_]
Digests = npt.NDArray[np.bytes_]
Rows = npt.NDArray[np.int64]

LINES = np.dtype([("digest", "S16"), ("part", "<i4"), ("place", "<i4"), ("warned", "?")])
"""A line by its digest, the query that it gave, and whether anything was said of it."""
_LINES, _DEAD, _FILES = "lines.npy", ".dead.npy", "files.json"


@dataclass(frozen=True, slots=True)
class QueryPart:
    """Queries, some of them dead; `files` is the path without suffix of its files, where it has some."""

    stored: StoredSegment
    dead: Bools
    files: Path | None = None

    @property
    def living(self) -> int:
        """The number of queries that are not dead."""
        return len(self.dead) - int(np.count_nonzero(self.dead))


@dataclass(frozen=True, eq=False)
class KeptQueries:
    """`lines` are in order of their digests, one for every living query."""

    parts: tuple[QueryPart, ...]
    lines: npt.NDArray[np.void]

    def __len__(self) -> int:
        """The number of queries, expired ones too."""
        return len(self.lines)

    def find(self, digests: Digests) -> Rows:
        """For each digest of a line its row in `lines`, -1 where no query came from such a line."""
        if not len(self.lines):
            return np.full(len(digests), -1, np.int64)
        known = self._digests
        at = np.minimum(np.searchsorted(known, digests), len(known) - 1)
        return np.where(known[at] == digests, at, -1).astype(np.int64)

    @cached_property
    def ids(self) -> npt.NDArray[np.uint64]:
        """The `id_hash` of the query of each row of `lines`."""
        found = np.zeros(len(self.lines), np.uint64)
        for number, part in enumerate(self.parts):
            mine = np.flatnonzero(self.lines["part"] == number)
            found[mine] = part.stored.id_hashes[self.lines["place"][mine]]
        return found

    def costs(self, most: int) -> tuple[float, tuple[tuple[str, float], ...]]:
        """The estimated cost of all queries together, and the ids and costs of the costliest."""
        total, found = 0.0, []
        for part in self.parts:
            cost = np.where(part.dead, 0.0, part.stored.cost)
            total += float(cost.sum())
            first = cost.argsort(kind="stable")[::-1][:most].tolist()
            found += [(part.stored.segment.id_of(at), float(cost[at])) for at in first if not part.dead[at]]
        return total, tuple(sorted(found, key=lambda one: -one[1])[:most])

    def save(self, folder: Path) -> None:
        """Writes its files into a folder of their own. Raises OSError."""
        disk = Disk()
        for number, part in enumerate(self.parts):
            if part.files is None:
                part.stored.save(folder, str(number), disk)
            else:
                for suffix in SUFFIXES:
                    _also_named(part.files.with_name(part.files.name + suffix), folder / f"{number}{suffix}")
            disk.write_whole(folder / f"{number}{_DEAD}", [_npy(np.flatnonzero(part.dead))])
        disk.write_whole(folder / _LINES, [_npy(self.lines)])
        names = sorted(path.name for path in folder.iterdir())
        write_json(folder / _FILES, {"files": [list(astuple(FileEntry.of(folder, name))) for name in names]})

    @staticmethod
    def verify(folder: Path) -> None:
        """Compares its files with their checksums, if it has such. Raises DamagedError, OSError."""
        try:
            described = read_json(folder / _FILES)
            files = [FileEntry(*one) for one in described["files"]]
        except FileNotFoundError:
            return  # of a version that wrote none
        except (ValueError, KeyError, TypeError) as problem:
            raise DamagedError(folder / _FILES, f"no list of files: {problem}") from None
        for one in files:
            one.verify(folder, contents=True)

    @classmethod
    def open(cls, folder: Path) -> KeptQueries:
        """Maps its files. Raises DamagedError, OSError."""
        parts = []
        for number in range(len(list(folder.glob(f"*{_DEAD}")))):
            stored = StoredSegment.open(folder, str(number))
            dead = np.zeros(len(stored), np.bool_)
            places = _array(folder / f"{number}{_DEAD}")
            if len(places) and places[-1] >= len(dead):
                raise DamagedError(folder / f"{number}{_DEAD}", f"place {places[-1]} of {len(dead)}")
            dead[places] = True
            parts.append(QueryPart(stored, dead, folder / str(number)))
        lines = _array(folder / _LINES)
        if len(lines) != sum(part.living for part in parts):
            raise DamagedError(
                folder / _LINES, f"{len(lines)} lines for {sum(p.living for p in parts)} queries"
            )
        return cls(tuple(parts), lines)

    @cached_property
    def _digests(self) -> Digests:
        return np.ascontiguousarray(self.lines["digest"])


NONE = KeptQueries((), np.zeros(0, LINES))
"""The set of a file that nobody has compiled anything of."""


def digests(lines: Sequence[bytes]) -> Digests:
    """128 bits of each line (BLAKE2b)."""
    return np.frombuffer(b"".join([blake2b(line, digest_size=16).digest() for line in lines]), "S16")


def _also_named(file: Path, name: Path) -> None:
    """Another name for a file that never changes; a copy where a file can have one name only."""
    try:
        os.link(file, name)
    except OSError:
        shutil.copyfile(file, name)
        with name.open("rb") as copied:
            Disk().sync(copied)


def _npy(array: npt.NDArray[np.generic]) -> bytes:
    sink = io.BytesIO()
    np.save(sink, array)
    return sink.getvalue()


def _array(path: Path) -> npt.NDArray[np.void]:
    try:
        found: npt.NDArray[np.void] = np.load(path, mmap_mode="r")
    except FileNotFoundError:
        raise
    except (ValueError, EOFError) as problem:
        raise DamagedError(path, f"no array: {problem}") from None
    return found
