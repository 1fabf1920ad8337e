"""Old days of the record, removed: those that were over `keep` ago or longer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from cep.record.layout import days_in, ended_before, ours_in, streams_in


def expired(record: Path, now: int, keep: int) -> Iterator[Path]:
    """The folders of days that were over at `now - keep`, wall clock and length in nanoseconds; with `keep` 0
    those of every day. Raises OSError."""
    for stream in streams_in(record):
        for day, path in days_in(stream):
            if keep == 0 or ended_before(day, now - keep):
                yield path


def remove(day: Path, going_on: Callable[[], bool]) -> int:
    """Remove what the record has of a day, as long as `going_on` says so; the number of files removed.

    Files of somebody else stay, with their folder. Raises OSError.
    """
    count = 0
    for path in ours_in(day):
        if not going_on():
            return count
        path.unlink(missing_ok=True)
        count += 1
    for folder in (day, day.parent):
        with suppress(OSError):  # something is in it
            folder.rmdir()
    return count
