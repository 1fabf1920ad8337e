"""Accumulators of the kernel of exact sums, which tests add plain values to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from cep.exact.kernel import MODULES
from cep.exact.kernel.deviations import ROOM
from cep.exact.kernel.layout import SQUARES, SUM
from cep.exact.kernel.packed import MOST_OF_SQUARES, MOST_OF_SUM
from cep.exact.sums import Number
from kernels.family import Family
from rules.decimals import EXACT, SCALE

ENTRIES = (
    "clear", "merge", "put_double", "put_square", "sum_of_doubles", "mean_of_doubles",
    "put_long", "put_long_square", "sum_of_longs", "mean_of_longs",
    "put_decimal", "put_decimal_square", "sum_of_decimals", "mean_of_decimals",
    "deviation_of_doubles", "deviation_of_longs", "deviation_of_decimals", "pack", "put_packed",
)  # fmt: skip
KERNEL = Family("exact", MODULES, ENTRIES)

Functions = Mapping[str, Callable[..., Any]]
Ints = npt.NDArray[np.int64]

MARGIN = 5
GUARD = -7
"""What lies around an accumulator."""
KINDS: Mapping[type, str] = {float: "double", int: "long", Decimal: "decimal"}


def room(numbers: int) -> Ints:
    """An empty accumulator between two margins."""
    whole = np.full(numbers + 2 * MARGIN, GUARD, np.int64)
    whole[MARGIN:-MARGIN] = 0
    return whole


def words_of(value: Number) -> tuple[int, ...]:
    """A value as the kernel takes it: a double's bits, a long, the two words of a decimal."""
    match value:
        case float():
            return (int(np.float64(value).view(np.int64)),)
        case int():
            return (value,)
        case Decimal():
            units = int(value.scaleb(SCALE, EXACT))
            low = units % 2**64
            return (low - 2**64 if low >= 2**63 else low, units >> 64)


@dataclass(slots=True)
class Accumulator:
    """The sums of values of one type and of their squares."""

    functions: Functions
    type_: type
    count: int = 0
    sums: Ints = field(default_factory=lambda: room(SUM))
    squares: Ints = field(default_factory=lambda: room(SQUARES))

    @classmethod
    def of(cls, functions: Functions, values: Sequence[Number]) -> Accumulator:
        made = cls(functions, type(values[0]))
        for value in values:
            made.put(value, 1)
        return made

    def put(self, value: Number, sign: int) -> None:
        kind, words = KINDS[self.type_], words_of(value)
        square = "put_square" if kind == "double" else f"put_{kind}_square"
        self.functions[f"put_{kind}"](self.sums, MARGIN, *words, sign)
        self.functions[square](self.squares, MARGIN, *words, sign)
        self.count += sign

    def merge(self, other: Accumulator, sign: int) -> None:
        self.functions["merge"](self.sums, MARGIN, other.sums, MARGIN, sign)
        self.functions["merge"](self.squares, MARGIN, other.squares, MARGIN, sign)
        self.count += sign * other.count

    def clear(self) -> None:
        self.functions["clear"](self.sums, MARGIN)
        self.functions["clear"](self.squares, MARGIN)
        self.count = 0

    def total(self) -> Number | None:
        return self._number(self.functions[f"sum_of_{KINDS[self.type_]}s"](self.sums, MARGIN))

    def mean(self) -> Number | None:
        return self._number(self.functions[f"mean_of_{KINDS[self.type_]}s"](self.sums, MARGIN, self.count))

    def deviation(self) -> float | None:
        scratch = np.full(ROOM, GUARD, np.int64)
        read = self.functions[f"deviation_of_{KINDS[self.type_]}s"]
        found = read(self.sums, MARGIN, self.squares, MARGIN, self.count, scratch)
        return found if math.isfinite(found) else None

    def packed(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Both sums as state has them; nothing around an accumulator was written to."""
        found = []
        for sums, most in ((self.sums, MOST_OF_SUM), (self.squares, MOST_OF_SQUARES)):
            words = np.full(most + 1, GUARD, np.int64)
            end = self.functions["pack"](sums, MARGIN, words, 0)
            assert (words[end:] == GUARD).all()
            found.append(tuple(words[:end].tolist()))
            assert (sums[:MARGIN] == GUARD).all()
            assert (sums[-MARGIN:] == GUARD).all()
        return found[0], found[1]

    def put_packed(self, packed: tuple[tuple[int, ...], tuple[int, ...]], count: int, sign: int) -> None:
        for sums, words in zip((self.sums, self.squares), packed, strict=True):
            end = self.functions["put_packed"](sums, MARGIN, np.array([GUARD, *words], np.int64), 1, sign)
            assert end == len(words) + 1
        self.count += sign * count

    def _number(self, found: Any) -> Number | None:
        match found:
            case float():
                return found if math.isfinite(found) else None
            case fits, *_ if not fits:
                return None
            case _, low, high:
                return Decimal((int(high) << 64) + int(low) % 2**64).scaleb(-SCALE, EXACT)
            case _, long:
                return int(long)
        raise AssertionError(found)
