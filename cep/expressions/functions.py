"""The functions of the rule language on single values that are not null (docs/language.md, Expressions)."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cep.expressions.numbers import round_half_away
from cep.expressions.strings import in_cidr, lower, substr, upper
from rules.decimals import DIGITS, EXACT, SCALE

EARTH_RADIUS_KM = 6371.0088
"""The mean radius R1 of the International Union of Geodesy and Geophysics."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def call(function: str, arguments: tuple[Any, ...]) -> object:
    """The function's value; None where it has none. `coalesce` is not here: it alone takes nulls."""
    return _FUNCTIONS[function](*arguments)


def _round(value: int | float | Decimal, digits: int = 0) -> object:
    if isinstance(value, float):
        return round_half_away(value, digits)
    if digits >= (0 if isinstance(value, int) else SCALE):
        return value
    # Before the point no number has more than DIGITS digits: all that are further left round to 0.
    unit = Decimal(1).scaleb(min(-digits, DIGITS + 1))
    rounded = EXACT.quantize(Decimal(value), unit)
    return int(rounded) if isinstance(value, int) else rounded


def _local(time: int, zone: str) -> datetime | None:
    place = _zone(zone)
    return None if place is None else (_EPOCH + timedelta(seconds=time // 1_000_000_000)).astimezone(place)


@lru_cache(maxsize=256)
def _zone(name: str) -> tzinfo | None:
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _hour(time: int, zone: str = "UTC") -> int | None:
    local = _local(time, zone)
    return None if local is None else local.hour


def _weekday(time: int, zone: str = "UTC") -> int | None:
    local = _local(time, zone)
    return None if local is None else local.isoweekday()


def distance_km(latitude: float, longitude: float, latitude2: float, longitude2: float) -> float:
    """Great-circle distance by the haversine formula (Sinnott, Sky and Telescope 68, 1984), degrees in."""
    a, b = math.radians(latitude), math.radians(latitude2)
    across = math.sin(math.radians(longitude2 - longitude) / 2)
    along = math.sin((b - a) / 2)
    chord = along * along + math.cos(a) * math.cos(b) * across * across
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(min(1.0, chord)))


_FUNCTIONS: dict[str, Callable[..., object]] = {
    "abs": lambda value: EXACT.abs(value) if isinstance(value, Decimal) else abs(value),
    "round": _round,
    "lower": lower,
    "upper": upper,
    "length": len,
    "substr": substr,
    "hour": _hour,
    "weekday": _weekday,
    "distance_km": distance_km,
    "in_cidr": in_cidr,
}
