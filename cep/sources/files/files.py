"""Files as a source: Spark says which are new; what of them a batch reads is fixed before it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from cep.decode.formats import FeedFormat
from cep.sources.source import BATCH_BYTES, Feed, GoneError, Options, Piece, Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from cep.decode.blocks import Decoder
    from cep.decode.letters import DeadLetter, Decoded
    from cep.sources.checkpoint import Checkpoint
    from cep.sources.files.extents import FileExtent
    from cep.sources.files.splits import Split
    from rules.diagnostics import Diagnostic

_FOR_EVER = "36500d"
_FRESH = 100_000_000
"""Nanoseconds for which a folder that changed may change again without another time of change."""


def paths(feeds: Iterable[Feed]) -> dict[str, str]:
    """The paths of those feeds that read files, by stream."""
    return {feed.name: feed.source.path for feed in feeds if isinstance(feed.source, Files)}


@dataclass(frozen=True, slots=True)
class Files(Source["FileExtent", "Split"]):
    """The files that `path` (absolute, with wildcards) matches."""

    path: str

    noun: ClassVar[str] = "file"

    def frame(self, session: SparkSession, name: str) -> DataFrame:
        """The length of every new file: Spark lists them, and opens none."""
        from cep.sources.files.names import matching

        folder, below = matching(self.path)
        reader = (
            session.readStream.format("binaryFile")
            .schema("path string, modificationTime timestamp, length long, content binary")
            .option("maxBytesPerTrigger", str(BATCH_BYTES))
            .option("maxFileAge", _FOR_EVER)  # else files older than a week than the newest are passed over
            .option("ignoreMissingFiles", "true")  # mappers miss them, and can say so in a sentence
            .name(name)
        )
        if "/" in below:
            files = reader.load(f"{folder}/{below}")
        else:  # one look into one folder, where a path with wildcards would look at every file by itself
            files = reader.option("pathGlobFilter", below).load(folder)
        return files.select("length")

    def sign(self, checkpoint: Checkpoint, stream: str) -> object:  # noqa: ARG002
        """When an entry of each of its folders last came or went; never the same twice where it just did."""
        from cep.sources.files.names import folders

        changed = {str(folder): folder.stat().st_mtime_ns for folder in folders(self.path)}
        now = time.time_ns()
        fresh = any(now - _FRESH < at <= now for at in changed.values())
        return changed, now if fresh else 0

    def planned(self, checkpoint: Checkpoint, stream: str, batch: int) -> Sequence[FileExtent]:
        """The files of a batch, of which only the names are known."""
        from cep.sources.files.extents import FileExtent
        from cep.sources.files.spark_log import files

        return [FileExtent(stream, path) for path in files(checkpoint, stream, batch)]

    def check_log(self, checkpoint: Checkpoint, stream: str, batch: int) -> None:
        """Raises DamagedError where Spark could not tell any more which files are new."""
        from cep.sources.files.spark_log import check

        check(checkpoint, stream, batch)

    def extent(self, row: Sequence[Any]) -> FileExtent:
        """The extent of a row. Raises TypeError."""
        from cep.sources.files.extents import of_row

        return of_row(row)

    def pin(self, planned: FileExtent, _: str = "", /) -> FileExtent:
        """The file as it is now. Raises GoneError."""
        from cep.sources.files.extents import extent

        return extent(planned.stream, planned.path)

    def difference(self, extent: FileExtent) -> str | None:
        """The reason why a file can no longer be read as it was; its content is compared."""
        from cep.sources.files.extents import difference

        return difference(extent, thorough=True)

    def watch(self) -> Callable[[FileExtent], str | None]:
        """`difference`, where the content is compared only if length or time differ."""
        from cep.sources.files.extents import Watch

        return Watch()

    def afterwards(self, extent: FileExtent) -> FileExtent | DeadLetter | None:
        """The change of a file since it was read: Spark reads no name twice."""
        from cep.sources.files.extents import afterwards

        return afterwards(extent)

    def listed(self, stream: str) -> Sequence[FileExtent]:
        """The files that are there, the oldest change first."""
        from cep.sources.files.extents import listed_extent
        from cep.sources.files.names import listed

        return [listed_extent(stream, file) for file in listed(self.path)]

    def partition(self, extent: FileExtent) -> str:
        """The stream's name: all files of a feed are one partition."""
        return extent.stream

    def parts(self, extent: FileExtent, written: FeedFormat, block: int) -> Sequence[Split]:
        """Runs of bytes of plain lines, or of row groups of Parquet; any other file is one part."""
        from cep.sources.files.splits import splits

        return splits(extent.path, extent.length, block, written)

    def read(
        self,
        part: Split,
        decoder: Decoder,
        passed: Callable[[int], None] = lambda _: None,
        *,
        strict: bool = False,
    ) -> Iterator[Decoded]:
        """The events and dead letters of a split."""
        from cep.sources.files.extents import unreadable
        from cep.sources.files.reading import read

        try:
            yield from read(part, decoder, passed=passed, raising=strict)
        except OSError as error:
            raise GoneError(unreadable(error)) from error

    def pieces(self, part: Split, written: FeedFormat) -> Sequence[Piece]:
        """The row groups of a split, or its compressed file."""
        from cep.sources.files.extents import unreadable
        from cep.sources.files.splits import pieces

        try:
            return pieces(part, written)
        except OSError as error:
            raise GoneError(unreadable(error)) from error

    def probe(self, part: Split, written: FeedFormat) -> None:
        """Opens and decompresses a split."""
        from cep.sources.files.splits import probe

        probe(part, written)

    def partition_of(self, stream: str, path: str) -> str:  # noqa: ARG002
        """The stream's name."""
        return stream

    def beginning(self, path: str, written: FeedFormat) -> bytes:
        """The first bytes of a file's text."""
        from cep.sources.files.extents import unreadable
        from cep.sources.files.reading import beginning

        try:
            return beginning(path, written)
        except OSError as error:
            raise GoneError(unreadable(error)) from error

    def place(self, path: str, first: int, end: int, written: FeedFormat) -> str:
        """File and line, or row, or byte."""
        from cep.sources.files.places import place

        return place(path, first, end, written)

    def check(self, options: Options) -> Iterator[Diagnostic]:
        """Mistakes of the folder, or of the one file, that the path begins with."""
        from cep.sources.files.checks import check

        return check(self.path, options)
