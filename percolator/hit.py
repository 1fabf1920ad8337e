"""The hit of a query on a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

Range = tuple[int, int]
"""Code points `start` to `end` (exclusive) of a field: its values, one character between two of them."""


class Hit(NamedTuple):
    """`names` are the named parts that were true, in the order of the query, each once.

    `highlights` are ranges by field, fields in the order of the schema, ranges in order and apart.
    A tuple, since many are made.
    """

    names: tuple[str, ...]
    highlights: Mapping[str, list[Range]]


def apart(ranges: Iterable[Range]) -> list[Range]:
    """The ranges in order, those that overlap made one."""
    found: list[Range] = []
    for start, end in sorted(ranges):
        if found and start < found[-1][1]:
            if end > found[-1][1]:
                found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found
