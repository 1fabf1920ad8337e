"""Files that batches have read and that change afterwards: Spark reads no name twice, so that is told.

Someone who appends to a file of a feed, or writes it again under its name, would else lose events in silence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from cep.decode.letters import DeadLetter
from cep.job.extents import Extent, difference

_KEPT = 1_000
"""Files that are looked at, those that were read last."""
_AT_ONCE = 20
"""Files that are looked at after one batch: some milliseconds where their folder is a mounted one."""


class Growth:
    """The files that were read last. `told` says which of some files have a letter already."""

    def __init__(self, manifests: Path, told: Callable[[Collection[str]], Collection[str]]) -> None:
        found = _read_before(manifests)
        known = told(found.keys()) if found else ()
        self._files = {path: one for path, one in found.items() if path not in known}

    def add(self, read: Iterable[Extent], told: Iterable[DeadLetter]) -> None:
        """Takes in the files of a batch, but for those whose change its letters tell already."""
        changed = {letter.file for letter in told if letter.stage in ("read", "lost")}
        for one in read:
            self._files.pop(one.path, None)
            if one.path not in changed:
                self._files[one.path] = one
        while len(self._files) > _KEPT:
            del self._files[next(iter(self._files))]

    def look(self, own: Iterable[str] = ()) -> list[DeadLetter]:
        """Letters about those of the next few files that have changed; of each file there is one, once.

        `own` are the files of the batch that has just run, which itself tells what became of them.
        """
        letters = []
        for path in own:
            self._files.pop(path, None)
        for path in list(self._files)[:_AT_ONCE]:
            one = self._files.pop(path)
            with suppress(OSError):  # who is gone, or may not be looked at, has nothing to read
                status = Path(path).stat()
                if (status.st_size, status.st_mtime_ns) != (one.length, one.modified):
                    if why := _changed(one, status.st_size):
                        letters.append(DeadLetter(one.stream, path, one.length, "read", why, b""))
                        continue
                    one = replace(one, modified=status.st_mtime_ns)
                self._files[path] = one
        return letters


def _changed(one: Extent, length: int) -> str:
    """What became of a file, a sentence; empty if it holds what it held."""
    if difference(one, thorough=True) is not None:
        return (
            "the file was written again after it was read and is not read again: "
            "give what is new a name of its own"
        )
    if length > one.length:
        return (
            f"the file grew from {one.length} to {length} bytes after it was read and is not read "
            "again: write a file elsewhere and rename it in"
        )
    return ""


def _read_before(manifests: Path) -> dict[str, Extent]:
    """The files of the batches before, by path, the latest last. A damaged list is left out."""
    numbers = (int(path.stem) for path in manifests.glob("*.files") if path.stem.isdecimal())
    found: list[Extent] = []
    for number in sorted(numbers, reverse=True):
        with suppress(OSError, ValueError, KeyError, TypeError):
            value = json.loads((manifests / f"{number}.files").read_bytes())
            found += [Extent(*one) for one in value["files"]]
        if len(found) >= _KEPT:
            break
    return {one.path: one for one in reversed(found[:_KEPT])}
