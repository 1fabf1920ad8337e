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

from cep.files import DamagedFileError, read_json, write_json
from cep.sources.checkpoint import DamagedError
from cep.sources.http.intake import intake_of
from cep.sources.http.segments import (
    Position,
    Stretch,
    end_of_log,
    numbers,
    path_of,
    stretches,
)
from cep.sources.source import BATCH_BYTES

_KEPT = 100  # batches: so far back Spark can go
_CHUNK = 1 << 20


def read_up_to(folder: Path) -> Position:
    """The place up to where the newest batch reads; the beginning if there was none. Raises DamagedError."""
    found = sorted((int(path.stem) for path in _folder(folder).glob("*.json")), reverse=True)
    return _bound(folder, found[0]).until if found else Position()


def between(folder: Path, batch: int, *, going_on: bool) -> list[Stretch]:
    """The stretches that a batch reads, in order, fixed now if they were not.

    `going_on`: the batch before read this log, too. Raises DamagedError.
    """
    since = _bound(folder, batch - 1).until if going_on else _before(folder, batch)
    if _file(folder, batch).exists():
        return _bound(folder, batch).stretches
    until = _at_most(folder, since, max(since, end_of(folder)))
    bound = _Bound(until, stretches(folder, since, until))
    _folder(folder).mkdir(parents=True, exist_ok=True)
    try:
        write_json(_file(folder, batch), bound.as_dict(), new=True)
    except FileExistsError:  # another process took the job over, and has asked meanwhile
        return _bound(folder, batch).stretches
    if (intake := intake_of(folder)) is not None:
        intake.was_read(until, sum(last - first for _, first, last in bound.stretches))
    _forget(folder, batch - _KEPT)
    return bound.stretches


def end_of(folder: Path) -> Position:
    """The place behind what is on disk for good; where nobody appends, behind the last whole line."""
    intake = intake_of(folder)
    return end_of_log(folder) if intake is None else intake.end


def reached(folder: Path, batch: int) -> Position:
    """The place up to where a batch reads. Raises DamagedError."""
    return _bound(folder, batch).until


def _before(folder: Path, batch: int) -> Position:
    """The place up to where the last batch before this one reads; the beginning where there was none."""
    found = [number for path in _folder(folder).glob("*.json") if (number := int(path.stem)) < batch]
    return _bound(folder, max(found)).until if found else Position()


def _at_most(folder: Path, since: Position, end: Position) -> Position:
    """The place up to where a batch reads that may read up to `end`: about as much as one takes."""
    size = 0
    for segment, first, last in stretches(folder, since, end):
        if size + last - first <= BATCH_BYTES:
            size += last - first
            continue
        at = first + BATCH_BYTES - size
        return Position(segment, first if at == first else _line_begin(path_of(folder, segment), at, last))
    return end


def _line_begin(path: Path, at: int, last: int) -> int:
    """The place of the first line that begins at a byte or behind it."""
    with path.open("rb", buffering=0) as file:
        at -= 1
        file.seek(at)
        while at < last and (chunk := file.read(min(_CHUNK, last - at))):
            found = chunk.find(b"\n")
            if found >= 0:
                return at + found + 1
            at += len(chunk)
    return last


@dataclass(frozen=True, slots=True)
class _Bound:
    """The place up to where a batch reads, and its stretches."""

    until: Position
    stretches: list[Stretch]

    def as_dict(self) -> dict[str, object]:
        """The bound as JSON."""
        return {"segment": self.until.segment, "byte": self.until.byte, "stretches": self.stretches}


def _bound(folder: Path, batch: int) -> _Bound:
    path = _file(folder, batch)
    try:
        value = read_json(path)
        until = Position(int(value["segment"]), int(value["byte"]))
        return _Bound(until, [(int(s), int(first), int(last)) for s, first, last in value["stretches"]])
    except FileNotFoundError:
        raise DamagedError(path, "is missing") from None
    except DamagedFileError as error:
        raise DamagedError(path, str(error)) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedError(path, "cannot be read") from error


def _forget(folder: Path, batch: int) -> None:
    """Removes the bounds of a batch, and all segments in front of that of the next one."""
    _file(folder, batch).unlink(missing_ok=True)
    with suppress(DamagedError):
        oldest = _bound(folder, batch + 1).until.segment
        for segment in numbers(folder):
            if segment < oldest:
                path_of(folder, segment).unlink(missing_ok=True)


def _folder(folder: Path) -> Path:
    return folder / "read"


def _file(folder: Path, batch: int) -> Path:
    return _folder(folder) / f"{batch}.json"
