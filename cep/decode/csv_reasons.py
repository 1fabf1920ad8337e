"""Why one record of CSV is no event: looked for only where Arrow refused a block with that record.

As for JSON, a reason is given only where it is certain that Arrow refuses the record too.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation

from cep.decode.arrays import texts
from cep.decode.convert import Wanted, lacks
from cep.decode.decimals import misfit
from cep.decode.durations import parse_durations
from cep.decode.formats import EPOCHS, FeedFormat
from cep.decode.malformed import Malformed
from cep.decode.timestamps import certainly_iso, parse_timestamps
from rules.types import Scalar, Type

_LONG = re.compile(r"\s*(-?\d+|-?0[xX][0-9a-fA-F]+)\s*")
_BOOLEANS = ("0", "1", "true", "false", "True", "False", "TRUE", "FALSE")


def why_not(record: bytes, width: int, wanted: Sequence[tuple[int, Wanted]], feed: FeedFormat) -> str | None:
    """The first thing wrong with a record of `width` cells; None if that is not certain.

    `wanted` are the fields with their places in the record, in order of declaration.
    """
    try:
        rows = list(csv.reader([record.decode()], delimiter=feed.delimiter))
    except UnicodeDecodeError as error:
        return f"not valid UTF-8 (byte {error.start} of the record)"
    except csv.Error:
        return None
    if len(rows) != 1 or b"\r" in record:
        return None
    (cells,) = rows
    if len(cells) != width:
        return f"has {len(cells)} cells where the file has {width} columns"
    for place, field in wanted:
        cell = cells[place]
        if cell:
            reason = _wrong(cell, field.type, feed, field.name)
        else:
            reason = lacks(field.name) if field.required else None
        if reason is not None:
            return reason if field.source == field.name else f"{reason} (`{field.source}` in the source)"
    return None


def _wrong(cell: str, type_: Type, feed: FeedFormat, name: str) -> str | None:
    refused = f"wrong type: `{name}` is a {type_}, the cell holds `{cell[:40]}`"
    match type_:
        case Scalar.LONG:
            return refused if not _LONG.fullmatch(cell) else None
        case Scalar.DOUBLE:
            return refused if not _finite(cell) else None
        case Scalar.DECIMAL:
            return refused if not _decimal(cell) else misfit(cell, name)
        case Scalar.BOOLEAN:
            return refused if cell not in _BOOLEANS else None
        case Scalar.DURATION:
            return _refused(lambda: parse_durations(texts([cell]), name))
        case Scalar.TIMESTAMP if feed.timestamps in EPOCHS:
            return refused if not _finite(cell) else None
        case Scalar.TIMESTAMP if not (feed.timestamps == "iso" and certainly_iso(cell)):
            return _refused(lambda: parse_timestamps(texts([cell]), feed, name))
    return None


def _refused(parse: Callable[[], object]) -> str | None:
    try:
        parse()
    except Malformed as error:
        return error.reason
    return None


def _finite(cell: str) -> bool:
    try:
        return abs(float(cell)) < float("inf")
    except ValueError:
        return False


def _decimal(cell: str) -> bool:
    try:
        return Decimal(cell.strip()).is_finite()
    except InvalidOperation:
        return False
