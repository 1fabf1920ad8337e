"""The files of a batch as they were before it ran, so that a replay reads the same bytes or stops.

The driver writes N.files before the manifest of batch N, which has its checksum. Mappers read the files that
N.files names, each up to the length that it had. Spark's own list would not do: it silently leaves out files
that are gone.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import BinaryIO

from cep.decode.letters import DeadLetter
from cep.job.checkpoint import Checkpoint, DamagedError
from cep.job.errors import RESTORE, ConfigurationError
from cep.job.files import DamagedFileError, checksum_of, read_json, write_json
from cep.job.folder import StateFolder
from cep.job.manifest import Lost, Manifest

Accepts = Callable[[str], bool]
"""True for the path of a file whose loss the user accepts."""


def accepting(accepted: Collection[str]) -> Accepts:
    """What accepts the loss of the files at these resolved paths, and of no other."""
    return lambda path: os.path.realpath(path) in accepted


WHOLE = 64 << 20
"""Bytes: a file up to this length is digested whole, of a longer one half as many at either end."""

_KEPT = 100  # batches: so far back Spark can go
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, order=True)
class Extent:
    """A file of a stream's feed: its `length` in bytes, time of modification in ns since 1970 UTC, digest."""

    stream: str
    path: str
    length: int
    modified: int
    digest: str


def extent(stream: str, path: str) -> Extent:
    """A file's extent as it is now. Raises OSError."""
    with Path(path).open("rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        return Extent(stream, path, status.st_size, status.st_mtime_ns, _digest(file, status.st_size))


def difference(was: Extent, *, thorough: bool = False) -> str | None:
    """The reason why a file can no longer be read as it was, a predicate like "is missing"; None if it can.

    A file that only grew can: it is read up to its old length. The content is compared if length or time
    differ, or if `thorough`. Of a file longer than `WHOLE` only the two ends are compared: a change in the
    middle is seen by its time alone.
    """
    try:
        status = Path(was.path).stat()
        same = (status.st_size, status.st_mtime_ns) == (was.length, was.modified)
        if same and not thorough:
            return None
        if status.st_size < was.length:
            return f"has {status.st_size:,} bytes; it had {was.length:,}"
        with Path(was.path).open("rb", buffering=0) as file:
            if _digest(file, was.length) != was.digest:
                return "does not hold what it held"
    except OSError as error:
        return unreadable(error)
    if was.length > WHOLE and status.st_size == was.length and not same:
        return "was written again, with the same length"
    return None


class Differences:
    """A batch's files against what they were; contents are digested once for every length and time."""

    def __init__(self, extents: Iterable[Extent]) -> None:
        self.extents = {(one.stream, one.path): one for one in extents}
        self._alike: dict[Extent, tuple[int, int]] = {}

    def of(self, stream: str, path: str) -> str | None:
        """The difference of a file of a stream's feed, as `difference` tells it."""
        was = self.extents[stream, path]
        try:
            status = Path(path).stat()
        except OSError as error:
            return unreadable(error)
        # Taken before the look: a change after it is seen the next time.
        now = (status.st_size, status.st_mtime_ns)
        if self._alike.get(was) == now:
            return None
        found = difference(was)
        if found is None:
            self._alike[was] = now
        return found


def unreadable(error: OSError) -> str:
    """The reason why a file cannot be read, a predicate like "is missing"."""
    match error:
        case FileNotFoundError() | NotADirectoryError():
            return "is missing"
        case PermissionError():
            return "may not be read: permission denied"
        case IsADirectoryError():
            return "is a folder now"
    return f"cannot be read: {(error.strerror or str(error)).lower()}"


def gone(batch: int, path: str, why: str) -> ConfigurationError:
    """The error that stops a batch whose file is not there as it was."""
    return ConfigurationError(
        f"the file {path} of batch {batch} {why}",
        "put it back as it was and start the job again, or let the batch go without it: "
        f"cep run JOB --accept-loss {shlex.quote(path)}",
    )


def fixed(folder: StateFolder, manifest: Manifest, accepts: Accepts) -> Manifest:
    """The manifest of a batch that never ran, with its files as they are now; writes their extents.

    Raises ConfigurationError for a file that cannot be read, where its loss is not accepted.
    """
    found, lost = look(folder, manifest.batch, accepts)
    return replace(manifest, files=store(folder.manifests, manifest.batch, found), lost=tuple(lost))


def look(folder: StateFolder, batch: int, accepts: Accepts) -> tuple[list[Extent], list[Lost]]:
    """The files of a batch as they are now, and those that cannot be read.

    Raises ConfigurationError for such a one whose loss is not accepted.
    """
    found: list[Extent] = []
    lost: list[Lost] = []
    for stream, path in listed(folder, batch):
        try:
            found.append(extent(stream, path))
        except OSError as error:
            why = unreadable(error)
            if not accepts(path):
                raise gone(batch, path, why) from error
            lost.append(Lost(stream, path, why))
    return found, lost


def lost_since(folder: StateFolder, manifest: Manifest, accepts: Accepts) -> list[Lost]:
    """The files that a batch has lost since its manifest was written and whose loss is accepted.

    Raises ConfigurationError for a file that is not there as it was and whose loss is not accepted, and
    where Spark's record of the batch names other files.
    """
    batch = manifest.batch
    lost = []
    for one in without(agreed(folder, manifest), manifest.lost):
        if why := difference(one, thorough=True):
            if not accepts(one.path):
                raise gone(batch, one.path, why)
            lost.append(Lost(one.stream, one.path, why))
    return lost


def agreed(folder: StateFolder, manifest: Manifest) -> tuple[Extent, ...]:
    """The files of a batch that ran. Raises ConfigurationError where Spark's record of it names others."""
    batch = manifest.batch
    extents = load(folder.manifests, batch, manifest.files)
    known = {(one.stream, one.path) for one in extents} | {(one.stream, one.path) for one in manifest.lost}
    if known != set(listed(folder, batch)):
        raise folder.damaged(
            f"batch {batch} reads other files by Spark's record in {folder.checkpoint} than by its manifest"
        )
    return extents


def listed(folder: StateFolder, batch: int) -> list[tuple[str, str]]:
    """The files of a batch by stream and path, as Spark recorded them. Raises ConfigurationError."""
    try:
        return Checkpoint(folder.checkpoint).files(batch)
    except DamagedError as error:
        raise folder.damaged(str(error)) from error


def store(manifests: Path, batch: int, extents: Sequence[Extent]) -> str:
    """Writes the extents of a batch; returns their checksum, "" where there are none. Old ones go."""
    (manifests / f"{batch - _KEPT}.files").unlink(missing_ok=True)
    if not extents:
        return ""
    value = _value(batch, extents)
    write_json(_file(manifests, batch), value)
    return checksum_of(value)


def load(manifests: Path, batch: int, checksum: str) -> tuple[Extent, ...]:
    """The extents of a batch whose manifest has this checksum of them. Raises ConfigurationError."""
    if not checksum:
        return ()
    path = _file(manifests, batch)
    try:
        value = read_json(path)
        if checksum_of(value) != checksum:
            raise DamagedFileError("is of another batch than its manifest")
        return tuple(Extent(*one) for one in value["files"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        why = str(error) if isinstance(error, DamagedFileError) else "is missing or cannot be read"
        raise ConfigurationError(f"the list of files {path} {why}", RESTORE) from error


def without(extents: Iterable[Extent], lost: Collection[Lost]) -> list[Extent]:
    """The extents that are read: not those that are lost."""
    names = {(one.stream, one.path) for one in lost}
    return [one for one in extents if (one.stream, one.path) not in names]


def letters(lost: Iterable[Lost]) -> list[DeadLetter]:
    """The dead letters of files that a batch goes without."""
    return [
        DeadLetter(one.stream, one.path, 0, "lost", f"the file {one.reason}; its loss was accepted", b"")
        for one in lost
    ]


def _value(batch: int, extents: Sequence[Extent]) -> dict[str, object]:
    return {"batch": batch, "files": [list(astuple(one)) for one in extents]}


def _file(manifests: Path, batch: int) -> Path:
    return manifests / f"{batch}.files"


def _digest(file: BinaryIO, length: int) -> str:
    """SHA-256 of the first `length` bytes of a file; of more than `WHOLE`, of those at either end."""
    digest = hashlib.sha256()
    if length <= WHOLE:
        _take(file, length, digest)
    else:
        _take(file, WHOLE // 2, digest)
        file.seek(length - WHOLE // 2)
        _take(file, WHOLE // 2, digest)
    return digest.hexdigest()


def _take(file: BinaryIO, length: int, digest: hashlib._Hash) -> None:
    while length > 0 and (chunk := file.read(min(_CHUNK, length))):
        digest.update(chunk)
        length -= len(chunk)
