"""Where the records of CSV text begin and end (RFC 4180): a line end inside quotes ends nothing.

As Arrow reads it, a quote opens a quoted field only as the field's first character, and after the
closing quote the field goes on unquoted. A quote that is never closed spoils its own line only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cep.decode.lines import Lines, Octets
from cep.decode.salvage import Indices

if TYPE_CHECKING:
    from cep.decode.compiled import Kernel

_QUOTE, _NEWLINE, _RETURN = ord('"'), ord("\n"), ord("\r")


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a block. `unclosed[i]`: record i has a quote that is never closed."""

    lines: Lines
    unclosed: NDArray[np.bool_]
    quoted: bool


def records_of(data: memoryview, delimiter: str, kernel: Kernel | None = None) -> Records:
    """The records of a block that ends where a record ends; with the kernel, if that is to read them."""
    if kernel is not None and (found := _by_kernel(data, delimiter, kernel)) is not None:
        return found
    octets = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(octets == _QUOTE)
    if not len(quotes):
        lines = replace(Lines.of(data, b""), kernel=kernel)
        return Records(lines, np.zeros(len(lines), np.bool_), False)
    if len(quotes) % 2 == 0 and _well_placed(octets, quotes, ord(delimiter)):
        stops = np.append(_outside(octets, quotes), len(octets))
        spoilt: set[int] = set()
    else:
        stops, spoilt = _by_grammar(data, delimiter)
    lines = replace(Lines.between(data, np.concatenate([[0], stops[:-1] + 1]), stops, b""), kernel=kernel)
    return Records(lines, np.array([int(start) in spoilt for start in lines.starts], np.bool_), True)


def placed_records(data: memoryview, starts: Indices, ends: Indices, kernel: Kernel | None) -> Records:
    """The records that are given by their first byte and their end."""
    lines = Lines.placed(data, starts, ends, kernel)
    return Records(lines, np.zeros(len(lines), np.bool_), bool((lines.octets == _QUOTE).any()))


def why_not_one(value: bytes, delimiter: str) -> str | None:
    """The reason why a value is not one record of CSV; None if it is."""
    stops, spoilt = _by_grammar(memoryview(value), delimiter)
    if spoilt:
        return "a quote is not closed"
    return None if len(stops) == 1 else "more than one record of CSV in the value"


def _by_kernel(data: memoryview, delimiter: str, kernel: Kernel) -> Records | None:
    """The records, if all quotes are where they should be."""
    quotes = np.zeros(1, np.int64)

    def find(octets: Octets, starts: Indices, ends: Indices, beyond: Indices) -> int:
        return kernel.find_records(octets, ord(delimiter), starts, ends, beyond, quotes)

    lines = Lines.found(data, kernel, find)
    return None if lines is None else Records(lines, np.zeros(len(lines), np.bool_), bool(quotes[0]))


def complete(data: memoryview, delimiter: str, records: int | None = None) -> int:
    """The number of bytes from the start that are whole records with their line ends, or the first of them.

    0 if not even one record (or as many as asked for) is whole.
    """
    octets = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(octets == _QUOTE)
    if not len(quotes) or _well_placed(octets, quotes[: len(quotes) // 2 * 2], ord(delimiter)):
        stops = _outside(octets, quotes)
    else:
        stops = _by_grammar(data, delimiter, whole=False)[0]
    number = len(stops) if records is None else records
    return int(stops[number - 1]) + 1 if 0 < number <= len(stops) else 0


def _outside(octets: NDArray[np.uint8], quotes: Indices) -> Indices:
    """The line ends with an even number of quotes before them."""
    newlines = np.flatnonzero(octets == _NEWLINE)
    outside: Indices = newlines[np.searchsorted(quotes, newlines) % 2 == 0]
    return outside


def _well_placed(octets: NDArray[np.uint8], quotes: Indices, delimiter: int) -> bool:
    """True if odd quotes open a field and even ones close it (or are a doubled quote inside), so that
    counting quotes finds what is quoted."""
    opening, closing = quotes[::2], quotes[1::2]
    before = octets[opening[opening > 0] - 1]
    behind = octets[closing[closing < len(octets) - 1] + 1]
    return bool(
        np.isin(before, [delimiter, _NEWLINE, _QUOTE]).all()
        and np.isin(behind, [delimiter, _NEWLINE, _RETURN, _QUOTE]).all()
    )


def _by_grammar(data: memoryview, delimiter: str, whole: bool = True) -> tuple[Indices, set[int]]:
    """Line ends of records, and the starts of those with an unclosed quote; unless `whole`, what the
    block's end cuts off is left out."""
    mark = re.escape(delimiter.encode())
    field = rb'(?:"[^"]*+(?:""[^"]*+)*+"[^' + mark + rb'\n]*+|(?!")[^' + mark + rb"\n]*+)"
    record = re.compile(field + rb"(?:" + mark + field + rb")*+(?=(\n)|\Z)")
    stops, spoilt, start = [], set(), 0
    while start < len(data):
        found = record.match(data, start)
        if found is not None:
            stop = found.end()
        elif not whole:
            break
        else:
            spoilt.add(start)
            rest = re.compile(rb"\n").search(data, start)
            stop = rest.start() if rest else len(data)
        if stop == len(data) and not whole:
            break
        stops.append(stop)
        start = stop + 1
    return np.array(stops, np.int64), spoilt
