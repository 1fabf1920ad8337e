"""Events that come by POST as a source. No source of Spark lists them: it only says that there is a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cep.decode.formats import FeedFormat
from cep.sources.source import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from upath import UPath

    from cep.decode.blocks import Decoder
    from cep.decode.letters import Decoded
    from cep.files import AnyPath
    from cep.sources.checkpoint import Checkpoint
    from cep.sources.http.extents import HttpExtent, HttpPart

BACKLOG = 1 << 30
"""Bytes that may wait to be read."""


def received(state: AnyPath, stream: str) -> AnyPath:
    """The place of a stream's log in a state."""
    return state / "received" / stream


def _log(checkpoint: Checkpoint, stream: str) -> AnyPath:
    """The place of a log, beside a checkpoint."""
    state = checkpoint.root.parent
    return received(state.absolute() if isinstance(state, Path) else state, stream)


@dataclass(frozen=True, slots=True)
class Http(Source["HttpExtent", "HttpPart"]):
    """Events that come by POST. `backlog` are the bytes that may wait to be read.

    `bucket` is where the job's state is; None: in a folder, which extents name.
    """

    backlog: int = BACKLOG
    bucket: UPath | None = field(default=None, repr=False, compare=False)

    noun: ClassVar[str] = "segment"
    counted: ClassVar[bool] = True

    def within(self, state: AnyPath) -> Http:
        """The source that opens extents in a state."""
        return self if isinstance(state, Path) else replace(self, bucket=state)

    def _opened(self, path: str) -> AnyPath:
        """The place that an extent names."""
        if self.bucket is None:
            return Path(path)
        return self.bucket / path.removeprefix(str(self.bucket).rstrip("/") + "/")

    def frame(self, session: SparkSession, name: str) -> DataFrame:
        """A table that has offsets in every batch, and never a row."""
        from pyspark.sql import functions as f

        reader = session.readStream.format("rate-micro-batch").option("rowsPerBatch", "1")
        rows = reader.option("numPartitions", "1").option("startTimestamp", "0").name(name).load()
        return rows.where(f.lit(False)).select(f.col("value").alias("length"))

    def planned(self, checkpoint: Checkpoint, stream: str, batch: int) -> Sequence[HttpExtent]:
        """The stretches of segments between the place where the batch before ended and that of this one."""
        from cep.sources.http.bounds import between
        from cep.sources.http.extents import HttpExtent
        from cep.sources.http.segments import path_of

        folder = _log(checkpoint, stream)
        going_on = batch > 0 and stream in checkpoint.offsets(batch - 1)
        return [
            HttpExtent(stream, str(path_of(folder, segment)), first, last)
            for segment, first, last in between(folder, batch, going_on=going_on)
        ]

    def extent(self, row: Sequence[Any]) -> HttpExtent:
        """The extent of a row. Raises TypeError and ValueError."""
        from cep.sources.http.extents import of_row

        return of_row(row)

    def pin(self, planned: HttpExtent, _: str = "", /) -> HttpExtent:
        """The stretch with a digest of what it holds. Raises GoneError."""
        from cep.sources.http.extents import pinned
        from cep.sources.http.intake import written

        path = self._opened(planned.path)
        digest = written(path, planned.first, planned.until)
        return pinned(planned, path) if digest is None else replace(planned, digest=digest)

    def difference(self, extent: HttpExtent) -> str | None:
        """The reason why a stretch cannot be read as it was; its content is compared."""
        from cep.sources.http.extents import difference

        return difference(extent, self._opened(extent.path))

    def watch(self) -> Callable[[HttpExtent], str | None]:
        """Nothing: who reads what is missing is told so, and only this job writes segments."""
        return _unchanged

    def listed(self, stream: str) -> Sequence[HttpExtent]:  # noqa: ARG002
        """Nothing: what came belongs to the job that took it."""
        return ()

    def partition(self, extent: HttpExtent) -> str:
        """The stream's name: all that comes is one partition."""
        return extent.stream

    def parts(self, extent: HttpExtent, written: FeedFormat, block: int) -> Sequence[HttpPart]:  # noqa: ARG002
        """Runs of lines."""
        from cep.sources.http.extents import parts

        return parts(extent, self._opened(extent.path), block)

    @property
    def asked_at_once(self) -> int:
        """Objects that are asked for at a time; a file answers at once."""
        from cep.buckets import AT_ONCE

        return 1 if self.bucket is None else AT_ONCE

    def ahead(self, parts: Iterable[HttpPart]) -> Iterator[HttpPart]:
        """The parts in their order; objects are fetched while those before them are read."""
        from cep.sources.http.reading import fetched

        return iter(parts) if self.bucket is None else fetched(parts, self._opened)

    def read(
        self,
        part: HttpPart,
        decoder: Decoder,
        passed: Callable[[int], None] = lambda _: None,
        *,
        strict: bool = False,
    ) -> Iterator[Decoded]:
        """The events and dead letters of some lines."""
        from cep.sources.http.reading import read

        return read(part, self._opened(part.path), decoder, passed, strict=strict)

    def probe(self, part: HttpPart, written: FeedFormat) -> None:
        """Nothing: no library opens lines."""

    def ends(self, checkpoint: Checkpoint, stream: str) -> Mapping[str, int]:
        """The end of the log now, as one number."""
        from cep.sources.http.bounds import end_of

        return {stream: end_of(_log(checkpoint, stream)).number}

    def reached(self, checkpoint: Checkpoint, stream: str, batch: int) -> Mapping[str, int]:
        """The place up to where a batch reads the log. Raises DamagedError."""
        from cep.sources.http.bounds import reached

        return {stream: reached(_log(checkpoint, stream), batch).number}

    def partition_of(self, stream: str, path: str) -> str:  # noqa: ARG002
        """The stream's name."""
        return stream

    def place(self, path: str, first: int, end: int, written: FeedFormat) -> str:
        """Segment and line."""
        from cep.sources.files.places import place

        return place(path, first, end, written)


def _unchanged(_: HttpExtent) -> None:
    return None
