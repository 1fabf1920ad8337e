"""A stretch of one segment, which one batch reads."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from cep.sources.source import GoneError

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class HttpExtent:
    """The bytes of a segment from `first` up to, not including, `until`. Without a digest it is not fixed."""

    stream: str
    path: str
    first: int
    until: int
    digest: str = ""

    @property
    def planned(self) -> tuple[object, ...]:
        """The stretch, which is written down before its content is."""
        return self.stream, self.path, self.first, self.until

    @property
    def length(self) -> int:
        """Bytes."""
        return self.until - self.first

    def row(self) -> tuple[object, ...]:
        """The fields in their order."""
        return astuple(self)


@dataclass(frozen=True, slots=True)
class HttpPart:
    """Whole lines of an extent, from byte `start` up to, not including, `until`."""

    path: str
    start: int
    until: int


def of_row(row: Sequence[Any]) -> HttpExtent:
    """The extent of a row. Raises TypeError and ValueError."""
    stream, path, first, until, digest = row
    if not (isinstance(first, int) and isinstance(until, int) and 0 <= first <= until):
        raise ValueError("places are whole numbers in their order")
    return HttpExtent(str(stream), str(path), first, until, str(digest))


def pinned(extent: HttpExtent) -> HttpExtent:
    """The same with the digest of what it holds. Raises GoneError."""
    try:
        return replace(extent, digest=_digest(extent))
    except OSError as error:
        raise GoneError(unreadable(error)) from error


def difference(extent: HttpExtent) -> str | None:
    """The reason why it cannot be read as it was, a predicate; None if it can."""
    try:
        found = _digest(extent)
    except OSError as error:
        return unreadable(error)
    except GoneError as error:
        return str(error)
    return None if found == extent.digest else "does not hold what it held"


def unreadable(error: OSError) -> str:
    """A predicate for a file that the system does not let us read."""
    if isinstance(error, FileNotFoundError):
        return "is missing"
    return f"cannot be read: {(error.strerror or str(error)).lower()}"


def _digest(extent: HttpExtent) -> str:
    digest, left = hashlib.blake2b(digest_size=16), extent.length
    with Path(extent.path).open("rb", buffering=0) as file:
        file.seek(extent.first)
        while left and (chunk := file.read(min(_CHUNK, left))):
            digest.update(chunk)
            left -= len(chunk)
    if left:
        raise GoneError(f"ends at byte {extent.until - left:,}; it went up to {extent.until:,}")
    return digest.hexdigest()


def parts(extent: HttpExtent, block: int) -> list[HttpPart]:
    """Whole lines of about `block` bytes or fewer; one part where the segment cannot be looked into."""
    number = max(1, -(-extent.length // block))
    cuts = {extent.first, extent.until}
    try:
        with Path(extent.path).open("rb", buffering=0) as file:
            for cut in range(1, number):
                at = extent.first + extent.length * cut // number
                file.seek(at - 1)
                while at < extent.until and (chunk := file.read(1 << 16)):
                    found = chunk.find(b"\n")
                    at += found if found >= 0 else len(chunk)
                    if found >= 0:
                        break
                cuts.add(min(at, extent.until))
    except OSError:
        cuts = {extent.first, extent.until}
    return [HttpPart(extent.path, *pair) for pair in pairwise(sorted(cuts))]
