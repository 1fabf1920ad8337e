"""The input of a replay in this process: each stream with its files."""

from __future__ import annotations

from dataclasses import dataclass

from cep.formats import BY_NAME, FeedFormat
from rules.typed import Stream


@dataclass(frozen=True, slots=True)
class Source:
    """A stream and its files, all of one partition, in the order in which they are read."""

    stream: Stream
    files: tuple[str, ...]
    format: FeedFormat = BY_NAME
