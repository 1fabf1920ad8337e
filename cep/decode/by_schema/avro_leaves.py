"""Values of Avro without parts: how they are written, the Arrow type of their column, what they are in it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa

from cep.decode.by_schema.avro_schema import Fixed, Logical
from cep.decode.malformed import Malformed
from cep.decode.timestamps import INSTANT

_TIMES = {
    ("int", "date"): pa.date32(),
    ("int", "time-millis"): pa.time32("ms"),
    ("long", "time-micros"): pa.time64("us"),
    ("long", "timestamp-millis"): pa.timestamp("ms", "UTC"),
    ("long", "timestamp-micros"): pa.timestamp("us", "UTC"),
    ("long", "timestamp-nanos"): INSTANT,
    ("long", "local-timestamp-millis"): pa.timestamp("ms"),
    ("long", "local-timestamp-micros"): pa.timestamp("us"),
    ("long", "local-timestamp-nanos"): pa.timestamp("ns"),
}
LAPSE = pa.duration("ms")
"""The logical type `duration`: months, days and milliseconds."""
_LAPSE_BYTES, _UUID_BYTES = 12, 16
_MOST_DECIMAL_BYTES = 64
"""Bytes of a decimal that are looked at; 76 digits have half of them."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value without parts: `written` is its kind in the bytes, `size` that of a fixed one, `symbols` are
    those of an enum as the reader has them, None where it has none."""

    written: str
    type: pa.DataType
    size: int = 0
    symbols: tuple[str | None, ...] = ()


def type_of_primitive(kind: str, logical: Logical) -> pa.DataType:
    """The Arrow type of what a reader has as a primitive."""
    if (kind, logical.name) in _TIMES:
        return _TIMES[kind, logical.name]
    match kind:
        case "null":
            return pa.null()
        case "boolean":
            return pa.bool_()
        case "int" | "long":
            return pa.int64()
        case "float" | "double":
            return pa.float64()
        case "bytes":
            return _decimal(logical) or pa.binary()
        case _:
            return pa.string()


def type_of_fixed(node: Fixed) -> pa.DataType:
    """The Arrow type of what a reader has as fixed."""
    if node.logical.name == "duration" and node.size == _LAPSE_BYTES:
        return LAPSE
    if node.logical.name == "uuid" and node.size == _UUID_BYTES:
        return pa.string()
    return _decimal(node.logical) or pa.binary()


def _decimal(logical: Logical) -> pa.DataType | None:
    if logical.name != "decimal" or logical.precision > 76:
        return None
    if logical.precision > 38:
        return pa.decimal256(logical.precision, logical.scale)
    return pa.decimal128(logical.precision, logical.scale)


def converted(leaf: Leaf, raw: Any) -> Any:
    """A value of the column from what was written: bytes of a text, of a fixed value. Raises Malformed."""
    type_ = leaf.type
    match leaf.written:
        case "null" | "boolean" | "enum":
            return raw
        case "int" | "long":
            return float(raw) if pa.types.is_floating(type_) else raw
        case "float" | "double":
            return float(raw)
    if pa.types.is_string(type_):
        return str(UUID(bytes=raw)) if leaf.written == "fixed" else _text(raw)
    if pa.types.is_decimal(type_):
        return _number(raw, type_)
    return _milliseconds(raw) if type_ == LAPSE else raw


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise Malformed("not valid UTF-8") from None


def _number(raw: bytes, type_: pa.DataType) -> Decimal:
    unscaled = int.from_bytes(raw, "big", signed=True)
    digits = str(abs(unscaled)) if len(raw) <= _MOST_DECIMAL_BYTES else ""
    if not 0 < len(digits) <= type_.precision:
        raise Malformed(f"more than {type_.precision} digits")
    return Decimal((int(unscaled < 0), tuple(map(int, digits)), -type_.scale))


def _milliseconds(raw: bytes) -> int:
    months, days, millis = (int.from_bytes(raw[at : at + 4], "little") for at in (0, 4, 8))
    if months:
        raise Malformed("a duration with months, whose length is not fixed")
    return days * 86_400_000 + millis
