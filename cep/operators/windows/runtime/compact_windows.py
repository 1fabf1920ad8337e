"""Windows of a segment, as bytes: a fifth to a half of what they take as numbers.

They are read where a key is cut out (cep.operators.windows.kernel.compact). What is stored is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cep.events import MAX_TIME
from cep.operators.windows.kernel.compact import (
    BELOW,
    CODES,
    COUNTED,
    LATEST,
    LONG,
    MOST,
    NAMED,
    ROOM,
    SHORT,
    TIMES,
    UPPER,
    WHOLE,
    Bytes,
    Codes,
    Parts,
)
from cep.operators.windows.runtime.engines import engine
from cep.operators.windows.runtime.layout import COUNT_BITS, LENGTH_BITS
from cep.operators.windows.runtime.layout import NAMED as NAMED_BIT
from cep.operators.windows.runtime.window_rows import HEAD, JUDGED, STEPS, WORDS, WindowRows
from cep.state.keyed_rows import Ints, begins

SAMPLE = 1000
"""Heads that are looked at to choose what codes stand for."""
EVENTS = 8
"""Numbers of 64 bits that are about as much work as an event."""
_TAIL = COUNT_BITS + LENGTH_BITS


@dataclass(frozen=True, slots=True)
class CompactWindows:
    """The windows of keys, numbered from 0 on: of key n the bytes from `places[n]` up to those of the next.

    `size` is that of the rows (cep.state.keyed_rows).
    """

    size: int
    data: Bytes
    places: np.ndarray[tuple[int], np.dtype[np.uint32 | np.int64]]
    codes: Codes

    @classmethod
    def of(cls, rows: WindowRows, keys: int) -> CompactWindows:
        """Windows of so many keys."""
        codes = _codes(rows)
        parts = Parts(np.ascontiguousarray(rows.heads).ravel(), rows.words, rows.numbers)
        # Memory that nothing is written to is never taken.
        data = np.empty(MOST * (rows.size + keys) + ROOM, np.uint8)
        places = np.empty(keys + 1, np.int64)
        end = engine(rows.size // EVENTS).put_compact(parts, begins(rows.keys, keys), codes, data, places)
        places[-1] = end
        data[end : end + ROOM] = 0
        narrow = places.astype(np.uint32) if end < 1 << 32 else places
        return cls(rows.size, data[: end + ROOM].copy(), narrow, codes)

    @property
    def bytes(self) -> int:
        """The bytes that they take in memory."""
        return self.data.nbytes + self.places.nbytes

    @property
    def keys(self) -> Ints:
        """The numbers of the keys of which something is kept."""
        return np.flatnonzero(self.places[1:] > self.places[:-1])

    def crowded(self, _: int) -> Ints:
        """None: windows are no runs."""
        return np.zeros(0, np.int64)

    def compacted(self, keys: int) -> CompactWindows:  # noqa: ARG002
        """These very bytes."""
        return self

    def indexed(self, keys: int) -> CompactWindows:  # noqa: ARG002
        """An index by key, which they are themselves."""
        return self

    def weight_of(self, keys: Ints) -> int:
        """The size of the rows of some keys."""
        counts = self._counts(*self._spans(keys))
        return int(HEAD * counts[0] + counts[1] + counts[2])

    def cut(self, keys: Ints, numbers: Ints) -> WindowRows:
        """The rows of some keys, under other numbers."""
        return self._rows(*self._spans(keys), numbers)

    def renumbered(self, numbers: Ints) -> WindowRows:
        """The rows of all keys, under other numbers."""
        places = self.places.astype(np.int64)
        return self._rows(places[:-1], places[1:], numbers)

    def written(self, ints: Callable[[Ints], object]) -> object:
        """The rows as a JSON value, as WindowRows are written."""
        return self.renumbered(np.arange(len(self.places) - 1)).written(ints)

    def _spans(self, keys: Ints) -> tuple[Ints, Ints]:
        return self.places[keys].astype(np.int64), self.places[keys + 1].astype(np.int64)

    def _counts(self, firsts: Ints, ends: Ints) -> Ints:
        """The numbers of heads, words and numbers of keys."""
        counts = np.zeros(3, np.int64)
        engine(len(firsts)).measure_compact(self.data, firsts, ends, self.codes, counts)
        return counts

    def _rows(self, firsts: Ints, ends: Ints, numbers: Ints) -> WindowRows:
        heads, words, named = self._counts(firsts, ends).tolist()
        parts = Parts(*(np.empty(size, np.int64) for size in (HEAD * heads, words, named)))
        machine = engine((HEAD * heads + words + named) // EVENTS)
        machine.take_compact(self.data, firsts, ends, numbers, self.codes, parts)
        return WindowRows(parts.heads.reshape(-1, HEAD), parts.words, parts.numbers)


def _codes(rows: WindowRows) -> Codes:
    """The codes by which these rows take few bytes."""
    sizes, _ = rows.places()
    having = np.flatnonzero(rows.heads[:, WORDS] > 0)
    first, step = _instants(rows.words[sizes[having]])
    lengths, steps, firsts = (np.zeros(CODES, np.int64) for _ in range(3))
    steps[:] = 1
    lengths[list(SHORT)] = SHORT
    lengths[[LONG, WHOLE, NAMED, UPPER, LATEST, BELOW]] = 6, 8, 1, 3, 0, 4
    firsts[[NAMED, LATEST, BELOW]] = 1 << NAMED_BIT, MAX_TIME, -(1 << 32)
    steps[UPPER] = 1 << 40
    lengths[list(TIMES)], steps[list(TIMES)], firsts[list(TIMES)] = (2, 3, 4), step, first
    lengths[list(COUNTED)], steps[list(COUNTED)] = 1, 1 + (1 << _TAIL)
    firsts[list(COUNTED)] = [length << COUNT_BITS for length in _packed_lengths(rows, sizes[having])]
    masks = np.where(lengths == 8, -1, (np.int64(1) << 8 * np.minimum(lengths, 7)) - 1)
    bases = [int(part.min(initial=MAX_TIME)) for part in (rows.heads[:, JUDGED], rows.numbers)]
    return Codes(lengths, masks, steps, firsts, np.array(bases, np.int64))


def _instants(times: Ints) -> tuple[int, int]:
    """The instant from which most of some are so many steps away, and the step."""
    if not len(times):
        return 0, 1
    first = int(times.min())
    # An instant may be any number of 64 bits: differences wrap around, and then no step fits.
    since = times - np.int64(first)
    step = next((one for one in STEPS if not np.any(since[:SAMPLE] % one) and not np.any(since % one)), 1)
    return max(first, int(times.max()) - (step << 32) + step), step


def _packed_lengths(rows: WindowRows, begins: Ints) -> list[int]:
    """The two lengths that packed sums have most often, of items all events of which are named."""
    found: list[int] = [0]
    for column in (1, 2):
        some = begins[:: max(len(begins) // SAMPLE, 1)] + column
        words = rows.words[some[some < len(rows.words)]]
        named = words[(words >> _TAIL == words & 0xFF) & (words >> COUNT_BITS & 0xFF > 0)]
        lengths, counts = np.unique((named >> COUNT_BITS) & ((1 << LENGTH_BITS) - 1), return_counts=True)
        found += lengths[np.argsort(counts)].tolist()
    return [found[-1], found[-2] if len(found) > 1 else 0]
