"""A stretch of one segment, which one batch reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cep.buckets import StoreError
from cep.sources.http.segments import Held, chunks, digesting, line_begin
from cep.sources.source import GoneError

if TYPE_CHECKING:
    from cep.files import AnyPath


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
    """Whole lines of an extent, from byte `start` up to, not including, `until`.

    `held` gives all that its place holds, where that was fetched ahead.
    """

    path: str
    start: int
    until: int
    held: Held | None = field(default=None, repr=False, compare=False)


def of_row(row: Sequence[Any]) -> HttpExtent:
    """The extent of a row. Raises TypeError and ValueError."""
    stream, path, first, until, digest = row
    if not (isinstance(first, int) and isinstance(until, int) and 0 <= first <= until):
        raise ValueError("places are whole numbers in their order")
    return HttpExtent(str(stream), str(path), first, until, str(digest))


def pinned(extent: HttpExtent, path: AnyPath) -> HttpExtent:
    """The same with the digest of what its place holds. Raises GoneError and StoreError."""
    try:
        return replace(extent, digest=_digest(extent, path))
    except StoreError:
        raise
    except OSError as error:
        raise GoneError(unreadable(error)) from error


def difference(extent: HttpExtent, path: AnyPath) -> str | None:
    """The reason why it cannot be read as it was, a predicate; None if it can. Raises StoreError."""
    try:
        found = _digest(extent, path)
    except StoreError:
        raise
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


def _digest(extent: HttpExtent, path: AnyPath) -> str:
    digest, left = digesting(), extent.length
    for chunk in chunks(path, extent.first, extent.until):
        digest.update(chunk)
        left -= len(chunk)
    if left:
        raise GoneError(f"ends at byte {extent.until - left:,}; it went up to {extent.until:,}")
    return digest.hexdigest()


def parts(extent: HttpExtent, path: AnyPath, block: int) -> list[HttpPart]:
    """Whole lines of about `block` bytes or fewer; one part of an object, or a file that tells nothing."""
    number = max(1, -(-extent.length // block)) if isinstance(path, Path) else 1
    cuts = {extent.first, extent.until}
    try:
        for cut in range(1, number):
            at = extent.first + extent.length * cut // number
            cuts.add(line_begin(path, at, extent.until))
    except OSError:
        cuts = {extent.first, extent.until}
    return [HttpPart(extent.path, *pair) for pair in pairwise(sorted(cuts))]
