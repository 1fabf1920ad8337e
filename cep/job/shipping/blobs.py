"""Payloads too large to go through Spark's rows: they lie in files as blobs, and rows say where.

On its way from one Python process to the next Spark copies a row some ten times and compresses it. Where all
processes of a job run on one machine, a file that the page cache holds is the shorter way. A file belongs to
one task and goes with its batch; what a crash leaves goes at the next start. On a cluster there are none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from cep.job.shipping.declared import AWAY_FROM, BLOB
from cep.job.shipping.rows import AWAY, Kind, pack, unpack


class Sender:
    """Sends the payloads of a task. No other task of this run has its `name`; a file is made when needed, in
    a folder that all workers see. Without a folder every payload goes through Spark.

    A worker of a run that was killed may go on for a moment beside those of the next: files also have the
    number of the process.
    """

    def __init__(self, folder: Path | None, name: str) -> None:
        self._path = None if folder is None else folder / f"{name}-{os.getpid()}"
        self._file: BinaryIO | None = None

    def row(self, kind: Kind, payload: bytes | memoryview) -> tuple[int, bytes]:
        """Kind and payload as they go through Spark."""
        if len(payload) < AWAY_FROM or self._path is None:
            return int(kind), bytes(payload)
        if self._file is None:
            self._file = self._path.open("wb")
        start = self._file.tell()
        self._file.write(payload)
        self._file.flush()
        return kind + AWAY, pack((self._path.name, start, len(payload)))

    def close(self) -> None:
        """The last row has been sent."""
        if self._file is not None:
            self._file.close()


def opened(folder: Path | None, rows: Iterable[tuple[int, bytes]]) -> Iterator[tuple[Kind, bytes]]:
    """Rows as they were given to their senders.

    Raises OSError, and ConfigurationError for a blob that is not there whole.
    """
    for number, payload in rows:
        if number < AWAY:
            yield Kind(number), payload
            continue
        name, start, length = unpack(payload)
        assert folder is not None, "without a folder nothing was sent as a blob"
        yield Kind(number - AWAY), _read(folder / name, start, length)


def _read(path: Path, start: int, length: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(start)
            data = file.read(length)
    except FileNotFoundError:
        raise BLOB.not_there(f"the file {path}, which a batch needs, is missing") from None
    if len(data) < length:
        told = f"the file {path}, which a batch needs, ends before byte {start + length:,}"
        raise BLOB.not_there(told)
    return data


def clear(folder: Path) -> None:
    """The batch is over, and nobody reads its files any more."""
    for path in folder.iterdir():
        path.unlink(missing_ok=True)
