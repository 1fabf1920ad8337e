"""A split of a file to events and dead letters, block by block.

A file is what it was when it was listed: `length` bytes. What goes wrong while it is read is not
raised but becomes a dead letter of stage "read", with the place up to which events came.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import randrange
from typing import TYPE_CHECKING, BinaryIO, cast

import pyarrow as pa

from cep.decode.beginning import Beginning
from cep.decode.blocks import Decoder
from cep.decode.bounds import LONGEST, SHOWN, LetterBudget, too_long
from cep.decode.formats import BY_NAME, FeedFormat, UnknownFormatError
from cep.decode.inflate import Inflated, inflated
from cep.decode.letters import DeadLetter, Decoded, Stage
from cep.decode.lines import count_newlines
from cep.decode.parquet_rows import opened
from cep.decode.patience import used
from cep.events import Events, event_schema
from cep.sources.files.splits import Split
from cep.sources.source import BLOCK
from rules.diagnostics import Diagnostic

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_NO_HEADER = (
    "its first line names no field of the stream, and nothing follows: is it a header? `header = false` says "
    "that there is none"
)
LINES = 1 << 19
"""Lines that are decoded at a time, about: of a block that holds more, its parts are decoded one by one."""

_SAMPLES, _SAMPLE = 32, 1 << 14  # pieces of a block, and the bytes of a sample of each
_ROWS = 1 << 18  # of Parquet that are decoded at a time: fewer where they are wide
_PART = 4 << 20  # bytes of such a part
_STEP = 1 << 20
_SHORT = 1 << 16  # bytes of a block's rest that are read again

_SAY_WHAT = "rename it so that its name ends so, or say it: --feed STREAM='format=\"csv\"'"


def read(
    split: Split,
    decoder: Decoder,
    partition: str = "",
    block: int = BLOCK,
    passed: Callable[[int], None] = lambda _: None,
    *,
    raising: bool = False,
) -> Iterator[Decoded]:
    """The events and dead letters of a split, in order, a block at a time.

    `partition` is the feed's own name by default. At most a few blocks are in memory at once. `passed` is
    told how many more bytes of the file, as it is stored, were read. With `raising`, a file that the
    operating system does not let us read is no dead letter: its OSError is raised.
    """
    partition = partition or decoder.stream.name
    reading = _Reading(split, decoder, partition, block, passed)
    kept = LetterBudget()
    try:
        yield from map(kept.within, reading.decoded())
    except UnknownFormatError as error:
        yield reading.failed(str(error))
    except (OSError, pa.ArrowException, EOFError, UnicodeDecodeError) as error:
        if raising and isinstance(error, OSError) and error.errno:
            raise
        yield reading.failed(_sentence(error))


def beginning(file: str, feed: FeedFormat) -> bytes:
    """The first bytes of a file's text, decompressed. Raises OSError and UnknownFormatError."""
    written, length = feed.of(file), Path(file).stat().st_size
    with Beginning(file, length) as stream:
        if written.compression == "none":
            return _read(cast(BinaryIO, stream), _STEP)
        return _read(inflated(cast(BinaryIO, stream), file, length, written.compression), _STEP)


def check_file(file: str, feed: FeedFormat = BY_NAME) -> tuple[Diagnostic, ...]:
    """The error that keeps a file named by the user from being read as a feed's; empty if there is none."""
    path = Path(file)
    if not path.exists():
        return (
            Diagnostic(
                "CEP0851",
                "error",
                f"there is no file {file}",
                help="correct the path; it is relative to the folder where the command runs",
            ),
        )
    try:
        if path.is_dir():
            raise IsADirectoryError
        with path.open("rb"):
            feed.of(file)
    except UnknownFormatError as error:
        message = f"{file} cannot be read: {error}"
        return (Diagnostic("CEP0853", "error", message, help=_SAY_WHAT),)
    except OSError as error:
        return (
            Diagnostic(
                "CEP0852",
                "error",
                f"{file} cannot be read: {_sentence(error)}",
                help="name a file that the user of this command may read",
            ),
        )
    return ()


@dataclass(slots=True)
class _Reading:
    """A split while it is read; `reached` is how far events came: a byte, or a row.

    `stored` is how far that is in the file as it is stored, in bytes; `rest` the beginning of a record that a
    compressed file does not hold to its end.
    """

    split: Split
    decoder: Decoder
    partition: str
    block: int
    passed: Callable[[int], None]
    reached: int = 0
    stored: int = 0
    rest: bytes = b""

    def decoded(self) -> Iterator[Decoded]:
        """The blocks of the split. Raises OSError and ArrowException."""
        written = self.decoder.feed.of(self.split.file)
        self.reached = self.stored = self.split.start
        if written.kind == "parquet":
            self.reached = self.stored = 0
            yield from self._rows()
        elif written.compression != "none":
            with Beginning(self.split.file, self.split.length) as stream:
                text = inflated(
                    cast(BinaryIO, stream), self.split.file, self.split.length, written.compression
                )
                yield from self._blocks(text, 0, None, lambda _: text.stored)
                if text.problem is not None:
                    yield self.failed(f"the file cannot be read to its end: {text.problem}", self.rest)
            self._tell(self.split.length)
        else:
            with Path(self.split.file).open("rb", buffering=0) as stream:
                start = self._first_record(stream)
                end = self.split.end if self.split.end >= 0 else self.split.length
                yield from self._blocks(stream, start, end, lambda place: min(place, end))
            self._tell(end)
        changed = self._changed()
        if changed:
            yield self.failed(changed)

    def _tell(self, stored: int) -> None:
        self.passed(stored - self.stored)
        self.stored = stored

    def failed(self, reason: str, data: bytes = b"") -> Decoded:
        """A dead letter that tells why reading stopped, or was not as it should be."""
        return self._dead("read", reason, data)

    def _dead(self, stage: Stage, reason: str, data: bytes) -> Decoded:
        stream = self.decoder.stream
        letter = DeadLetter(stream.name, self.split.file, self.reached, stage, reason, data)
        empty = event_schema(stream).empty_table()
        return Decoded(Events(stream.name, self.partition, empty), (letter,))

    def _blocks(
        self, stream: BinaryIO | Inflated, start: int, end: int | None, stored: Callable[[int], int]
    ) -> Iterator[Decoded]:
        """Blocks from byte `start` to the record that begins before `end`; None: of all there is.

        `stored` gives the place in the file as it is stored. Of a compressed file that is cut short, what
        stands behind the last line end is no record but `rest`.
        """
        columns = self._columns() if start > 0 else None
        rest, self.reached = b"", start
        while True:
            room = self.block if end is None else min(self.block, end - self.reached - len(rest))
            data = _continued(stream, rest, room) if room > 0 else rest
            final = len(data) <= len(rest)
            if final and end is not None and end < self.split.length:
                data += self._last_line(cast(BinaryIO, stream), data)
            whole = final and not (isinstance(stream, Inflated) and stream.cut)
            length = len(data) if whole else self.decoder.complete(data, self.split.file)
            if whole and length > LONGEST:
                ends = self.decoder.complete(data, self.split.file)
                length = ends if length - ends > LONGEST else length
            for part in self._parts(memoryview(data)[:length]):
                if self.reached == 0:
                    columns, begun = self.decoder.opening(part, self.split.file)
                    if columns and begun == len(part) and self.decoder.fits_nothing(columns):
                        yield self.failed(_NO_HEADER, bytes(part[:SHOWN]))
                    part, self.reached = part[begun:], begun
                self._tell(stored(self.reached + len(part)))
                decoded = self.decoder.decode_block(
                    part, self.split.file, self.reached, self.partition, columns
                )
                self.reached += len(part)
                yield decoded
            rest = data[length:]
            if len(rest) > LONGEST:
                letter, rest = self._passed_over(stream, rest)
                yield letter
                if end is not None:
                    if self.reached >= end:
                        return
                    cast(BinaryIO, stream).seek(self.reached)
                    rest = b""
            elif final:
                self.rest = rest[:SHOWN]
                return

    def _parts(self, view: memoryview) -> Iterator[memoryview]:
        """A block that ends where a record does, in parts if it has many lines."""
        begin = 0
        size = len(view) if len(view) <= LINES or _lines_about(view) <= LINES else _PART
        while begin < len(view):
            length = len(view) - begin
            while size < length:
                ends = self.decoder.complete(bytes(view[begin : begin + size]), self.split.file)
                if ends:
                    length = ends
                    break
                size *= 2
            yield view[begin : begin + length]
            begin += length

    def _passed_over(self, stream: BinaryIO | Inflated, data: bytes) -> tuple[Decoded, bytes]:
        """The dead letter of a record that is too long, and what was read behind its line end.

        Of CSV it may have a line end, and a quote that is not closed: that spoils its own line only.
        """
        written = self.decoder.feed.of(self.split.file)
        if self.reached == 0 and written.kind == "csv" and self.decoder.feed.header:
            raise OSError(f"its header has more than {LONGEST:,} bytes: is this the right format?")
        found, length, chunk = data.find(b"\n"), 0, data
        while found < 0 and chunk:
            length += len(chunk)
            chunk = _read(stream, _STEP)
            found = chunk.find(b"\n")
        length += max(found, 0)
        reason = too_long(length) if length > LONGEST else f"a quote is not closed within {LONGEST:,} bytes"
        letter = self._dead("decode", reason, data[: min(length, SHOWN)])
        self.reached += length + (found >= 0)
        return letter, chunk[found + 1 :]

    def _first_record(self, stream: BinaryIO) -> int:
        """Moves to the first record that begins in the split; returns its place, or the split's end."""
        at = self.split.start
        if at == 0:
            return 0
        stream.seek(at - 1)
        end = self.split.end if self.split.end >= 0 else self.split.length
        at -= 1
        while at < end:
            chunk = _read(stream, min(1 << 16, end - at))
            found = chunk.find(b"\n")
            if found >= 0 or not chunk:
                at = at + found + 1 if chunk else end
                break
            at += len(chunk)
        stream.seek(min(at, end))
        return min(at, end)

    def _last_line(self, stream: BinaryIO, data: bytes) -> bytes:
        """The bytes behind the split's end that complete its last record, or make it too long."""
        if not data or data.endswith(b"\n"):
            return b""
        pieces: list[bytes] = []
        left = self.split.length - stream.tell()
        while left > 0 and len(pieces) << 16 <= LONGEST and (chunk := _read(stream, min(1 << 16, left))):
            found = chunk.find(b"\n")
            pieces.append(chunk if found < 0 else chunk[: found + 1])
            if found >= 0:
                break
            left -= len(chunk)
        return b"".join(pieces)

    def _columns(self) -> tuple[str, ...] | None:
        """The columns that the file's first record names; None: it is no CSV."""
        if self.decoder.feed.of(self.split.file).kind != "csv":
            return None
        with Path(self.split.file).open("rb") as stream:
            first = stream.read(min(self.block, self.split.length))
        return self.decoder.opening(memoryview(first), self.split.file)[0]

    def _rows(self) -> Iterator[Decoded]:
        with opened(self.split.file, self.split.length) as file:
            groups = file.metadata.num_row_groups
            end = groups if self.split.end < 0 else self.split.end
            rows = [file.metadata.row_group(i).num_rows for i in range(groups)]
            self.reached = sum(rows[: self.split.start])
            self.stored = self.split.length * self.reached // max(1, sum(rows))
            for group in range(self.split.start, end):
                behind = sum(rows[: group + 1])
                try:
                    for table in _tables(file, group, 2 * self.block):
                        self._tell(self.split.length * (self.reached + table.num_rows) // max(1, sum(rows)))
                        yield self.decoder.decode_table(table, self.split.file, self.reached, self.partition)
                        self.reached += table.num_rows
                except (OSError, pa.ArrowException) as error:
                    if isinstance(error, OSError) and error.errno:
                        raise
                    # a row group is damaged by itself: those behind it can be read
                    yield self.failed(f"rows {self.reached} to {behind - 1} cannot be read: {_first(error)}")
                self.reached = behind

    def _changed(self) -> str | None:
        """The change of the file since it was listed, told once: by the reader of its last part."""
        if self.split.end not in (-1, self.split.length):
            return None
        length = Path(self.split.file).stat().st_size
        if length == self.split.length:
            return None
        how = "grew" if length > self.split.length else "shrank"
        return (
            f"the file {how} from {self.split.length} to {length} bytes after it was listed and is not read "
            "again: write a file elsewhere and rename it in"
        )


def _lines_about(view: memoryview) -> int:
    """The lines of a block, about: of a large one samples are looked into, one in each piece of it.

    Nobody who writes a file knows where they lie. How many lines are decoded at a time changes no event.
    """
    step = len(view) // _SAMPLES
    if step <= _SAMPLE:
        return count_newlines(view, used())
    begins = (piece + randrange(step - _SAMPLE) for piece in range(0, step * _SAMPLES, step))
    found = sum(count_newlines(view[begin : begin + _SAMPLE], used()) for begin in begins)
    return found * step // _SAMPLE


def _tables(file: pq.ParquetFile, group: int, size: int) -> Iterator[pa.Table]:
    """The rows of a row group, as many at a time as take about so many bytes, if the file says so truly."""
    known = file.metadata.row_group(group)
    most = max(1, min(_ROWS, size * known.num_rows // max(1, known.total_byte_size)))
    for batch in file.iter_batches(row_groups=[group], use_threads=False, batch_size=most):
        yield pa.Table.from_batches([batch])


def _continued(stream: BinaryIO | Inflated, rest: bytes, size: int) -> bytes:
    """The rest of a block, and as many bytes behind it as asked for, or all that there are.

    A short rest of a plain file is read once more: that is less than copying all that follows it.
    """
    if not rest or isinstance(stream, Inflated) or len(rest) > _SHORT:
        return rest + _read(stream, size)
    stream.seek(-len(rest), os.SEEK_CUR)
    return _read(stream, len(rest) + size)


def _read(stream: BinaryIO | Inflated, size: int) -> bytes:
    """As many bytes as asked for, or all that are left."""
    first = stream.read(size)
    if len(first) == size or not first:
        return first
    pieces, left = [first], size - len(first)
    while left and (more := stream.read(left)):
        pieces.append(more)
        left -= len(more)
    return b"".join(pieces)


def _sentence(error: BaseException) -> str:
    match error:
        case FileNotFoundError():
            return "the file is missing"
        case PermissionError():
            return "the file may not be read: permission denied"
        case IsADirectoryError():
            return "it is a folder, not a file"
        case OSError() if error.strerror:
            return f"the file cannot be read: {error.strerror}"
    return f"the file cannot be read to its end: {_first(error)}"


def _first(error: BaseException) -> str:
    """The first line of what an error says, without its full stop."""
    return next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
