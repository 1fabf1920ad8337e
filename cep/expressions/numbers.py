"""Arithmetic on single values: 64-bit longs, doubles, decimals, times and durations.

What the result's type cannot hold is null, and so is a division by zero: an event must not stop a stream.
"""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation

from rules.decimals import EXACT, fitting
from rules.types import Scalar, Type

LEAST_LONG, GREATEST_LONG = -(2**63), 2**63 - 1
MOST_DIGITS = 308
"""The greatest power of ten that is a double."""
_WHOLE = frozenset({Scalar.LONG, Scalar.TIMESTAMP, Scalar.DURATION})


def bounded(value: object, type_: Type) -> object:
    """The value as its type holds it, or None if it cannot.

    Whole types round half away from zero; decimals likewise at the eighteenth digit.
    """
    if type_ is Scalar.DOUBLE and value is not None:
        number = float(value)  # type: ignore[arg-type]
        return number if math.isfinite(number) else None
    if type_ in _WHOLE and value is not None:
        return whole(value)  # type: ignore[arg-type]
    if type_ is Scalar.DECIMAL and value is not None:
        exact = value if isinstance(value, Decimal) else Decimal(value)  # type: ignore[arg-type]
        return fitting(exact)
    return value


def whole(value: int | float | Decimal) -> int | None:
    """The nearest whole number, halves away from zero, or None outside 64 bits."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        value = int(round_half_away(value, 0))
    elif isinstance(value, Decimal):
        value = int(value.quantize(Decimal(1), context=EXACT))
    return value if LEAST_LONG <= value <= GREATEST_LONG else None


def round_half_away(value: float, digits: int) -> float:
    """A finite double to so many digits, halves away from zero: value * 10**digits is rounded, as Arrow does.

    A value that is too great to be scaled has no such digits and stays what it is.
    """
    if abs(digits) > MOST_DIGITS:
        return value if digits > 0 else 0.0
    factor = 10.0 ** abs(digits)
    scaled = value * factor if digits >= 0 else value / factor
    if not math.isfinite(scaled):
        return value
    below = math.floor(abs(scaled))
    nearest = math.copysign(below + (abs(scaled) - below >= 0.5), scaled)
    return nearest / factor if digits >= 0 else nearest * factor


def negate(value: object, type_: Type) -> object:
    """Arithmetic minus; the least long has no opposite."""
    opposite = EXACT.minus(value) if isinstance(value, Decimal) else -value  # type: ignore[operator]
    return bounded(opposite, type_)


def arithmetic(operator: str, left: object, right: object, type_: Type) -> object:
    """`+ - * / %` of two values that are not null, in the result's type.

    `%` has the sign of the dividend; `/` of whole numbers is computed in doubles.
    """
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        return _decimal(operator, left, right, type_)
    a, b = left, right
    result: object
    match operator:
        case "+":
            result = a + b  # type: ignore[operator]
        case "-":
            result = a - b  # type: ignore[operator]
        case "*":
            result = a * b  # type: ignore[operator]
        case "/":
            result = None if b == 0 else float(a) / float(b)  # type: ignore[arg-type]
        case "%":
            result = _remainder(a, b)
        case _:
            raise ValueError(f"no operator is written {operator!r}")
    return bounded(result, type_)


def _remainder(dividend: object, divisor: object) -> object:
    if divisor == 0:
        return None
    if isinstance(dividend, int) and isinstance(divisor, int):
        rest = abs(dividend) % abs(divisor)
        return -rest if dividend < 0 else rest
    return math.fmod(dividend, divisor)  # type: ignore[arg-type]


def _decimal(operator: str, left: object, right: object, type_: Type) -> object:
    a, b = Decimal(left), Decimal(right)  # type: ignore[arg-type]
    if operator in "/%" and b == 0:
        return None
    try:
        match operator:
            case "+":
                result = EXACT.add(a, b)
            case "-":
                result = EXACT.subtract(a, b)
            case "*":
                result = EXACT.multiply(a, b)
            case "/":
                result = EXACT.divide(a, b)
            case _:
                result = EXACT.remainder(a, b)
    except InvalidOperation:
        return None
    return bounded(result, type_)
