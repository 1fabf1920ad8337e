"""Changes of what batches have read, such as a file that grows afterwards: they are reported."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from cep.decode.letters import DeadLetter
from cep.job.state_folder.extents import Sources, of_rows
from cep.sources.source import Extent

if TYPE_CHECKING:
    from cep.files import AnyPath

_KEPT = 1_000
"""Extents that are looked at, those that were read last."""
_AT_ONCE = 20
"""Extents that are looked at after one batch: some milliseconds where files lie in a mounted folder."""


class Growth:
    """The extents that were read last. `told` says which of some places have a letter already."""

    def __init__(
        self,
        manifests: AnyPath,
        sources: Callable[[], Sources],
        told: Callable[[Collection[str]], Collection[str]],
    ) -> None:
        self._sources = sources
        found = _read_before(manifests, sources())
        known = told(found.keys()) if found else ()
        self._read = {path: one for path, one in found.items() if path not in known}

    def add(self, read: Iterable[Extent], told: Iterable[DeadLetter]) -> None:
        """Takes in the extents of a batch, but for those whose change its letters tell already."""
        changed = {letter.file for letter in told if letter.stage in ("read", "lost")}
        for one in read:
            self._read.pop(one.path, None)
            if one.path not in changed:
                self._read[one.path] = one
        while len(self._read) > _KEPT:
            del self._read[next(iter(self._read))]

    def look(self, own: Iterable[str] = ()) -> list[DeadLetter]:
        """Letters about those of the next few that have changed; of each place there is one, once.

        `own` are the places of the batch that has just run, which itself tells what became of them.
        """
        letters = []
        for path in own:
            self._read.pop(path, None)
        for path in list(self._read)[:_AT_ONCE]:
            one = self._read.pop(path)
            match self._sources()[one.stream].afterwards(one):
                case DeadLetter() as letter:
                    letters.append(letter)
                case None:
                    pass
                case same:
                    self._read[path] = same
        return letters


def _read_before(manifests: AnyPath, sources: Sources) -> dict[str, Extent]:
    """The extents of the batches before, by place, the latest last. A damaged list is left out."""
    numbers = (int(path.stem) for path in manifests.glob("*.files") if path.stem.isdecimal())
    found: list[Extent] = []
    for number in sorted(numbers, reverse=True):
        with suppress(OSError, ValueError, KeyError, TypeError):
            value = json.loads((manifests / f"{number}.files").read_bytes())
            found += of_rows(sources, value["files"])
        if len(found) >= _KEPT:
            break
    return {one.path: one for one in reversed(found[:_KEPT])}
