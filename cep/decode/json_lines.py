"""JSON lines: one object a line, read by column.

Malformed is a line that is not exactly one JSON object in UTF-8, or in which a declared field is
missing though required, occurs twice, or has another type. Numbers never become strings nor strings
numbers (but a decimal may be written as a string, which is how alerts write it); `1` is a double,
`1.0` is no long. Fields that are not declared are ignored, whatever they hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.decode.arrow_json import read_objects
from cep.decode.convert import declared, json_type, wanted_fields
from cep.decode.decimals import holds_decimals, with_long_numbers
from cep.decode.formats import FeedFormat
from cep.decode.json_reasons import why_not
from cep.decode.kernel_reader import KernelReader, kernel_columns
from cep.decode.lines import Lines, check_utf8
from cep.decode.malformed import Malformed
from cep.decode.patience import kernel_for
from cep.decode.salvage import Indices
from rules.typed import Stream

_UNSURE = "has a number with an exponent or many digits beside something that is not JSON"
_OPEN, _CLOSE, _RETURN = ord("{"), ord("}"), ord("\r")


class JsonReader:
    """Reads the lines of one block."""

    def __init__(
        self,
        data: memoryview,
        stream: Stream,
        feed: FeedFormat,
        constants: dict[str, pa.Scalar],
        places: tuple[Indices, Indices] | None = None,
    ) -> None:
        """`places` has first bytes and ends of lines that are known; none has a line end within."""
        kernel = kernel_for(len(data))
        if places is None:
            lines = None if kernel is None else Lines.found(data, kernel, kernel.find_lines)
            self.lines = Lines.of(data) if lines is None else lines
        else:
            self.lines = Lines.placed(data, *places, kernel)
        self._stream, self._feed, self._constants = stream, feed, constants
        self._wanted = wanted_fields(stream, feed, constants)
        types = {field.source: json_type(field.type, feed) for field in self._wanted}
        self._schema = pa.schema(list(types.items()))
        columns = None if kernel is None else kernel_columns(self._wanted, feed)
        self._kernel = None if columns is None else KernelReader(columns, self.lines)

    def usual(self, chosen: Indices) -> Iterator[tuple[pa.Table, Indices]]:
        """Those of the chosen lines that the kernel reads, as `read` would, in parts."""
        return iter(()) if self._kernel is None else self._kernel.tables(chosen, self._declared)

    def read(self, chosen: Indices) -> pa.Table:
        """The chosen lines as rows of the declared schema. Raises Malformed."""
        # Between two tokens `}` and `{` JSON allows a line end only where an object is complete. So if
        # each line begins and ends with a brace and Arrow finds as many objects as lines, each line is one.
        if not self._objects[chosen].all():
            raise Malformed("not one JSON object")
        if self._long is not None:
            for record in chosen[self._long[chosen]]:
                if reason := self.explain(int(record)):
                    raise Malformed(reason)
        text = self.lines.join(chosen)
        check_utf8(text)
        table = read_objects(text, self._schema, self.lines.longest)
        if table.num_rows != len(chosen):
            raise Malformed("more than one JSON object in the line")
        columns = {name: table.column(name).combine_chunks() for name in self._schema.names}
        return self._declared(columns, table.num_rows)

    def _declared(self, columns: Mapping[str, pa.Array], rows: int) -> pa.Table:
        """Rows of the declared schema from columns by their names in the source. Raises Malformed."""
        columns = {field.name: columns[field.source] for field in self._wanted}
        return declared(columns, self._constants, rows, self._stream, self._feed)

    def explain(self, record: int) -> str | None:
        """Why the line is certainly refused, or None."""
        unsure = _UNSURE if self._long is not None and self._long[record] else None
        reason = why_not(self.lines[record], self._wanted, self._feed, unsure)
        return reason or (None if self._objects[record] else "not one JSON object")

    def longer_than(self, most: int) -> Indices:
        """The records that have more bytes, rising."""
        return self.lines.longer_than(most)

    def octets(self, record: int) -> bytes:
        """The bytes of a line, without its line end."""
        return self.lines[record]

    @cached_property
    def _long(self) -> NDArray[np.bool_] | None:
        decimals = any(holds_decimals(field.type) for field in self._wanted)
        return with_long_numbers(self.lines) if decimals else None

    @cached_property
    def _objects(self) -> NDArray[np.bool_]:
        lines = self.lines
        first, last = lines.octets[lines.starts], lines.octets[lines.ends - 1]
        shaped: NDArray[np.bool_] = (first == _OPEN) & (last == _CLOSE)
        for record in np.flatnonzero(~shaped):
            line = lines[int(record)].strip(b" \t\r")
            shaped[record] = line.startswith(b"{") and line.endswith(b"}")
        return shaped
