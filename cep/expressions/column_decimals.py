"""`+ - *` over Arrow columns of decimals, exact in 256 bits and then rounded as decimals are."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from cep.expressions.held import held
from rules.decimals import DIGITS, SCALE
from rules.types import Scalar

_WIDE = pa.decimal256(DIGITS, SCALE)
_NARROWER = pa.decimal256(DIGITS - 1, SCALE)
"""Of 37 and 38 digits a product has 76, as many as 256 bits hold."""


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
                product = pc.multiply(a.cast(_NARROWER), b)
                exact = pc.round(product, SCALE, "half_towards_infinity")
            case _:
                return None
        return exact.cast(held(Scalar.DECIMAL))
    except pa.ArrowInvalid:
        return None
