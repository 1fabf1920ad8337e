"""A file of a feed as it was before its batch ran, so that a replay reads the same bytes or stops."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import xxhash

from cep.decode.letters import DeadLetter
from cep.sources.source import GoneError

WHOLE = 64 << 20
"""Bytes: a file up to this length is digested whole, of a longer one half as many at either end."""

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, order=True)
class FileExtent:
    """A file of a stream's feed: its `length` in bytes, time of modification in ns since 1970 UTC, digest.

    Without a digest it is not fixed, but only listed.
    """

    stream: str
    path: str
    length: int = 0
    modified: int = 0
    digest: str = ""

    @property
    def planned(self) -> tuple[object, ...]:
        """Spark writes down names, and nothing of what the files hold."""
        return self.stream, self.path

    def row(self) -> tuple[object, ...]:
        """The fields in their order."""
        return astuple(self)


def of_row(row: Sequence[Any]) -> FileExtent:
    """The extent of `FileExtent.row`. Raises TypeError."""
    return FileExtent(*row)


def listed_extent(stream: str, path: str) -> FileExtent:
    """A file as it is now, not fixed. Raises OSError."""
    return FileExtent(stream, path, Path(path).stat().st_size)


def extent(stream: str, path: str) -> FileExtent:
    """A file's extent as it is now. Raises GoneError."""
    try:
        with Path(path).open("rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            digest = _digest(file, status.st_size)
    except OSError as error:
        raise GoneError(unreadable(error)) from error
    return FileExtent(stream, path, status.st_size, status.st_mtime_ns, digest)


def difference(was: FileExtent, *, thorough: bool = False) -> str | None:
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
            if _digest(file, was.length, _hash_of(was.digest)) != was.digest:
                return "does not hold what it held"
    except OSError as error:
        return unreadable(error)
    if was.length > WHOLE and status.st_size == was.length and not same:
        return "was written again, with the same length"
    return None


class Watch:
    """Files against what they were, while they are read: each is digested once for every length and time."""

    def __init__(self) -> None:
        self._alike: dict[FileExtent, tuple[int, int]] = {}

    def __call__(self, was: FileExtent) -> str | None:
        """The difference of a file, as `difference` tells it."""
        try:
            status = Path(was.path).stat()
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


def afterwards(one: FileExtent) -> FileExtent | DeadLetter | None:
    """The extent of a file that was read, or a letter about what changed in it since; None if it is gone.

    Spark reads no name twice: someone who appends to a file, or writes it again under its name, would else
    lose events without a word.

    """
    with suppress(OSError):  # who is gone, or may not be looked at, has nothing to read
        status = Path(one.path).stat()
        if (status.st_size, status.st_mtime_ns) == (one.length, one.modified):
            return one
        if why := _changed(one, status.st_size):
            return DeadLetter(one.stream, one.path, one.length, "read", why, b"")
        return replace(one, modified=status.st_mtime_ns)
    return None


def _changed(one: FileExtent, length: int) -> str:
    """The change of a file, a sentence; empty if it holds what it held."""
    if difference(one, thorough=True) is not None:
        return (
            "the file was written again after it was read and is not read again: "
            "give what is new a name of its own"
        )
    if length > one.length:
        return (
            f"the file grew from {one.length} to {length} bytes after it was read and is not read "
            "again: write a file elsewhere and rename it in"
        )
    return ""


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


def _hash_of(digest: str) -> Callable[[], Any]:
    """The hash that a digest is of: XXH3 of 128 bits, or SHA-256 in state folders of earlier programs."""
    return hashlib.sha256 if len(digest) == 2 * hashlib.sha256().digest_size else xxhash.xxh3_128


def _digest(file: BinaryIO, length: int, hash_: Callable[[], Any] = xxhash.xxh3_128) -> str:
    """The hash of the first `length` bytes of a file; of more than `WHOLE`, of those at either end.

    It tells what changed by mistake: who may write to a feed can do worse than have one hash for two files.
    """
    digest = hash_()
    if length <= WHOLE:
        _take(file, length, digest)
    else:
        _take(file, WHOLE // 2, digest)
        file.seek(length - WHOLE // 2)
        _take(file, WHOLE // 2, digest)
    return str(digest.hexdigest())


def _take(file: BinaryIO, length: int, digest: Any) -> None:
    while length > 0 and (chunk := file.read(min(_CHUNK, length))):
        digest.update(chunk)
        length -= len(chunk)
