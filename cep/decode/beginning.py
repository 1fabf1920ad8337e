"""A file as it was when it was listed: its first bytes, whatever has been written behind them since."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer


class Beginning(io.RawIOBase):
    """The first `length` bytes of a file, to be read from any place. Raises OSError where the disk does."""

    def __init__(self, file: str, length: int) -> None:
        super().__init__()
        self._file = Path(file).open("rb", buffering=0)  # noqa: SIM115  closed with this
        self._length = length

    def readable(self) -> bool:
        """True: it can be read."""
        return True

    def seekable(self) -> bool:
        """True: it can be read from any place."""
        return True

    def readinto(self, room: Buffer) -> int:
        """Fills `room` as far as there are bytes; how many that were."""
        left = max(0, self._length - self._file.tell())
        return self._file.readinto(memoryview(room)[:left])

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Goes to a place; returns it. The end is that of the first `length` bytes."""
        if whence == io.SEEK_END:
            return self._file.seek(min(self._length, self._file.seek(0, io.SEEK_END)) + offset)
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """The place that is read next."""
        return self._file.tell()

    def close(self) -> None:
        """Closes the file."""
        # One whose file could not be opened is closed as well, once nobody has it.
        if not self.closed and hasattr(self, "_file"):
            self._file.close()
        super().close()
