"""`+ - *` over Arrow columns of decimals, exact in 256 bits and then rounded as decimals are."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from cep.expressions.held import held
from rules.decimals import DIGITS, SCALE
from rules.types import Scalar

_WIDE = pa.decimal256(DIGITS, SCALE)
_NARROWER = pa.decimal256(DIGITS - 1, SCALE)
"""Of 37 and 38 digits a product has 76, as many as 256 bits hold."""
_DIFFERENCE = pa.decimal256(75, 2 * SCALE)
"""What one less digit is for: the type of a difference has one more."""
_HALF = pa.scalar(Decimal(5).scaleb(-SCALE - 1), pa.decimal256(76, 2 * SCALE))


def arithmetic(operator: str, left: pa.Array, right: pa.Array) -> pa.Array | None:
    """The values of the operator; None where it must be done row by row, as where one has no room."""
    try:
        a, b = left.cast(_WIDE), right.cast(_WIDE)
        match operator:
            case "+":
                exact = pc.add(a, b)
            case "-":
                exact = pc.subtract(a, b)
            case "*":
                exact = _rounded(pc.multiply(a.cast(_NARROWER), b))
            case _:
                return None
        return None if exact is None else exact.cast(held(Scalar.DECIMAL))
    except pa.ArrowInvalid:
        return None


def _rounded(product: pa.Array) -> pa.Array | None:
    """The products at the eighteenth digit; None where Arrow's division went wrong.

    Dividing 256 bits, Arrow 26 is one off for some values: 409599.9999999999999999996204 becomes
    409599.999999999999999999. What is further than a half from what it was rounded from shows that.
    """
    rounded = pc.round(product, SCALE, "half_towards_infinity")
    moved = pc.abs(pc.subtract(product.cast(_DIFFERENCE), rounded.cast(_DIFFERENCE)))
    return None if pc.any(pc.greater(moved, _HALF)).as_py() else rounded
