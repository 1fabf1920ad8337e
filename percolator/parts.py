"""Arrays and bytes that become one array: what points into it knows where each part begins."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


class Parts:
    """Arrays of 32-bit numbers, one after the other."""

    def __init__(self) -> None:
        self._arrays: list[npt.NDArray[np.int32]] = []
        self.size = 0

    def add(self, array: npt.NDArray[np.integer]) -> int:
        """Where the array begins."""
        start = self.size
        self._arrays.append(np.ravel(array).astype(np.int32, copy=False))
        self.size += array.size
        return start

    def array(self) -> npt.NDArray[np.int32]:
        """All of them."""
        return np.concatenate(self._arrays)


class Text:
    """Bytes, one after the other."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0

    def add(self, part: bytes) -> int:
        """Where the part begins."""
        start = self.size
        self._parts.append(part)
        self.size += len(part)
        return start

    def array(self) -> npt.NDArray[np.uint8]:
        """All of it, not to be written to."""
        return np.frombuffer(b"".join(self._parts), np.uint8)
