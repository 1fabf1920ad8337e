"""Durations by column: ISO 8601 or the language's own notation -> duration[ns]."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from cep.decode.arrays import numbers
from cep.decode.malformed import Malformed

_NANOS = pa.duration("ns")
_UNITS = {"W": 604_800, "D": 86_400, "H": 3_600, "M": 60, "S": 1}
_ISO = re.compile(
    r"(?P<sign>-?)P(?=.)(?:(?P<W>\d+)W)?(?:(?P<D>\d+)D)?"
    r"(?:T(?=.)(?:(?P<H>\d+)H)?(?:(?P<M>\d+)M)?(?:(?P<S>\d+(?:\.\d{1,9})?)S)?)?"
)


def parse_durations(values: pa.Array, field: str) -> pa.Array:
    """Durations from text such as `PT1M30S` (no years or months: their length is not fixed).

    Nulls stay null. Raises Malformed, naming the field, if any value is no duration.
    """
    if pa.types.is_duration(values.type):
        return values
    distinct = values.dictionary_encode()
    nanos = [_nanoseconds(text, field) for text in distinct.dictionary.to_pylist()]
    return numbers(np.array(nanos, np.int64), _NANOS).take(distinct.indices)


def _nanoseconds(text: str, field: str) -> int:
    found = _ISO.fullmatch(text)
    if found is None:
        raise Malformed(f"`{field}` is not an ISO 8601 duration: {text}")
    total = 0
    for letter, seconds in _UNITS.items():
        whole, _, fraction = (found[letter] or "0").partition(".")
        total += (int(whole) * 10**9 + int(fraction.ljust(9, "0") or 0)) * seconds
    if total >= 2**63:
        raise Malformed(f"`{field}` is a duration of more than 292 years: {text}")
    return -total if found["sign"] else total
