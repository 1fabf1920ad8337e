"""The things that readers need of a schema, whatever its format; columns of the values that it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from cep.decode.by_schema.program import KernelProgram
from cep.decode.convert import declared, lacks, wanted_fields
from cep.decode.formats import FeedFormat
from cep.decode.malformed import Malformed
from cep.decode.parquet_rows import fitted
from rules.typed import Stream
from rules.types import Type

Values = Callable[[bytes, int], Mapping[str, Any]]
"""The values of the record that begins at a place of some bytes and ends with them. Raises Malformed."""
_HOLDER = "the schema has"


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """The stream that values become events of, and how its feed writes them."""

    stream: Stream
    feed: FeedFormat
    constants: Mapping[str, pa.Scalar]

    @property
    def wanted(self) -> dict[str, Type]:
        """The fields that are read, by their names in the source."""
        return {one.source: one.type for one in wanted_fields(self.stream, self.feed, self.constants)}

    @property
    def required(self) -> frozenset[str]:
        """Those without which no record is an event."""
        own = wanted_fields(self.stream, self.feed, self.constants)
        return frozenset(one.source for one in own if one.required)

    def fits(self, type_: pa.DataType, wanted: Type) -> bool:
        """True if a column of an Arrow type can be a field of a type."""
        try:
            fitted(_none_of(type_), wanted, self.feed, "", _HOLDER)
        except Malformed:
            return False
        return True

    def misfits(self, columns: pa.Schema) -> Iterator[tuple[str, str]]:
        """The fields that columns of a schema cannot give, and why."""
        for one in wanted_fields(self.stream, self.feed, self.constants):
            if columns.get_field_index(one.source) < 0:
                if one.required:
                    yield one.name, f"{lacks(one.name)}: the schema has no field `{one.source}`"
                continue
            try:
                fitted(_none_of(columns.field(one.source).type), one.type, self.feed, one.name, _HOLDER)
            except Malformed as error:
                yield one.name, error.reason

    def table(self, columns: Mapping[str, pa.Array], rows: int) -> pa.Table:
        """Rows of the declared schema from columns by their names in the source. Raises Malformed."""
        found = {
            one.name: fitted(columns[one.source], one.type, self.feed, one.name, _HOLDER)
            for one in wanted_fields(self.stream, self.feed, self.constants)
            if one.source in columns
        }
        return declared(found, self.constants, rows, self.stream, self.feed)


@dataclass(frozen=True, slots=True, eq=False)
class Codec:
    """A reading of records of one schema: the Arrow types of the fields that are, and their values.

    `refusal` is why no record of it is an event, if none is. With a `program` the kernel reads what is usual.
    """

    columns: pa.Schema
    values: Values
    refusal: str | None
    program: KernelProgram | None = None


def codec(columns: pa.Schema, values: Values, target: Target) -> Codec:
    """The codec of a schema that gives these columns."""
    return Codec(columns, values, next((reason for _, reason in target.misfits(columns)), None))


def arrays(columns: pa.Schema, rows: Sequence[Mapping[str, Any]]) -> dict[str, pa.Array]:
    """Columns of values. Raises Malformed."""
    found = {}
    for one in columns:
        try:
            found[one.name] = pa.array([row.get(one.name) for row in rows], one.type)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
            raise Malformed(f"`{one.name}`: {error}") from None
    return found


def _none_of(type_: pa.DataType) -> pa.Array:
    return pa.array([], type_)
