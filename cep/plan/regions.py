"""Many conditions over one field, evaluated together: a value's place among their constants says which hold.

A pack of a thousand rules compares the same few fields with thousands of constants. These cut a field's
values into regions (of strings: those that are named, and all others), within which every such condition is
either true or not: a table has a row of bits per region, and an event's row is found by one search. It is
the sorted predicate index of publish and subscribe systems (Fabret and others, SIGMOD 2001), written out.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.expressions.conditions import conjunction, conjuncts
from cep.expressions.numbers import GREATEST_LONG
from rules.typed import Compare, Expression, FieldRef, In, Literal, Path
from rules.types import Scalar

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
WORTH_IT = 8
"""From so many conditions over a field on, a search and a row cost less than a column each."""
TOGETHER = 4096
"""Conditions whose bits are in one table: at most so many rows of an eighth as many bytes for every two."""


@dataclass(frozen=True, slots=True)
class Regions:
    """A field's regions: values from `bounds[k - 1]` up to and without `bounds[k]`, or the k-th of `names`.

    `rows[k]` are the bits of the conditions that may be true in region k; behind the last region stand other
    names, and null. Conditions that do not ask for the field may be true everywhere. `own` says it in numbers
    of those that ask for this field before any other, where that takes less room: in region k
    `own[firsts[k] : firsts[k + 1]]`.
    """

    path: Path
    bounds: npt.NDArray[np.float64] | npt.NDArray[np.int64] | None
    names: pa.StringArray | None
    rows: Bytes
    firsts: Ints
    own: Ints | None


@dataclass(frozen=True, slots=True)
class Together:
    """Atoms whose bits lie side by side from byte `first` on, `size` of them.

    An atom is true of an event that every row of `regions` and every column says so of: `columns` are
    conditions, or what is left of them, that are evaluated by column, by atom, counted from `first`.
    `further` says which atoms more than one of these decides; `loose` are those that no region does.
    """

    first: int
    size: int
    regions: tuple[Regions, ...]
    columns: Mapping[int, Expression]
    further: npt.NDArray[np.bool_]
    loose: tuple[int, ...]


_Region = tuple[float | int | None, float | int | None] | frozenset[str]
"""What a condition wants of a field: a half-open range, or one of some strings."""


def together(atoms: Sequence[Expression | None]) -> tuple[Together, ...]:
    """The plan by which a stream's atoms are evaluated, in the order of their bits. None is always true."""
    return tuple(
        _together(first, atoms[first : first + TOGETHER]) for first in range(0, len(atoms), TOGETHER)
    )


def _together(first: int, atoms: Sequence[Expression | None]) -> Together:
    parts = [[(part, _asked(part)) for part in conjuncts(atom)] for atom in atoms]
    asking: dict[Path, set[int]] = {}
    for number, of in enumerate(parts):
        for _, asked in of:
            if asked is not None:
                asking.setdefault(asked[0], set()).add(number)
    many = {path for path, numbers in asking.items() if len(numbers) >= WORTH_IT}
    wanted: dict[Path, dict[int, _Region]] = {path: {} for path in asking if path in many}
    columns: dict[int, Expression] = {}
    for number, of in enumerate(parts):
        left = [part for part, asked in of if asked is None or asked[0] not in many]
        if (rest := conjunction(left)) is not None:
            columns[number] = rest
        for _, asked in of:
            if asked is not None and asked[0] in many:
                path, region = asked
                wanted[path][number] = _both(wanted[path].get(number), region)
    regions, known = [], set[int]()
    further = np.zeros(len(atoms), bool)
    for path, asked_by in wanted.items():
        further[[number for number in asked_by if number in known or number in columns]] = True
        regions.append(_regions(path, asked_by, len(atoms), sorted(asked_by.keys() - known)))
        known |= asked_by.keys()
    loose = tuple(number for number in range(len(atoms)) if number not in known)
    return Together(first // 8, len(atoms), tuple(regions), columns, further, loose)


def _asked(part: Expression) -> tuple[Path, _Region] | None:
    """The field and the region in which a condition is true; None where it has no such form."""
    match part:
        case Compare(operator, FieldRef(path, type_), Literal(value, of)) if (
            type_ == of and value is not None
        ):
            return _compared(path, operator, type_, value)
        case Compare(operator, Literal(value, of), FieldRef(path, type_)) if (
            type_ == of and value is not None
        ):
            return _compared(path, _TURNED[operator], type_, value)
        case In(FieldRef(path, Scalar.STRING), items, False):
            names = [item.value for item in items if isinstance(item, Literal) and item.type is Scalar.STRING]
            if items and len(names) == len(items):
                return path, frozenset(name for name in names if isinstance(name, str))
    return None


_TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_WHOLE = (Scalar.LONG, Scalar.TIMESTAMP, Scalar.DURATION)


def _compared(path: Path, operator: str, type_: object, value: object) -> tuple[Path, _Region] | None:
    if type_ is Scalar.STRING and operator == "==":
        return path, frozenset((str(value),))
    if operator == "!=" or (type_ is not Scalar.DOUBLE and type_ not in _WHOLE):
        return None
    least: float | int
    after: float | int | None
    if type_ is Scalar.DOUBLE:
        least = float(value)  # type: ignore[arg-type]
        after = math.nextafter(least, math.inf)
    else:
        least = int(value)  # type: ignore[call-overload]
        after = least + 1 if least < GREATEST_LONG else None
    match operator:
        case "<":
            return path, (None, least)
        case "<=":
            return path, (None, after)
        case ">=":
            return path, (least, None)
        case ">" if after is None:
            return path, (least, least)
        case ">":
            return path, (after, None)
        case _:
            return path, (least, after)


def _both(one: _Region | None, other: _Region) -> _Region:
    if one is None:
        return other
    if isinstance(one, frozenset) or isinstance(other, frozenset):
        assert isinstance(one, frozenset)
        assert isinstance(other, frozenset)
        return one & other
    lows = [low for low in (one[0], other[0]) if low is not None]
    highs = [high for high in (one[1], other[1]) if high is not None]
    return (max(lows, default=None), min(highs, default=None))


def _regions(path: Path, wanted: Mapping[int, _Region], atoms: int, own: Sequence[int]) -> Regions:
    names = sorted({name for of in wanted.values() if isinstance(of, frozenset) for name in of})
    bounds = sorted(
        {b for of in wanted.values() if not isinstance(of, frozenset) for b in of if b is not None}
    )
    count = len(names) if names else len(bounds) + 1
    table = np.ones((count + 1, atoms), bool)
    for number, region in wanted.items():
        table[:, number] = False
        for begin, end in _rows(region, names, bounds):
            table[begin:end, number] = True
    packed = np.packbits(table, axis=1)
    asked = table[:, own]
    firsts = np.concatenate((np.zeros(1, np.int64), np.cumsum(asked.sum(axis=1))))
    numbers = np.array(own, np.int64)[np.nonzero(asked)[1]] if firsts[-1] * 8 <= packed.size else None
    if names:
        return Regions(path, None, pa.array(names, pa.string()), packed, firsts, numbers)
    if all(isinstance(bound, int) for bound in bounds):
        return Regions(path, np.array(bounds, np.int64), None, packed, firsts, numbers)
    return Regions(path, np.array(bounds, np.float64), None, packed, firsts, numbers)


def _rows(region: _Region, names: Sequence[str], bounds: Sequence[float | int]) -> Iterator[tuple[int, int]]:
    """The rows of the regions that a condition wants, as half-open ranges."""
    if isinstance(region, frozenset):
        for name in region:
            place = bisect_left(names, name)
            yield place, place + 1
        return
    low, high = region
    begin = 0 if low is None else bisect_left(bounds, low) + 1
    yield begin, len(bounds) + 1 if high is None else max(begin, bisect_left(bounds, high) + 1)
