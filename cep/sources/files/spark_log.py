"""The files that Spark's source has written down, in entries of those that were found at once.

    sources/feed_X/K            the files that came with entry K
    sources/feed_X/K.compact    all files up to entry K

A batch reads the entries behind that of the batch before, up to its own, which `offsets/N` names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from cep.sources.checkpoint import Checkpoint, DamagedError, text

if TYPE_CHECKING:
    from cep.files import AnyPath

COMPACTED = 100
"""After so many entries a log is written anew as one file."""

_UNUSED = "no batch has used it yet: remove it, and its files are listed anew"


def files(checkpoint: Checkpoint, stream: str, batch: int) -> list[str]:
    """The files that a batch reads of a feed, sorted. Raises DamagedError."""
    last = _entry(checkpoint, stream, batch)
    since = _entry(checkpoint, stream, batch - 1) if batch else -1
    return sorted(
        {path for entry in range(since + 1, last + 1) for path in _found(checkpoint, stream, entry)}
    )


def check(checkpoint: Checkpoint, stream: str, batch: int) -> None:
    """Raises DamagedError where a file is not whole that Spark reads to know which files are new."""
    last, reached = _entry(checkpoint, stream, batch), -1
    for path in logged(checkpoint, stream):
        number = int(path.stem)
        try:
            entries(path)
        except DamagedError as error:
            unused = number > last and not path.suffix
            raise DamagedError(error.path, error.why, _UNUSED if unused else "") from error
        reached = number
    if reached < last:
        raise DamagedError(checkpoint.log(stream) / str(last), "is missing")


def logged(checkpoint: Checkpoint, stream: str) -> list[AnyPath]:
    """The files of a feed's log that Spark reads: the last compacted one and all since, in order."""
    folder = checkpoint.log(stream)
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    numbers = [int(name.removesuffix(".compact")) for name in names if re.fullmatch(r"\d+(\.compact)?", name)]
    if not numbers:
        return []
    latest = max(numbers)
    compact = latest - (latest + 1) % COMPACTED
    entries = [folder / str(number) for number in range(max(compact, -1) + 1, latest + 1)]
    return [folder / f"{compact}.compact", *entries] if compact >= 0 else entries


def _entry(checkpoint: Checkpoint, stream: str, batch: int) -> int:
    """The last entry that a batch reads of the log of a feed; -1 if it reads none."""
    offset = checkpoint.offsets(batch).get(stream)
    try:
        return -1 if offset is None else int(offset["logOffset"])
    except (ValueError, KeyError, TypeError) as error:
        raise checkpoint.no_record(batch) from error


def _found(checkpoint: Checkpoint, stream: str, entry: int) -> Iterator[str]:
    folder = checkpoint.log(stream)
    path = folder / str(entry)
    if not path.exists():
        path = folder / f"{entry + (COMPACTED - 1 - entry) % COMPACTED}.compact"
        if not path.exists():
            raise DamagedError(folder / str(entry), "is missing")
    return (local_path(str(row["path"])) for row in entries(path) if row["batchId"] == entry)


def entries(path: AnyPath) -> list[dict[str, Any]]:
    """The rows of a file of a feed's log. Raises DamagedError."""
    first, *rows = text(path).split("\n")
    try:
        found = [json.loads(row) for row in rows if row]
        if first != "v1" or not all({"path", "batchId"} <= row.keys() for row in found):
            raise ValueError(first)
    except (ValueError, AttributeError) as error:
        raise DamagedError(path, "is no list of files") from error
    return found


def local_path(path: str) -> str:
    """The file of a path as Spark writes it down."""
    return unquote(re.sub(r"^file:/*", "/", path))
