"""CSV: one record a line (RFC 4180), read by column. Everything is text; an empty cell is null.

Malformed is a record that is not UTF-8, has more or fewer cells than the header, an unclosed quote,
no value for a required field, or a cell that is not written as its type. CSV has no lists and records.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv

from cep.decode.convert import Wanted, declared, lacks, text_type, wanted_fields
from cep.decode.csv_reasons import why_not
from cep.decode.formats import FeedFormat
from cep.decode.kernel_reader import KernelReader, kernel_columns
from cep.decode.lines import check_utf8
from cep.decode.malformed import Malformed
from cep.decode.patience import kernel_for
from cep.decode.records import complete, placed_records, records_of
from cep.decode.salvage import Indices
from rules.typed import Stream
from rules.types import Scalar

_READ_SIZE = 4 << 20


class CsvReader:
    """Reads the records of one block; `names` are its columns from left to right."""

    def __init__(
        self,
        data: memoryview,
        names: tuple[str, ...],
        stream: Stream,
        feed: FeedFormat,
        constants: dict[str, pa.Scalar],
        places: tuple[Indices, Indices] | None = None,
    ) -> None:
        """`places` has first bytes and ends of records that are known to be one each."""
        self._stream, self._feed, self._constants = stream, feed, constants
        kernel = kernel_for(len(data))
        if places is None:
            self._records = records_of(data, feed.delimiter, kernel)
        else:
            self._records = placed_records(data, *places, kernel)
        self.lines = self._records.lines
        self._wanted, self._refusal = _wanted(names, stream, feed, constants)
        self._width = len(names)
        fields = [field for _, field in self._wanted]
        columns = None if kernel is None or self._refusal else kernel_columns(fields, feed)
        self._kernel = None if columns is None else KernelReader(columns, self.lines, names, feed.delimiter)
        self._convert = pcsv.ConvertOptions(
            column_types={str(place): text_type(field.type, feed) for place, field in self._wanted},
            include_columns=list(dict.fromkeys(str(place) for place, _ in self._wanted)),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        )

    def read(self, chosen: Indices) -> pa.Table:
        """The chosen records as rows of the declared schema. Raises Malformed."""
        if self._refusal:
            raise Malformed(self._refusal)
        if self._records.unclosed[chosen].any():
            raise Malformed("a quote is not closed")
        text = self.lines.join(chosen)
        check_utf8(text)
        if len(chosen) > 1 and _lone_return(text):
            raise Malformed("a carriage return outside quotes")
        try:
            table = pcsv.read_csv(
                pa.BufferReader(text),
                read_options=pcsv.ReadOptions(
                    use_threads=False,
                    block_size=max(min(_READ_SIZE, text.size), self.lines.longest) + 2,
                    column_names=[str(place) for place in range(self._width)],
                ),
                parse_options=pcsv.ParseOptions(
                    delimiter=self._feed.delimiter, newlines_in_values=self._records.quoted
                ),
                convert_options=self._convert,
            )
        except pa.ArrowInvalid as error:
            raise Malformed(_reason(str(error))) from None
        if table.num_rows != len(chosen):
            raise Malformed("a carriage return outside quotes")
        columns = {field.source: table.column(str(place)).combine_chunks() for place, field in self._wanted}
        return self._declared(columns, table.num_rows)

    def _declared(self, columns: Mapping[str, pa.Array], rows: int) -> pa.Table:
        """Rows of the declared schema from columns by their names in the source. Raises Malformed."""
        columns = {field.name: columns[field.source] for _, field in self._wanted}
        return declared(columns, self._constants, rows, self._stream, self._feed)

    def usual(self, chosen: Indices) -> Iterator[tuple[pa.Table, Indices]]:
        """Those of the chosen records that the kernel reads, as `read` would, in parts."""
        return iter(()) if self._kernel is None else self._kernel.tables(chosen, self._declared)

    def explain(self, record: int) -> str | None:
        """Why the record is certainly refused, or None."""
        if self._refusal or self._records.unclosed[record]:
            return self._refusal or "a quote is not closed"
        return why_not(self.lines[record], self._width, self._wanted, self._feed)

    def longer_than(self, most: int) -> Indices:
        """The records that have more bytes, rising."""
        return self.lines.longer_than(most)

    def octets(self, record: int) -> bytes:
        """The bytes of a record, without its line end."""
        return self.lines[record]


def columns_of(data: memoryview, stream: Stream | None, feed: FeedFormat) -> tuple[tuple[str, ...], int]:
    """The columns of a file from its first bytes, and how many bytes of them are its header.

    Without a header, columns are the stream's fields in order of declaration, constants left out: only
    then is the stream needed.
    """
    if not feed.header:
        assert stream is not None
        constants = dict(feed.constants)
        return tuple(feed.source(f.name) for f in stream.fields if f.name not in constants), 0
    start = 0
    while bytes(data[start : start + 1]) in (b"\r", b"\n"):
        start += 1
    rest = data[start:]
    first = bytes(rest[: complete(rest, feed.delimiter, records=1) or len(rest)])
    cells = next(csv.reader([first.decode(errors="replace")], delimiter=feed.delimiter), [])
    return tuple(cell.strip() for cell in cells), start + len(first)


def _wanted(
    names: tuple[str, ...], stream: Stream, feed: FeedFormat, constants: Collection[str]
) -> tuple[list[tuple[int, Wanted]], str | None]:
    """Where each field that is read stands, from 0; and why no record can be an event, if so."""
    found: list[tuple[int, Wanted]] = []
    for field in wanted_fields(stream, feed, constants):
        if names.count(field.source) > 1:
            return [], f"two columns are called `{field.source}`"
        if field.source in names and isinstance(field.type, Scalar):
            found.append((names.index(field.source), field))
        elif field.required and not isinstance(field.type, Scalar):
            return [], f"{lacks(field.name)}: CSV has no lists and records"
        elif field.required:
            return [], f"{lacks(field.name)}: the file has no column `{field.source}`"
    return found, None


def _lone_return(text: pa.Buffer) -> bool:
    octets = np.frombuffer(text, np.uint8)
    returns = np.flatnonzero(octets[:-1] == ord("\r"))
    return bool((octets[returns + 1] != ord("\n")).any())


def _reason(message: str) -> str:
    """Arrow's message without its own row number."""
    return re.sub(r"^(CSV parse error: |In CSV column #\d+: )?(Row #\d+: )?", "", message)
