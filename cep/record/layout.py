"""Where the record of an event is: `record/STREAM/DAY/BATCH-LANE.parquet`.

DAY is the day in UTC on which the batch began, by the clock of its manifest: so a batch writes one file for
a stream and lane, whatever the times of its events, and a batch that is run again writes the same files.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote

from cep.folders import entries

if TYPE_CHECKING:
    from cep.files import AnyPath

_LONGEST = 200
"""Bytes of a folder's name; file systems take 255."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_FILE = re.compile(r"(\d+)-(\d+)\.parquet")
_ASIDE = re.compile(r"\.\d+-\d+\.parquet\.(\d+)")


@dataclass(frozen=True, slots=True)
class RecordFile:
    """A file of the record, by its name; `size` is known of an object of a bucket."""

    path: AnyPath
    batch: int
    lane: int
    size: int = -1


def folder_of(record: AnyPath, stream: str) -> AnyPath:
    """The folder of a stream's events. Whatever a name holds, it is one folder, and no two share one."""
    name = quote(stream, safe="")
    if set(name) == {"."}:
        name = name.replace(".", "%2E")
    if len(name) > _LONGEST:
        name = f"{name[: _LONGEST - 34]}%-{hashlib.sha256(stream.encode()).hexdigest()[:32]}"
    return record / name


def day_of(clock: int) -> str:
    """The day in UTC of a moment in nanoseconds since 1970."""
    return datetime.fromtimestamp(clock // 10**9, UTC).date().isoformat()


def file_of(record: AnyPath, stream: str, batch: int, clock: int, lane: int) -> AnyPath:
    """The file of a stream's events that one lane of a batch accepted; `clock` is that of its manifest."""
    return folder_of(record, stream) / day_of(clock) / f"{batch}-{lane}.parquet"


def aside_of(path: AnyPath) -> str:
    """The name under which this process writes a file before it has its own."""
    return f".{path.name}.{os.getpid()}"


def streams_in(record: AnyPath) -> list[AnyPath]:
    """The folders of streams that have something recorded, sorted. Raises OSError, but not for no record."""
    return _folders(record)


def days_in(stream: AnyPath) -> list[tuple[str, AnyPath]]:
    """The days of a stream's folder, the newest first. Raises OSError, but not where there is no folder."""
    found = [(path.name, path) for path in _folders(stream) if _is_day(path.name)]
    return sorted(found, key=lambda one: one[0], reverse=True)


def ended_before(day: str, moment: int) -> bool:
    """True if a day was over at a moment, in nanoseconds since 1970 UTC."""
    after = datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC) + timedelta(days=1)
    return int(after.timestamp()) * 10**9 <= moment


def files_in(day: AnyPath) -> list[RecordFile]:
    """The files of a day, those of the last batch first. Raises OSError, but not where there is no folder."""
    found = []
    for one in entries(day):
        if of := _FILE.fullmatch(one.name):
            found.append(RecordFile(day / one.name, int(of[1]), int(of[2]), one.size))
    return sorted(found, key=lambda one: (-one.batch, one.lane))


def ours_in(day: AnyPath) -> Iterator[AnyPath]:
    """Everything in a day's folder that the record made, whole or not. Raises OSError."""
    for one in entries(day):
        if _FILE.fullmatch(one.name) or _ASIDE.fullmatch(one.name):
            yield day / one.name


def left_behind(day: AnyPath) -> Iterator[AnyPath]:
    """The files that processes which have ended did not finish. Raises OSError."""
    for one in entries(day):
        if (aside := _ASIDE.fullmatch(one.name)) and not _lives(int(aside[1])):
            yield day / one.name


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _is_day(name: str) -> bool:
    if not _DAY.fullmatch(name):
        return False
    with suppress(ValueError):
        date.fromisoformat(name)
        return True
    return False


def _folders(root: AnyPath) -> list[AnyPath]:
    """The folders within, sorted."""
    return [root / name for name in sorted(one.name for one in entries(root) if one.is_folder)]
