"""The input of a replay in this process: each stream with what is there of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cep.decode.formats import BY_NAME, FeedFormat
from cep.sources.files.extents import listed_extent
from cep.sources.files.files import Files
from cep.sources.source import AnySource, Extent
from rules.typed import Stream


@dataclass(frozen=True, slots=True)
class Input:
    """A stream, its source, and what is read of that in this order."""

    stream: Stream
    source: AnySource
    extents: tuple[Extent, ...]
    format: FeedFormat = BY_NAME


def of_files(stream: Stream, files: Iterable[str], written: FeedFormat = BY_NAME) -> Input:
    """The input of files that are named one by one. Raises OSError for one that is not there."""
    extents = tuple(listed_extent(stream.name, file) for file in files)
    return Input(stream, Files(""), extents, written)
