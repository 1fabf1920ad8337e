"""The aggregates over the events of a window: exact, and rounded once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from cep.expressions.numbers import GREATEST_LONG, LEAST_LONG, arithmetic
from cep.expressions.scalar import evaluate
from cep.reference.alternatives import Alternative
from cep.reference.runs import Scope, TextPredicate
from cep.reference.windows.aligned import SECOND
from cep.reference.windows.views import View
from rules.decimals import EXACT, fitting
from rules.typed import AtEachEvent, LastEvents, Window, WindowAggregate
from rules.types import Scalar

EXACT_VALUES = 10_000
"""So many different values `distinct` counts, and so many `percentile` puts in order; more are estimated."""
Estimate = Callable[[WindowAggregate, Sequence[object]], object]
"""The value of `distinct` or `percentile` over so many values: of a sketch that took them in this order."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a rule over windows needs besides its events: the name that its alerts list them under, how
    `matches` is answered, and the sketches of large windows; without these there are exact values."""

    step: str
    text: TextPredicate | None = None
    estimate: Estimate | None = None


def aggregate(ref: WindowAggregate, view: View, window: Window, around: Surroundings) -> object:
    """The value over the events of a window."""
    match ref.function:
        case "start":
            return view.start
        case "end":
            return view.end
        case "rate":
            return _rate(view, window)
        case "count":
            return len(view.events) if ref.argument is None else values(ref, view, around.text).count(True)
    found = values(ref, view, around.text)
    if around.estimate is not None and is_estimated(ref, found, window):
        return around.estimate(ref, [value for value in found if value is not None])
    return _of_values(ref, found)


def values(ref: WindowAggregate, view: View, text: TextPredicate | None) -> list[object]:
    """The argument of each event, in order. Of the doubles there is one zero, and none that is not finite."""
    assert ref.argument is not None
    scopes = (Scope(Alternative(), event, [event], None, text, {}) for event in view.events)
    found = (evaluate(ref.argument, scope) for scope in scopes)
    return [_finite(value) if isinstance(value, float) else value for value in found]


def _finite(value: float) -> float | None:
    return value + 0.0 if math.isfinite(value) else None


def is_estimated(ref: WindowAggregate, found: Sequence[object], window: Window) -> bool:
    """True if these are more values than are looked at one by one; where events are kept, all are."""
    if isinstance(window, AtEachEvent):
        return False
    known = [value for value in found if value is not None]
    match ref.function:
        case "distinct":
            return len(set(known)) > EXACT_VALUES
        case "percentile":
            return len(known) > EXACT_VALUES
        case _:
            return False


def _rate(view: View, window: Window) -> float | None:
    """Events per second."""
    count, length = len(view.events), view.end - view.start
    if isinstance(window, LastEvents):
        count -= 1
    return None if length == 0 else count * SECOND / length


def _of_values(ref: WindowAggregate, found: list[object]) -> object:
    if ref.function in ("first", "last"):
        return found[0 if ref.function == "first" else -1] if found else None
    known: list[Any] = [value for value in found if value is not None]
    if ref.function == "distinct":
        return len(set(known))
    if not known:
        return None
    match ref.function:
        case "min":
            return min(known)
        case "max":
            return max(known)
        case "sum":
            return _sum(known)
        case "avg":
            return _mean(known)
        case "stddev":
            return _deviation(known)
        case "percentile":
            assert ref.parameter is not None
            return _percentile(sorted(map(float, known)), ref.parameter)
        case _:
            raise ValueError(f"no aggregate is called {ref.function!r}")


def _sum(known: list[Any]) -> object:
    """Null where the sum itself does not fit its type, whatever partial sums do."""
    total = sum(map(Fraction, known))
    match known[0]:
        case int():
            return int(total) if LEAST_LONG <= total <= GREATEST_LONG else None
        case float():
            return _double(total)
        case _:
            return fitting(_decimal(total))


def _mean(known: list[Any]) -> object:
    """The exact sum, rounded to a double, through the number of values, also where it is no long; of decimals
    a decimal, null where the sum is."""
    if isinstance(known[0], Decimal):
        total: Any = _sum(known)
        return None if total is None else arithmetic("/", total, len(known), Scalar.DECIMAL)
    rounded = _double(sum(map(Fraction, known)))
    return None if rounded is None else rounded / len(known)


def _deviation(known: list[Any]) -> float | None:
    """Of the sample: the numerator n S2 - S1^2 is exact, and rounded once."""
    exact, count = list(map(Fraction, known)), len(known)
    numerator = _double(count * sum(x * x for x in exact) - sum(exact) ** 2)
    return None if count < 2 or numerator is None else math.sqrt(numerator / (count * (count - 1)))


def _double(value: Fraction | int) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def _decimal(value: Fraction | int) -> Decimal:
    """A sum of decimals, which has no more digits behind the point than they have."""
    exact = Fraction(value)
    return EXACT.divide(Decimal(exact.numerator), Decimal(exact.denominator))


def _percentile(ordered: list[float], part: float) -> float | None:
    """Between the two values around rank `part * (n - 1)`, by its distance from them."""
    rank = part * (len(ordered) - 1)
    below = math.floor(rank)
    low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    found = low + (high - low) * (rank - below)
    return found if math.isfinite(found) else None
