"""The lines of a block, found by one vectorised search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.decode.kernel.layout import NO_ROOM
from cep.decode.malformed import Malformed
from cep.decode.salvage import Indices

if TYPE_CHECKING:
    from cep.decode.compiled import Kernel

Octets = NDArray[np.uint8]

_NEWLINE = ord("\n")
_WHITE = b" \t\r"
_BEGINNING, _MORE = 1 << 16, 1.25  # bytes whose lines are counted; how much denser they may be behind these
_AT_ONCE = 1 << 20  # bytes that are compared at a time: they stay in the processor's cache


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines with something in them: line i is data[starts[i]:ends[i]], without its line end.

    `longest` is the length of the longest in bytes. Blocks that are read compiled have the `kernel`. With
    `is_ascii` all bytes are known to be ASCII.
    """

    data: memoryview
    octets: Octets
    starts: Indices
    ends: Indices
    longest: int
    kernel: Kernel | None = None
    is_ascii: bool = False

    @classmethod
    def of(cls, data: memoryview, blank: bytes = _WHITE) -> Lines:
        """The lines of a block, `\\n` or `\\r\\n` between them, but blank ones."""
        found = np.frombuffer(data, np.uint8)
        stops = np.flatnonzero(found == _NEWLINE)
        if len(found) and found[-1] != _NEWLINE:
            stops = np.append(stops, len(found))
        return cls.between(data, np.concatenate([[0], stops[:-1] + 1])[: len(stops)], stops, blank)

    @classmethod
    def between(cls, data: memoryview, starts: Indices, stops: Indices, blank: bytes = _WHITE) -> Lines:
        """The pieces that are given by their first byte and their line end, but blank ones."""
        octets = np.frombuffer(data, np.uint8)
        full = stops > starts
        starts, stops = starts[full], stops[full]
        ends = stops - (octets[stops - 1] == ord("\r"))
        suspicious = np.flatnonzero(np.isin(octets[starts], list(blank + b"\r")))
        empty = [i for i in suspicious if not bytes(data[starts[i] : ends[i]]).strip(blank)]
        starts, ends = np.delete(starts, empty), np.delete(ends, empty)
        return cls(data, octets, starts, ends, int((ends - starts).max(initial=0)))

    @classmethod
    def placed(cls, data: memoryview, starts: Indices, ends: Indices, kernel: Kernel | None) -> Lines:
        """The pieces that are given by their first byte and their end, also empty ones."""
        octets = np.frombuffer(data, np.uint8)
        octets.flags.writeable = False
        return cls(data, octets, starts, ends, int((ends - starts).max(initial=0)), kernel)

    @classmethod
    def found(
        cls, data: memoryview, kernel: Kernel, find: Callable[[Octets, Indices, Indices, Indices], int]
    ) -> Lines | None:
        """The lines that a function of the kernel finds; None if it finds that it cannot.

        It fills in their starts and ends, and whether there is a byte that is not ASCII, and gives their
        number, or says that there are more than there is room for.
        """
        octets = np.frombuffer(data, np.uint8)
        octets.flags.writeable = False
        beyond = np.zeros(1, np.int64)
        starts, ends = np.empty((2, _expected(octets, kernel)), np.int64)
        count = find(octets, starts, ends, beyond)
        if count == NO_ROOM:
            starts, ends = np.empty((2, kernel.count_lines(octets) + 1), np.int64)
            count = find(octets, starts, ends, beyond)
        if count < 0:
            return None
        starts, ends = starts[:count], ends[:count]
        longest = int((ends - starts).max(initial=0))
        return cls(data, octets, starts, ends, longest, kernel, not beyond[0])

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, record: int) -> bytes:
        return bytes(self.data[self.starts[record] : self.ends[record]])

    def longer_than(self, most: int) -> Indices:
        """The lines that have more bytes, rising."""
        return np.flatnonzero(self.ends - self.starts > most)

    def join(self, chosen: Indices) -> pa.Buffer:
        """The chosen lines (rising, at least one) as one text, not copied if nothing is left out between."""
        first, last = int(chosen[0]), int(chosen[-1])
        if last - first + 1 == len(chosen):
            return pa.py_buffer(self.data[self.starts[first] : self.ends[last]])
        if self.kernel is not None:
            starts, ends = self.starts[chosen], self.ends[chosen]
            text = np.empty(int((ends - starts).sum()) + len(chosen), np.uint8)
            self.kernel.join_lines(self.octets, starts, ends, text)
            return pa.py_buffer(text[:-1])
        return pa.py_buffer(b"\n".join(self[int(record)] for record in chosen))


def _expected(octets: Octets, kernel: Kernel) -> int:
    """So many lines a block is expected to have at most, as its beginning does."""
    lines = kernel.count_lines(octets[:_BEGINNING]) + 1
    return lines + int(lines * _MORE * max(0, len(octets) - _BEGINNING) / _BEGINNING)


def count_newlines(data: bytes | memoryview, kernel: Kernel | None = None) -> int:
    """The number of newlines.

    Where a line has some 120 bytes, the kernel takes two fifths of numpy's time.
    """
    octets = np.frombuffer(data, np.uint8)
    if kernel is not None:
        octets.flags.writeable = False
        return kernel.count_lines(octets)
    return sum(
        int(np.count_nonzero(octets[begin : begin + _AT_ONCE] == _NEWLINE))
        for begin in range(0, len(octets), _AT_ONCE)
    )


def check_utf8(text: pa.Buffer) -> None:
    """Raises Malformed if the text is not valid UTF-8."""
    if not is_utf8(text):
        raise Malformed("not valid UTF-8")


def is_utf8(text: pa.Buffer) -> bool:
    """True if the text is valid UTF-8."""
    ends = np.array([0, text.size], np.int64)
    try:
        pa.LargeStringArray.from_buffers(1, pa.py_buffer(ends), text).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
