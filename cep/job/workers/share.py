"""The parts of a batch that a mapper reads: all mappers see the same extents and divide them alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from cep.sources.source import BLOCK, Extent, Feed, Part

_SMALLEST = 2 << 20
_OPENING = 64 << 10  # what it costs to open a place, in bytes read meanwhile

Share: TypeAlias = list[tuple[Extent, Part]]


def share(extents: Iterable[Extent], feeds: Mapping[str, Feed], lane: int, lanes: int) -> Share:
    """The parts of one of `lanes` mappers, each with its extent, in order of stream and place.

    `feeds` are those of the streams.

    Every part goes to the mapper with the least to do so far, largest first, so that a few large extents
    and many small ones are spread evenly (R. Graham, 1969). Parts are the same in whatever order the extents
    are listed.
    """
    listed = sorted(set(extents), key=lambda one: (one.stream, one.path))
    total = sum(one.length for one in listed)
    block = min(BLOCK, max(_SMALLEST, -(-total // (2 * lanes))))
    parts = []
    for one in listed:
        feed = feeds[one.stream]
        cut = feed.source.parts(one, feed.format, block)
        parts += [(_OPENING + one.length // len(cut), one, part) for part in cut]
    load = [0] * lanes
    mine: Share = []
    for cost, one, part in sorted(parts, key=lambda p: (-p[0], p[1].stream, p[2].path, p[2].start)):
        least = min(range(lanes), key=lambda number: (load[number], number))
        load[least] += cost
        if least == lane:
            mine.append((one, part))
    return sorted(mine, key=lambda p: (p[0].stream, p[1].path, p[1].start))
