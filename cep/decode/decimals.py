"""Texts of decimals, checked before Arrow reads them, because it shifts some beyond what 128 bits hold.

Arrow looks up a power of ten without a bound (`1e-57` became 0, `1e-999999999` ended the process), and its
test for an overflow misses some (`3e22` became 551...). So what it is given has at most 20 digits before the
point and no exponent below -18. Seen in Arrow 26.0: `BasicDecimal128::Rescale`.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cep.decode.lines import Lines
from cep.decode.malformed import Malformed
from cep.events import arrow_type
from rules.decimals import DIGITS, SCALE
from rules.types import ListOf, Record, Scalar, Type

_WHOLE = DIGITS - SCALE
_STRIDE = (_WHOLE + 1) // 3
"""A run of more than 20 digits has three digits among the bytes, one of so many, that are looked at."""

_RUN = re.compile(rb"\d{%d}" % (_WHOLE + 1))
_POWER = re.compile(rb'[eE](?:-0*(?:19|[2-9]\d|[1-9]\d\d)|\+?0*[1-9])\d*(?=[\s,}\]"])')
"""An exponent below -18 or above 0, at the end of a number."""
_MANTISSA = re.compile(rb'(?:^|[\s:,\["])[-+]?[\d.]+\Z')
_REACH = 64
"""Bytes before an exponent in which its number begins; one that is longer counts as one, whatever it is."""
_ESCAPED = re.compile(rb"\\u00(?:[46]5|2[bdeBDE]|3\d)")
"""In a string, a part of a number may be escaped: `e`, `+`, `-`, a point, a digit."""

_NUMBER = re.compile(r"[-+]?(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d+))?", re.ASCII)
_FAR = 9
"""Digits of an exponent that is beyond all bounds."""


def holds_decimals(type_: Type) -> bool:
    """True if the type is a decimal, or a list or record with a decimal inside."""
    match type_:
        case ListOf(element):
            return holds_decimals(element)
        case Record(fields):
            return any(holds_decimals(part) for _, part in fields)
        case _:
            return type_ is Scalar.DECIMAL


def with_long_numbers(lines: Lines) -> NDArray[np.bool_]:
    """A mask of the lines of JSON that may hold a number with an exponent or with over 20 digits in a row."""
    data = lines.data
    found = [place.start() for place in _ESCAPED.finditer(data)]
    found += [
        place
        for place in _exponents(lines.octets).tolist()
        if _POWER.match(data, place) and _MANTISSA.search(data[max(0, place - _REACH) : place])
    ]
    found += [
        place
        for place in _runs(lines.octets).tolist()
        if _RUN.search(data, max(0, place - 2 * _STRIDE), place + 4 * _STRIDE)
    ]
    marked = np.zeros(len(lines), np.bool_)
    if found and len(lines):
        marked[np.maximum(np.searchsorted(lines.starts, found, "right") - 1, 0)] = True
    return marked


def _exponents(octets: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Places of an `e` between what may be parts of one number."""
    found = np.flatnonzero((octets | 0x20) == ord("e"))
    found = found[(found > 0) & (found < len(octets) - 1)]
    before, behind = octets[found - 1], octets[found + 1]
    found = found[(_digits(before) | (before == ord("."))) & (_digits(behind) | (behind < ord(".")))]
    result: NDArray[np.int64] = found
    return result


def _runs(octets: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Places where 15 digits in a row begin, at least one in every run of more than 20."""
    sparse = _digits(octets[::_STRIDE])
    found = np.flatnonzero(sparse[:-2] & sparse[1:-1] & sparse[2:]) * _STRIDE
    for further in range(1, 2 * _STRIDE):
        found = found[_digits(octets[found + further])]
    return found


def _digits(octets: NDArray[np.uint8]) -> NDArray[np.bool_]:
    return octets - np.uint8(ord("0")) < 10


def parse_decimals(cells: pa.Array, name: str) -> pa.Array:
    """Decimals from texts. Raises Malformed."""
    long = pc.match_substring_regex(cells, rf"[eE]|\d{{{_WHOLE + 1}}}")
    for cell in cells.filter(long).to_pylist():
        if reason := misfit(cell, name):
            raise Malformed(reason)
    try:
        return pc.ascii_trim_whitespace(cells).cast(arrow_type(Scalar.DECIMAL))
    except pa.ArrowInvalid as error:
        if any(_number(cell) is None for cell in cells.drop_null().to_pylist()):
            raise Malformed(f"wrong type: `{name}` is a decimal, the text is no number") from None
        raise Malformed(f"`{name}`: {str(error).rstrip('.')}") from None


def _number(text: str) -> re.Match[str] | None:
    """The parts of a number's text: digits before and behind the point, exponent."""
    found = _NUMBER.fullmatch(text.strip())
    return found if found is not None and (found[1] or found[2]) else None


def misfit(text: str, name: str) -> str | None:
    """The reason why a number's text is no decimal; None where it fits, or is no number."""
    found = _number(text)
    if found is None:
        return None
    whole, fraction, written = found[1], found[2] or "", found[3] or "0"
    far = written.lstrip("+-").lstrip("0")[:_FAR] or "0"
    exponent = -int(far) if written.startswith("-") else int(far)
    digits = (whole + fraction).lstrip("0")
    behind = len(fraction) - exponent
    if exponent < -SCALE:
        return f"`{name}` is written with an exponent below -{SCALE}"
    if digits and behind - (len(digits) - len(digits.rstrip("0"))) > SCALE:
        return f"`{name}` has more than {SCALE} digits behind the point"
    if digits and len(digits) - behind > _WHOLE:
        return f"`{name}` has more than {_WHOLE} digits before the point"
    return None
