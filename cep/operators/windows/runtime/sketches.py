"""Sketches of many values: how many are different, and percentiles.

Both are functions of the values in their order: they depend neither on batches nor on the process.

different   HyperLogLog (Flajolet et al., 2007) with 2 ** 14 registers, read as Ertl does ("New cardinality
            estimation algorithms for HyperLogLog sketches", 2017)
ordered     KLL (Karnin, Lang and Liberty, 2016) with k = 200; which half of a level goes up is said by a
            hash of the level and the number of values so far, where the original throws a coin
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cep.state.keyed_rows import Ints

Registers = npt.NDArray[np.uint8]
Doubles = npt.NDArray[np.float64]

_BITS = 14
REGISTERS = 1 << _BITS
_REST = 64 - _BITS
K = 200
_LEAST = 8
"""Values that the lowest levels hold."""
_SHRINK = 2 / 3


def put_hashes(registers: Registers, hashes: npt.NDArray[np.uint64]) -> None:
    """Add values by their hashes."""
    rest = hashes << np.uint64(_BITS)
    # The place of the highest bit, of halves that doubles hold.
    high, low = (rest >> np.uint64(32)).astype(np.float64), (rest & np.uint64(0xFFFFFFFF)).astype(np.float64)
    size = np.where(high > 0, np.frexp(high)[1] + 32, np.frexp(low)[1])
    rank = np.minimum(64 - size + 1, _REST + 1).astype(np.uint8)
    np.maximum.at(registers, (hashes >> np.uint64(_REST)).astype(np.int64), rank)


def different(registers: Registers) -> int:
    """The number of different values that were added, about."""
    counts = np.bincount(registers, minlength=_REST + 2).tolist()
    tail = REGISTERS * _tau(1 - counts[_REST + 1] / REGISTERS)
    for rank in range(_REST, 0, -1):
        tail = 0.5 * (tail + counts[rank])
    tail += REGISTERS * _sigma(counts[0] / REGISTERS)
    return round(REGISTERS * REGISTERS / (2 * math.log(2)) / tail)


def _sigma(part: float) -> float:
    if part == 1.0:
        return math.inf
    found, before, step = part, -1.0, 1.0
    while found != before:
        part *= part
        before = found
        found += part * step
        step += step
    return found


def _tau(part: float) -> float:
    if part in (0.0, 1.0):
        return 0.0
    found, before, step = 1 - part, -1.0, 1.0
    while found != before:
        part = math.sqrt(part)
        before = found
        step *= 0.5
        found -= (1 - part) ** 2 * step
    return found / 3


@dataclass(slots=True)
class Ordered:
    """Some of many values, in levels: one of level n stands for 2 ** n of them."""

    count: int = 0
    levels: list[Doubles] = field(default_factory=lambda: [np.zeros(0)])

    def put(self, values: Doubles) -> None:
        """Add values; it makes no difference how many at a time."""
        at = 0
        while at < len(values):
            room = self._room(0) - len(self.levels[0])
            part = values[at : at + room]
            self.levels[0] = np.concatenate((self.levels[0], part))
            self.count += len(part)
            at += len(part)
            level = 0
            while len(self.levels[level]) >= self._room(level):
                self._go_up(level)
                level += 1

    def _room(self, level: int) -> int:
        return max(_LEAST, math.ceil(K * _SHRINK ** (len(self.levels) - 1 - level)))

    def _go_up(self, level: int) -> None:
        """Every second one of a level's values goes up; of an odd number the last stays."""
        if level + 1 == len(self.levels):
            self.levels.append(np.zeros(0))
        mine = self.levels[level]
        even = len(mine) & ~1
        chosen = np.sort(mine[:even])[_coin(level, self.count) :: 2]
        self.levels[level] = mine[even:]
        self.levels[level + 1] = np.concatenate((self.levels[level + 1], chosen))

    def weighted(self) -> Iterator[tuple[Doubles, int]]:
        """The values of each level, and how many each stands for."""
        return ((values, 1 << level) for level, values in enumerate(self.levels))

    def words(self) -> Ints:
        """The sketch as numbers."""
        sizes = [len(values) for values in self.levels]
        head = np.array([self.count, len(sizes), *sizes], np.int64)
        return np.concatenate((head, np.concatenate(self.levels).view(np.int64)))

    @classmethod
    def of(cls, words: Ints) -> Ordered:
        """The sketch again."""
        count, levels = words[:2].tolist()
        ends = np.cumsum(words[2 : 2 + levels])
        values = words[2 + levels :].copy().view(np.float64)
        return cls(count, np.split(values, ends[:-1]))


def percentile(values: Doubles, weights: Ints, part: float) -> float:
    """The percentile of values that each stand for so many; the values rise."""
    ends = np.cumsum(weights)
    rank = part * (int(ends[-1]) - 1)
    below = int(rank)
    low, high = values[np.searchsorted(ends, (below, min(below + 1, int(ends[-1]) - 1)), side="right")]
    return float(low + (high - low) * (rank - below))


def _coin(level: int, count: int) -> int:
    """A bit, by SplitMix64's finaliser (Steele, Lea and Flood, 2014)."""
    mask = 2**64 - 1
    value = (count << 6 | level) * 0x9E3779B97F4A7C15 & mask
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & mask
    value = (value ^ value >> 27) * 0x94D049BB133111EB & mask
    return (value ^ value >> 31) >> 63
