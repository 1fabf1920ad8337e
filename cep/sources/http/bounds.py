"""The stretches of a log that each batch reads: fixed when the batch is first asked about, and found again
ever after.

`read/N.json` in the log's folder is whole or absent; of several processes that write it the first one counts.
A batch begins where the one before ends. Bounds older than any batch that Spark can run again go, and with
them segments that all of these are behind.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cep.buckets import StoreError, store_errors
from cep.files import DamagedFileError, read_json, write_json
from cep.folders import entries, remove_files
from cep.sources.checkpoint import DamagedError
from cep.sources.http.intake import intake_of
from cep.sources.http.segments import (
    Position,
    Stretch,
    end_of_log,
    line_begin,
    numbers,
    path_of,
    stretches,
)
from cep.sources.source import BATCH_BYTES

if TYPE_CHECKING:
    from cep.files import AnyPath

_KEPT = 100  # batches: so far back Spark can go


def read_up_to(folder: AnyPath) -> Position:
    """The place up to where the newest batch reads; the beginning if there was none. Raises DamagedError."""
    found = _batches(folder)
    return _bound(folder, max(found)).until if found else Position()


def between(folder: AnyPath, batch: int, *, going_on: bool) -> list[Stretch]:
    """The stretches that a batch reads, in order, fixed now if they were not.

    `going_on`: the batch before read this log, too. Raises DamagedError.
    """
    intake = intake_of(folder)
    if intake is not None and going_on and intake.batch == batch - 1:  # nobody need be asked
        since, old = intake.read, [batch - _KEPT]
    else:
        since = _bound(folder, batch - 1).until if going_on else _before(folder, batch)
        with suppress(FileNotFoundError):
            return _read(folder, batch).stretches
        # also those that a process left which ended before it forgot them
        old = sorted(one for one in _batches(folder) if one <= batch - _KEPT)
    end = max(since, end_of(folder))
    known = None if intake is None else intake.log.sizes
    bound = _next(folder, stretches(folder, since, end, known), end)
    try:
        _write(folder, batch, bound)
    except FileExistsError:  # another process took the job over, and has asked meanwhile
        return _bound(folder, batch).stretches
    if intake is not None:
        octets = sum(last - first for _, first, last in bound.stretches)
        intake.was_read(batch, bound.until, octets)
    for one in old:
        _forget(folder, one)
    return bound.stretches


def end_of(folder: AnyPath) -> Position:
    """The place behind what is on disk for good; where nobody appends, behind the last whole line."""
    intake = intake_of(folder)
    return end_of_log(folder) if intake is None else intake.end


def reached(folder: AnyPath, batch: int) -> Position:
    """The place up to where a batch reads. Raises DamagedError."""
    return _bound(folder, batch).until


def _before(folder: AnyPath, batch: int) -> Position:
    """The place up to where the last batch before this one reads; the beginning where there was none."""
    found = [number for number in _batches(folder) if number < batch]
    return _bound(folder, max(found)).until if found else Position()


@dataclass(frozen=True, slots=True)
class _Bound:
    """The place up to where a batch reads, and its stretches."""

    until: Position
    stretches: list[Stretch]

    def as_dict(self) -> dict[str, object]:
        """The bound as JSON."""
        return {"segment": self.until.segment, "byte": self.until.byte, "stretches": self.stretches}


def _next(folder: AnyPath, wait: list[Stretch], end: Position) -> _Bound:
    """The bound of a batch that may read these stretches, up to `end`: of about as much as one takes.

    Of a file it may be some of the lines, of objects it is whole ones.
    """
    size, found = 0, []
    for segment, first, last in wait:
        until = min(last, first + BATCH_BYTES - size)
        if until < last:
            path = path_of(folder, segment)
            if not isinstance(path, Path):
                until = first if size else last
            elif until > first:
                until = line_begin(path, until, last)
        if first < until:
            found.append((segment, first, until))
            size += until - first
        if until < last or size >= BATCH_BYTES:
            return _Bound(Position(segment, until), found)
    return _Bound(end, found)


def _bound(folder: AnyPath, batch: int) -> _Bound:
    """The bound of a batch that has one. Raises DamagedError."""
    try:
        return _read(folder, batch)
    except FileNotFoundError:
        raise DamagedError(_file(folder, batch), "is missing") from None


def _read(folder: AnyPath, batch: int) -> _Bound:
    """Raises DamagedError, and FileNotFoundError."""
    path = _file(folder, batch)
    try:
        with store_errors(path):
            value = read_json(path)
        until = Position(int(value["segment"]), int(value["byte"]))
        return _Bound(until, [(int(s), int(first), int(last)) for s, first, last in value["stretches"]])
    except (FileNotFoundError, StoreError):
        raise
    except DamagedFileError as error:
        raise DamagedError(path, str(error)) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedError(path, "cannot be read") from error


def _write(folder: AnyPath, batch: int, bound: _Bound) -> None:
    """Raises FileExistsError where it is there."""
    path = _file(folder, batch)
    if isinstance(path, Path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with store_errors(path):
        write_json(path, bound.as_dict(), new=True)


def _forget(folder: AnyPath, batch: int) -> None:
    """Removes the bounds of a batch, and segments that all batches from the next one on are behind."""
    if batch < 0:
        return
    with suppress(DamagedError):
        bound = _bound(folder, batch)
        if isinstance(folder, Path):
            gone = [segment for segment in numbers(folder) if segment < bound.until.segment]
        else:
            gone = [segment for segment, _, _ in bound.stretches]
        # the bound with the last of them: it tells of what is still there
        remove_files([*(path_of(folder, segment) for segment in gone), _file(folder, batch)])


def _batches(folder: AnyPath) -> list[int]:
    """The batches that have a bound."""
    names = [one.name.partition(".") for one in entries(folder / "read")]
    return [int(number) for number, _, rest in names if rest == "json" and number.isdecimal()]


def _file(folder: AnyPath, batch: int) -> AnyPath:
    return folder / "read" / f"{batch}.json"
