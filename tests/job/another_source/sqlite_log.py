"""A log in SQLite with partitions and offsets: a source as Kafka is one, small enough to throw away.

Everything that the program knows of it stands here, but for its entry in `cep.sources.kinds.SECTIONS`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator, Field
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from cep.decode.blocks import Decoder
from cep.decode.formats import FeedFormat
from cep.decode.json_lines import JsonReader
from cep.decode.letters import Decoded
from cep.sources import values
from cep.sources.checkpoint import Checkpoint
from cep.sources.section import FeedSection
from cep.sources.source import GoneError, Options, Source
from rules.diagnostics import Diagnostic

AT_ONCE = 1_000
"""Records that are decoded together."""
_OF = "from log where part = ? and number >= ? and number < ?"


def append(path: Path, partition: int, records: Iterable[bytes]) -> None:
    """Adds records to a partition of a log, which is made if it is not there."""
    with closing(sqlite3.connect(path)) as log, log:
        log.execute("create table if not exists log (part, number, value, primary key (part, number))")
        last = "select ifnull(max(number) + 1, 0) from log where part = ?"
        (end,) = log.execute(last, [partition]).fetchone()
        rows = [(partition, end + n, one) for n, one in enumerate(records)]
        log.executemany("insert into log values (?, ?, ?)", rows)


def forget(path: Path, partition: int, until: int) -> None:
    """Removes the records of a partition before an offset, as retention does."""
    with closing(sqlite3.connect(path)) as log, log:
        log.execute("delete from log where part = ? and number < ?", [partition, until])


def ends(path: str) -> dict[str, int]:
    """The offset behind the last record of each partition."""
    with closing(sqlite3.connect(path)) as log:
        found = log.execute("select part, max(number) + 1 from log group by 1")
        return {str(part): end for part, end in found}


@dataclass(frozen=True, slots=True)
class LogExtent:
    """The records of a partition, `log/NUMBER`, from offset `first` up to, not including, `until`."""

    stream: str
    path: str
    first: int
    until: int
    length: int = 0

    @property
    def planned(self) -> tuple[object, ...]:
        """All but the bytes."""
        return self.stream, self.path, self.first, self.until

    def row(self) -> tuple[object, ...]:
        """The fields in their order."""
        return astuple(self)


@dataclass(frozen=True, slots=True)
class LogPart:
    """Some records of an extent."""

    path: str
    start: int
    until: int


@dataclass(frozen=True, slots=True)
class Log(Source[LogExtent, LogPart]):
    """The log in a file."""

    file: str

    noun: ClassVar[str] = "partition"

    def frame(self, session: SparkSession, name: str) -> DataFrame:
        """Nothing but offsets: Spark leaves out to read what cannot pass."""
        session.dataSource.register(LogOffsets)
        offsets = session.readStream.format("sqlite_log").option("file", self.file).name(name).load()
        return offsets.where(f.lit(False)).select("length")

    def planned(self, checkpoint: Checkpoint, stream: str, batch: int) -> Sequence[LogExtent]:
        """From the offsets that Spark wrote down for the batch before to those of this one."""
        until = checkpoint.offsets(batch).get(stream) or {}
        since = (checkpoint.offsets(batch - 1).get(stream) or {}) if batch else {}
        return [
            LogExtent(stream, f"log/{part}", since.get(part, 0), end)
            for part, end in sorted(until.items())
            if end > since.get(part, 0)
        ]

    def extent(self, row: Sequence[Any]) -> LogExtent:
        """The extent of a row."""
        return LogExtent(*row)

    def pin(self, planned: LogExtent, _: str = "", /) -> LogExtent:
        """The extent with the bytes that it has. Raises GoneError."""
        if why := self.difference(planned):
            raise GoneError(why)
        with closing(sqlite3.connect(self.file)) as log:
            (length,) = log.execute(f"select sum(length(value)) {_OF}", _place(planned)).fetchone()
        return LogExtent(*planned.planned, length)  # type: ignore[arg-type]

    def difference(self, extent: LogExtent) -> str | None:
        """The words for records that are missing; None where there are none."""
        with closing(sqlite3.connect(self.file)) as log:
            found, first = log.execute(f"select count(*), min(number) {_OF}", _place(extent)).fetchone()
        whole = found == extent.until - extent.first
        return None if whole else f"has offsets from {first}; {extent.first} is gone"

    def listed(self, stream: str) -> Sequence[LogExtent]:
        """All partitions, each whole."""
        return [self.pin(LogExtent(stream, f"log/{part}", 0, end)) for part, end in ends(self.file).items()]

    def partition(self, extent: LogExtent) -> str:
        """The partition's name."""
        return extent.path

    def parts(self, extent: LogExtent, _: FeedFormat, block: int) -> Sequence[LogPart]:
        """As many records each."""
        number = max(1, min(-(-extent.length // block), extent.until - extent.first))
        cuts = [extent.first + (extent.until - extent.first) * n // number for n in range(number + 1)]
        return [LogPart(extent.path, *pair) for pair in pairwise(cuts)]

    def read(
        self,
        part: LogPart,
        decoder: Decoder,
        passed: Callable[[int], None] = lambda _: None,
        *,
        strict: bool = False,  # noqa: ARG002  nothing of a log is damaged
    ) -> Iterator[Decoded]:
        """Records of JSON, one event each; @offset is the offset in the log."""
        with closing(sqlite3.connect(self.file)) as log:
            rows = log.execute(f"select number, value {_OF} order by number", _place(part))
            while some := rows.fetchmany(AT_ONCE):
                data = b"\n".join(value for _, value in some) + b"\n"
                passed(len(data) - len(some))
                reader = JsonReader(memoryview(data), decoder.stream, decoder.feed, decoder.constants)
                yield decoder.decoded(reader, np.array([number for number, _ in some]), part.path, part.path)

    def check(self, options: Options) -> Iterator[Diagnostic]:
        """The log must be there."""
        if not Path(self.file).is_file():
            said = f"there is no log {self.file}"
            yield Diagnostic("CEP0726", "error", said, options.span("log"), help="make it, or correct log")


def _place(of: LogExtent | LogPart) -> tuple[int, int, int]:
    first = of.first if isinstance(of, LogExtent) else of.start
    return int(of.path.removeprefix("log/")), first, of.until


def _named(text: str) -> str:
    return values.path(text)


class LogSection(FeedSection):
    """[feeds.STREAM] with source = "log"."""

    source: Annotated[Literal["log"], Field(examples=["log"])]
    log: Annotated[str, AfterValidator(_named), Field(examples=["payments.log"])]

    def made(self, folder: Path) -> Log:
        """The source."""
        return Log(str(folder / self.log))


class LogOffsets(DataSource):
    """The log for Spark, which only wants to know how far it goes."""

    @classmethod
    def name(cls) -> str:
        return "sqlite_log"

    def schema(self) -> str:
        return "length long"

    def streamReader(self, schema: object) -> DataSourceStreamReader:  # noqa: N802, ARG002  as Spark calls it
        return _Offsets(self.options["file"])


@dataclass
class _Offsets(DataSourceStreamReader):
    file: str

    def initialOffset(self) -> dict[str, int]:  # noqa: N802  as Spark calls it
        return {}

    def latestOffset(self, *_: object) -> dict[str, int]:  # noqa: N802  as Spark calls it
        return ends(self.file)

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        return [InputPartition(json.dumps([start, end]))]

    def read(self, _: InputPartition) -> Iterator[tuple[int]]:
        raise AssertionError("Spark is not to read what mappers read")
