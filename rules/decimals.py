"""Decimals: 38 digits, 18 of them behind the point. What has more there is rounded, half away from zero."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_UP, Context, Decimal

DIGITS = 38
SCALE = 18
EXACT = Context(prec=200, Emax=MAX_EMAX, Emin=MIN_EMIN, rounding=ROUND_HALF_UP)
"""Wide enough for the sum, difference and product of any two decimals before they are rounded."""

_UNIT = Decimal(1).scaleb(-SCALE)
_LIMIT = Decimal(10) ** (DIGITS - SCALE)


def fitting(value: Decimal) -> Decimal | None:
    """The value rounded to 18 digits behind the point; None where more than 20 stand before it."""
    if not -_LIMIT < value < _LIMIT:  # `abs` would round to 28 digits
        return None
    rounded = value.quantize(_UNIT, context=EXACT)
    return rounded if -_LIMIT < rounded < _LIMIT else None


def is_exact(value: Decimal) -> bool:
    """True if a decimal holds the value with all its digits."""
    return fitting(value) == value
