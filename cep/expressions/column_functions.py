"""The functions of the rule language over Arrow columns (docs/language.md, Expressions)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cep.expressions.column_arithmetic import finite, nulls, values, whole
from cep.expressions.functions import EARTH_RADIUS_KM
from cep.expressions.numbers import MOST_DIGITS
from cep.expressions.strings import in_cidr
from rules.types import Scalar, Type

_HOUR = 3_600_000_000_000
Result = tuple[pa.Array, int]


def call(
    function: str, arguments: Sequence[pa.Array], constants: Sequence[object], type_: Type
) -> Result | None:
    """The function's values and how many had no room in the type; None where it must be done row by row.

    `constants[i]` is the value of an argument that is a literal, else None.
    """
    if any(pa.types.is_null(a.type) or pa.types.is_decimal(a.type) for a in arguments):
        return None
    return _FUNCTIONS[function](arguments, constants, type_)


def _abs(arguments: Sequence[pa.Array], _: Sequence[object], __: Type) -> Result:
    a, null = values(arguments[0]), nulls(arguments[0])
    with np.errstate(all="ignore"):
        over = (np.abs(a) < 0) & ~null
        return pa.array(np.abs(a), mask=null | over), int(np.count_nonzero(over))


def _round(arguments: Sequence[pa.Array], constants: Sequence[object], type_: Type) -> Result | None:
    if arguments[0].type != pa.float64():
        return (arguments[0], 0) if len(arguments) == 1 else None
    digits = 0
    if len(arguments) == 2:
        if not isinstance(constants[1], int):
            return None
        digits = constants[1]
    if abs(digits) > MOST_DIGITS:
        return None
    a, null = values(arguments[0]), nulls(arguments[0])
    factor = 10.0 ** abs(digits)
    with np.errstate(all="ignore"):
        scaled = a * factor if digits >= 0 else a / factor
        below = np.floor(np.abs(scaled))
        near = np.copysign(below + (np.abs(scaled) - below >= 0.5), scaled)
        result = np.where(np.isfinite(scaled), near / factor if digits >= 0 else near * factor, a)
        return finite(result, null) if type_ is Scalar.DOUBLE else whole(result, null)


def _substr(arguments: Sequence[pa.Array], constants: Sequence[object], _: Type) -> Result | None:
    start, length = constants[1], constants[2] if len(arguments) == 3 else None
    if not isinstance(start, int) or (len(arguments) == 3 and not (isinstance(length, int) and length >= 0)):
        return None
    stop = None if length is None else max(start + length, 0)  # type: ignore[operator]
    return pc.utf8_slice_codeunits(arguments[0], max(start, 0), stop), 0


def _length(arguments: Sequence[pa.Array], _: Sequence[object], __: Type) -> Result:
    of = pc.list_value_length if pa.types.is_list(arguments[0].type) else pc.utf8_length
    return of(arguments[0]).cast(pa.int64()), 0


def _case(function: Callable[[pa.Array], pa.Array]) -> Callable[..., Result]:
    return lambda arguments, *_: (function(arguments[0]), 0)


def _clock(part: Callable[[Any], Any], of_utc: Callable[[Any], Any]) -> Callable[..., Result | None]:
    def read(arguments: Sequence[pa.Array], constants: Sequence[object], _: Type) -> Result | None:
        zone = "UTC" if len(arguments) == 1 else constants[1]
        if zone == "UTC":
            null = nulls(arguments[0])
            return pa.array(of_utc(values(arguments[0]) // _HOUR), mask=null), 0
        if not isinstance(zone, str):
            return None
        try:
            local = arguments[0].cast(pa.timestamp("ns", zone))
            return part(local).cast(pa.int64()), 0
        except pa.ArrowInvalid:
            # An unknown zone: row by row it is null.
            return None

    return read


def _distance(arguments: Sequence[pa.Array], _: Sequence[object], __: Type) -> Result:
    null = nulls(arguments[0]) | nulls(arguments[1]) | nulls(arguments[2]) | nulls(arguments[3])
    latitude, longitude, latitude2, longitude2 = (values(a).astype(np.float64) for a in arguments)
    a, b = np.radians(latitude), np.radians(latitude2)
    across = np.sin(np.radians(longitude2 - longitude) / 2)
    along = np.sin((b - a) / 2)
    chord = along * along + np.cos(a) * np.cos(b) * across * across
    return finite(2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.minimum(1.0, chord))), null)


def _in_cidr(arguments: Sequence[pa.Array], constants: Sequence[object], _: Type) -> Result | None:
    block = constants[1]
    if not isinstance(block, str):
        return None
    encoded = arguments[0].dictionary_encode()
    answers = [None if a is None else in_cidr(a, block) for a in encoded.dictionary.to_pylist()]
    return pa.array(answers, pa.bool_()).take(encoded.indices), 0


_FUNCTIONS: dict[str, Callable[[Sequence[pa.Array], Sequence[object], Type], Result | None]] = {
    "abs": _abs,
    "round": _round,
    "lower": _case(pc.utf8_lower),
    "upper": _case(pc.utf8_upper),
    "length": _length,
    "substr": _substr,
    "hour": _clock(pc.hour, lambda hours: hours % 24),
    "weekday": _clock(lambda time: pc.add(pc.day_of_week(time), 1), lambda hours: (hours // 24 + 3) % 7 + 1),
    "distance_km": _distance,
    "in_cidr": _in_cidr,
}
