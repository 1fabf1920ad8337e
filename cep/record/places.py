"""Files of the record: of this machine's file system, or objects of a bucket.

A file is there whole or not at all. Whatever fails raises OSError with a sentence and the place, also where
the client of a store says it in its own way.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from cep.buckets import store_errors
from cep.files import content

if TYPE_CHECKING:
    import pyarrow.parquet as pq
    from upath import UPath

    from cep.files import AnyPath

_WHOLE = 1 << 20
"""An object that is no larger comes whole, in one request."""
_BLOCK = 1 << 20


class NoRoomError(OSError):
    """The disk is left to what the job cannot do without."""


@contextmanager
def parquet(path: AnyPath, size: int = -1) -> Iterator[pq.ParquetFile]:
    """A file of Parquet, open until the end of the context; in a bucket its size is to be known.

    Raises OSError and what pyarrow raises for what is no Parquet, within the context too.
    """
    import pyarrow.parquet as pq

    if isinstance(path, Path):
        with pq.ParquetFile(path) as file:
            yield file
        return
    with store_errors(path):
        if 0 <= size <= _WHOLE:
            opened = pa.BufferReader(content(path))
        else:
            given = {} if size < 0 else {"size": size}
            opened = pa.PythonFile(path.fs.open(path.path, "rb", block_size=_BLOCK, **given), mode="r")
        with opened, pq.ParquetFile(opened) as file:
            yield file


class Sink(Protocol):
    """A file that is being written to `stream`. It has its name when it is finished."""

    @property
    def stream(self) -> pa.NativeFile:
        """Where its bytes go."""
        ...

    def finish(self) -> int:
        """Gives it its name; its size in bytes. Raises OSError."""
        ...

    def abandon(self) -> None:
        """Leaves nothing of it, unless it is finished."""
        ...


def sink(path: AnyPath, aside: str, reserve: int = 0) -> Sink:
    """A new file in place of one that may be there, and of which readers see nothing before it is finished.

    On a file system it is written `aside`, a name beside its own, and folders are made; on one with less than
    `reserve` bytes free it is not begun. An object is held in memory until then. Raises OSError.
    """
    if not isinstance(path, Path):
        return _StoredObject(path, pa.BufferOutputStream())
    path.parent.mkdir(parents=True, exist_ok=True)
    disk = os.statvfs(path.parent)
    if disk.f_bavail * disk.f_frsize < reserve:
        raise NoRoomError(f"the disk has less than {reserve >> 20:,} MiB free")
    beside = path.with_name(aside)
    return _File(path, beside, pa.OSFile(str(beside), "wb"))


@dataclass(slots=True)
class _File:
    """A file of this machine, renamed at its end. It is not flushed to disk."""

    path: Path
    aside: Path
    stream: pa.NativeFile

    def finish(self) -> int:
        self.stream.close()
        size = self.aside.stat().st_size
        self.aside.replace(self.path)
        return size

    def abandon(self) -> None:
        with suppress(OSError):
            self.stream.close()
        with suppress(OSError):
            self.aside.unlink(missing_ok=True)


@dataclass(slots=True)
class _StoredObject:
    """An object of a bucket, given to the store at its end."""

    path: UPath
    stream: pa.NativeFile

    def finish(self) -> int:
        data = self.stream.getvalue().to_pybytes()
        with store_errors(self.path):
            self.path.fs.pipe_file(self.path.path, data)
        return len(data)

    def abandon(self) -> None:
        self.stream.close()
