"""Old days of the record, removed: those that were over `keep` ago or longer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cep.folders import at_a_time, remove_empty, remove_files
from cep.record.layout import days_in, ended_before, ours_in, streams_in

if TYPE_CHECKING:
    from cep.files import AnyPath


def expired(record: AnyPath, now: int, keep: int) -> Iterator[AnyPath]:
    """The folders of days that were over at `now - keep`, wall clock and length in nanoseconds; with `keep` 0
    those of every day. Raises OSError."""
    for stream in streams_in(record):
        for day, path in days_in(stream):
            if keep == 0 or ended_before(day, now - keep):
                yield path


def remove(day: AnyPath, going_on: Callable[[], bool]) -> int:
    """Remove what the record has of a day, as long as `going_on` says so; the number of files removed.

    Files of somebody else stay, with their folder. Raises OSError.
    """
    files, step = list(ours_in(day)), at_a_time(day)
    for first in range(0, len(files), step):
        if not going_on():
            return first
        remove_files(files[first : first + step])
    for folder in (day, day.parent):
        remove_empty(folder)
    return len(files)
