"""`+ - * / %` and minus over Arrow columns of numbers, times and durations; what does not fit is null."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rules.types import Scalar, Type

Mask = npt.NDArray[np.bool_]
_LEAST, _GREATEST = -(2**63), 2**63 - 1
_BOUND = 9.223372036854775808e18


def arithmetic(operator: str, left: pa.Array, right: pa.Array, type_: Type) -> tuple[pa.Array, int]:
    """The values of the operator, and how many had no room in the result's type and became null.

    Division by zero is null and not counted; `/` is computed in doubles; `%` has the dividend's sign.
    """
    a, b = values(left), values(right)
    null = nulls(left) | nulls(right)
    if operator == "/" or a.dtype == np.float64 or b.dtype == np.float64:
        return _floating(operator, a.astype(np.float64), b.astype(np.float64), null, type_)
    with np.errstate(all="ignore"):
        if operator == "+":
            result = a + b
            over = ((a ^ result) & (b ^ result)) < 0
        elif operator == "-":
            result = a - b
            over = ((a ^ b) & (a ^ result)) < 0
        elif operator == "*":
            result = a * b
            over = _product_overflows(a, b, result)
        else:
            # The divisors 0 (null) and -1 (whose quotient may overflow) leave nothing.
            safe = np.where((b == 0) | (b == -1), 1, b)
            result = np.fmod(a, safe)
            null = null | (b == 0)
            over = np.zeros(len(a), bool)
    return _known(result, null, over)


def negate(operand: Any, type_: Type) -> tuple[Any, int]:
    """Arithmetic minus; the least long has no opposite."""
    if isinstance(operand, pa.Scalar):
        value = operand.as_py()
        gone = value is not None and type_ is not Scalar.DOUBLE and value == _LEAST
        return pa.scalar(None if gone or value is None else -value, operand.type), int(gone)
    a = values(operand)
    with np.errstate(all="ignore"):
        over = np.zeros(len(a), bool) if a.dtype == np.float64 else a == _LEAST
        return _known(-a, nulls(operand), over)


def whole(result: npt.NDArray[np.float64], null: Mask) -> tuple[pa.Array, int]:
    """Doubles as whole numbers, halves away from zero."""
    below = np.floor(np.abs(result))
    near = np.copysign(below + (np.abs(result) - below >= 0.5), result)
    over = ~((near >= -_BOUND) & (near < _BOUND))
    return _known(np.where(over, 0.0, near).astype(np.int64), null, over)


def finite(result: npt.NDArray[np.float64], null: Mask) -> tuple[pa.Array, int]:
    """Doubles, with what is not finite made null and counted."""
    return _known(result, null, ~np.isfinite(result))


def values(array: pa.Array) -> npt.NDArray[Any]:
    """The values as numpy, 0 where null."""
    if array.null_count:
        array = array.fill_null(False if pa.types.is_boolean(array.type) else 0)
    if pa.types.is_null(array.type):
        return np.zeros(len(array), np.int64)
    return np.asarray(array.to_numpy(zero_copy_only=False))


def nulls(array: pa.Array) -> Mask:
    """Where the values are null."""
    if not array.null_count:
        return np.zeros(len(array), bool)
    return np.asarray(array.is_null().to_numpy(zero_copy_only=False))


def _floating(
    operator: str, a: npt.NDArray[np.float64], b: npt.NDArray[np.float64], null: Mask, type_: Type
) -> tuple[pa.Array, int]:
    with np.errstate(all="ignore"):
        if operator == "+":
            result = a + b
        elif operator == "-":
            result = a - b
        elif operator == "*":
            result = a * b
        else:
            null = null | (b == 0)
            divisor = np.where(b == 0, 1.0, b)
            result = a / divisor if operator == "/" else np.fmod(a, divisor)
        return finite(result, null) if type_ is Scalar.DOUBLE else whole(result, null)


def _product_overflows(a: npt.NDArray[Any], b: npt.NDArray[Any], result: npt.NDArray[Any]) -> Mask:
    if not len(a):
        return np.zeros(0, bool)
    most = max(abs(int(a.min())), abs(int(a.max()))) * max(abs(int(b.min())), abs(int(b.max())))
    if most <= _GREATEST:
        return np.zeros(len(a), bool)
    divisor = np.where((a == 0) | (a == -1), 1, a)
    wrong = (result // divisor != b) | (result % divisor != 0)
    return np.where(a == 0, False, np.where(a == -1, b == _LEAST, wrong))


def _known(result: npt.NDArray[Any], null: Mask, over: Mask) -> tuple[pa.Array, int]:
    lost = over & ~null
    gone = null | over
    count = int(np.count_nonzero(lost))
    return pa.array(result, mask=gone if gone.any() else None), count
