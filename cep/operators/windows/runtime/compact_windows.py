"""Windows of a segment, as bytes: a third to a half of what they take as numbers.

They are read where a key is cut out (cep.operators.windows.kernel.compact), and stored as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from cep.events import MAX_TIME, STEPS
from cep.operators.windows.kernel.compact import (
    BELOW,
    CODES,
    COUNTED,
    HEAD,
    JUDGED,
    KEY,
    LATEST,
    LONG,
    MOST,
    NAMED,
    ROOM,
    SHORT,
    TIMES,
    UPPER,
    WHOLE,
    WORDS,
    Bytes,
    Codes,
    Parts,
)
from cep.operators.windows.runtime.columns import ends_of
from cep.operators.windows.runtime.engines import engine
from cep.operators.windows.runtime.layout import COUNT_BITS, LENGTH_BITS
from cep.operators.windows.runtime.layout import NAMED as NAMED_BIT
from cep.state.keyed_rows import Ints, KeyedRows, begins

SAMPLE = 1000
"""Heads that are looked at to choose what codes stand for."""
EVENTS = 8
"""Numbers of 64 bits that are about as much work as an event."""
_TAIL = COUNT_BITS + LENGTH_BITS


class Rows(Protocol):
    """Windows as numbers (cep.operators.windows.runtime.window_rows)."""

    @property
    def heads(self) -> Ints:
        """The heads, sorted by key."""

    @property
    def words(self) -> Ints:
        """The words behind them."""

    @property
    def numbers(self) -> Ints:
        """The numbers behind them."""


Form = Callable[[Ints, Ints, Ints], KeyedRows]
"""Makes rows of heads, words and numbers."""


class Choice(NamedTuple):
    """The numbers that words of some windows are likely to differ little from: an instant and a step of
    instants, lengths of packed sums, `judged` of heads, and the number of an event."""

    first: int
    step: int
    length: int
    other: int
    judged: int
    number: int

    def codes(self) -> Codes:
        """The codes of words (cep.operators.windows.kernel.compact)."""
        lengths, firsts = (np.zeros(CODES, np.int64) for _ in range(2))
        steps = np.ones(CODES, np.int64)
        lengths[list(SHORT)] = SHORT
        lengths[[LONG, WHOLE, NAMED, UPPER, LATEST, BELOW]] = 6, 8, 1, 3, 0, 4
        firsts[[NAMED, LATEST, BELOW]] = 1 << NAMED_BIT, MAX_TIME, -(1 << 32)
        steps[UPPER] = 1 << 40
        lengths[list(TIMES)], steps[list(TIMES)], firsts[list(TIMES)] = (2, 3, 4), self.step, self.first
        lengths[list(COUNTED)], steps[list(COUNTED)] = 1, 1 + (1 << _TAIL)
        firsts[list(COUNTED)] = self.length << COUNT_BITS, self.other << COUNT_BITS
        masks = np.where(lengths == 8, -1, (np.int64(1) << 8 * np.minimum(lengths, 7)) - 1)
        return Codes(lengths, masks, steps, firsts, np.array([self.judged, self.number], np.int64))


@dataclass(frozen=True, slots=True)
class CompactWindows:
    """The windows of keys, numbered from 0 on: of key n the bytes from `places[n]` up to those of the next.

    `size` is that of the rows (cep.state.keyed_rows); by `choice` words have codes.
    """

    size: int
    data: Bytes
    places: npt.NDArray[np.uint32] | Ints
    choice: Choice
    codes: Codes
    form: Form

    @classmethod
    def of(cls, rows: Rows, keys: int, form: Form) -> CompactWindows:
        """Windows of so many keys, which come back in a form."""
        choice = _choice(rows)
        codes = choice.codes()
        parts = Parts(np.ascontiguousarray(rows.heads).ravel(), rows.words, rows.numbers)
        size = sum(map(len, parts))
        # Memory to which nothing is written is never taken.
        data = np.empty(MOST * (size + keys) + 2 * ROOM, np.uint8)
        of_key, places = begins(rows.heads[:, KEY], keys), np.empty(keys + 1, np.int64)
        end = engine(size // EVENTS).put_compact(parts, of_key, codes, data, places)
        places[-1] = end
        whole = -(-end // ROOM) * ROOM + ROOM
        data[end:whole] = 0
        return cls(size, data[:whole].copy(), _narrow(places), choice, codes, form)

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

    def cut(self, keys: Ints, numbers: Ints) -> KeyedRows:
        """The rows of some keys, under other numbers."""
        return self._rows(*self._spans(keys), numbers)

    def renumbered(self, numbers: Ints) -> KeyedRows:
        """The rows of all keys, under other numbers."""
        places = self.places.astype(np.int64)
        return self._rows(places[:-1], places[1:], numbers)

    def written(self, ints: Callable[[Ints], object]) -> object:
        """These very bytes and what is needed to read them, as a JSON value."""
        firsts, ends = self._spans(np.arange(len(self.places) - 1))
        data = ints(self.data.view(np.int64))
        return {"size": self.size, "choice": list(self.choice), "keys": ints(ends - firsts), "bytes": data}

    @classmethod
    def read(cls, entry: Mapping[str, Any], ints: Callable[[Any], Ints], form: Form) -> CompactWindows:
        """The windows again. Raises ValueError."""
        places, data = ends_of(ints(entry["keys"])), ints(entry["bytes"]).view(np.uint8)
        if np.any(places[1:] < places[:-1]) or places[-1] + ROOM > len(data):
            raise ValueError("windows end beyond their bytes")
        choice = Choice(*entry["choice"])
        return cls(entry["size"], data, _narrow(places), choice, choice.codes(), form)

    def _spans(self, keys: Ints) -> tuple[Ints, Ints]:
        return self.places[keys].astype(np.int64), self.places[keys + 1].astype(np.int64)

    def _counts(self, firsts: Ints, ends: Ints) -> Ints:
        """The numbers of heads, words and numbers of keys."""
        counts = np.zeros(3, np.int64)
        engine(len(firsts)).measure_compact(self.data, firsts, ends, self.codes, counts)
        return counts

    def _rows(self, firsts: Ints, ends: Ints, numbers: Ints) -> KeyedRows:
        heads, words, named = self._counts(firsts, ends).tolist()
        parts = Parts(*(np.empty(size, np.int64) for size in (HEAD * heads, words, named)))
        machine = engine((HEAD * heads + words + named) // EVENTS)
        machine.take_compact(self.data, firsts, ends, numbers, self.codes, parts)
        return self.form(parts.heads.reshape(-1, HEAD), parts.words, parts.numbers)


def _narrow(places: Ints) -> npt.NDArray[np.uint32] | Ints:
    return places.astype(np.uint32) if places[-1] < 1 << 32 else places


def _choice(rows: Rows) -> Choice:
    """A choice by which these rows take few bytes."""
    sizes = rows.heads[:, WORDS]
    begins = ends_of(sizes)[:-1].compress(sizes > 0)
    judged, number = (int(part.min(initial=MAX_TIME)) for part in (rows.heads[:, JUDGED], rows.numbers))
    return Choice(*_instants(rows.words[begins]), *_packed_lengths(rows, begins), judged, number)


def _instants(times: Ints) -> tuple[int, int]:
    """The instant from which most of some are so many steps away, and the step."""
    if not len(times):
        return 0, 1
    first = int(times.min())
    # An instant may be any number of 64 bits: differences wrap around.
    since = times[:: max(len(times) // SAMPLE, 1)] - np.int64(first)
    step = next((one for one in STEPS if not np.any(since % one)), 1)
    return max(first, int(times.max()) - (step << 32) + step), step


def _packed_lengths(rows: Rows, begins: Ints) -> tuple[int, int]:
    """The two lengths that packed sums have most often, of items all events of which are named."""
    found: list[int] = [0, 0]
    for column in (1, 2):
        some = begins[:: max(len(begins) // SAMPLE, 1)] + column
        words = rows.words[some[some < len(rows.words)]]
        named = words[(words >> _TAIL == words & 0xFF) & (words >> COUNT_BITS & 0xFF > 0)]
        lengths, counts = np.unique((named >> COUNT_BITS) & ((1 << LENGTH_BITS) - 1), return_counts=True)
        found += lengths[np.argsort(counts)].tolist()
    return found[-1], found[-2]
