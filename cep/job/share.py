"""Which parts of a batch's files a mapper reads: all mappers see the same list and divide it alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cep.feeds import BLOCK, Split, splits
from cep.formats import FeedFormat

_SMALLEST = 2 << 20
_OPENING = 64 << 10  # what it costs to open a file, in bytes read meanwhile


@dataclass(frozen=True, slots=True, order=True)
class ListedFile:
    """A file of a stream's feed, as it was listed."""

    stream: str
    path: str
    length: int


def share(
    files: Iterable[ListedFile], formats: Mapping[str, FeedFormat], lane: int, lanes: int
) -> list[tuple[str, Split]]:
    """The (stream, split) pairs of one of `lanes` mappers, in order of stream, file and place.

    `formats` are those of the streams' feeds.

    Every split goes to the mapper with the least to do so far, largest first, so that a few large files
    and many small ones are spread evenly (R. Graham, 1969). Splits are the same in whatever order the
    files are listed.
    """
    listed = sorted(set(files))
    total = sum(file.length for file in listed)
    block = min(BLOCK, max(_SMALLEST, -(-total // (2 * lanes))))
    parts = [
        (_cost(split, len(cut)), file.stream, split)
        for file in listed
        for cut in [splits(file.path, file.length, block, formats[file.stream])]
        for split in cut
    ]
    load = [0] * lanes
    mine: list[tuple[str, Split]] = []
    for cost, stream, split in sorted(parts, key=lambda p: (-p[0], p[1], p[2].file, p[2].start)):
        least = min(range(lanes), key=lambda one: (load[one], one))
        load[least] += cost
        if least == lane:
            mine.append((stream, split))
    return sorted(mine, key=lambda p: (p[0], p[1].file, p[1].start))


def _cost(split: Split, parts: int) -> int:
    """Bytes to read, where the split says it; row groups count as equal."""
    return _OPENING + split.length // parts
