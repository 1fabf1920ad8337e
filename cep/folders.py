"""Folders of this machine's file system, or of a bucket (cep.buckets): what is in them, and removing it.

Whatever fails raises OSError with a sentence and the place, also where the client of a store says it in its
own way.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cep.buckets import store_errors

if TYPE_CHECKING:
    from cep.files import AnyPath

_MOST_REMOVED = 1_000
"""Objects that a store removes by one request."""


class Entry(NamedTuple):
    """A file or folder by its name; `size` is -1 where nobody asked for it. A link is no folder, as whoever
    made it may have meant something else."""

    name: str
    is_folder: bool
    size: int = -1


def entries(folder: AnyPath) -> list[Entry]:
    """Everything in a folder; nothing where there is none. Raises OSError."""
    if isinstance(folder, Path):
        with suppress(FileNotFoundError), os.scandir(folder) as found:
            return [Entry(one.name, one.is_dir(follow_symlinks=False)) for one in found]
        return []
    with store_errors(folder), suppress(FileNotFoundError):
        return [
            Entry(one["name"].rpartition("/")[2], one["type"] == "directory", one["size"])
            for one in folder.fs.ls(folder.path, detail=True, refresh=True)
        ]
    return []


def at_a_time(folder: AnyPath) -> int:
    """The number of files of a folder that are best removed together."""
    return 1 if isinstance(folder, Path) else _MOST_REMOVED


def remove_files(paths: Collection[AnyPath]) -> None:
    """Removes files of one folder, in order; those that are not there are gone already. Raises OSError.

    Objects go as many at a time as a store takes, and of those some may stay where it refuses others.
    """
    objects = []
    for path in paths:
        if isinstance(path, Path):
            path.unlink(missing_ok=True)
        else:
            objects.append(path)
    for first in range(0, len(objects), _MOST_REMOVED):
        with store_errors(objects[first]):
            objects[0].fs.rm([one.path for one in objects[first : first + _MOST_REMOVED]])


def remove_empty(folder: AnyPath) -> None:
    """Removes a folder unless something is in it; a bucket has none without objects."""
    if isinstance(folder, Path):
        with suppress(OSError):
            folder.rmdir()
