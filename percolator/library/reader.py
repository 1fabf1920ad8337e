"""A library as one of many readers sees it: at a pin, moved on when its owner says so.

A reader maps the segments, which all processes of a host share, and takes the changes of the log into
memory. It writes nothing and locks nothing. At the same pin every reader gives the same hits.
"""

from __future__ import annotations

from pathlib import Path

from percolator.library.collection import Collection
from percolator.library.damage import DamagedError, LibraryError
from percolator.library.log import Record, frames
from percolator.library.manifest import Manifest, Pin, generations, read_manifest
from percolator.library.refusal import RefusedError
from percolator.library.standing import StandingQuery
from percolator.library.stored import StoredSegment
from percolator.matching.compiled import Engine
from percolator.matching.matcher import BUDGET
from percolator.query.errors import QueryError

_ATTEMPTS = 10


class Reader:
    """`queries` answers documents; `refresh` moves it on. `open` makes one."""

    def __init__(self, folder: Path, engine: Engine | None, budget: int, verify: bool) -> None:
        self.folder = folder
        self._engine = engine
        self._budget = budget
        self._verify = verify
        self._stored: dict[str, StoredSegment] = {}
        self.manifest: Manifest
        self.queries: Collection
        self._offset = 0

    @classmethod
    def open(
        cls,
        folder: Path,
        pin: Pin | None = None,
        *,
        engine: Engine | None = None,
        budget: int = BUDGET,
        verify: bool = True,
    ) -> Reader:
        """At a pin, or as it is now. Without `verify` only the sizes of files are looked at.

        Raises LibraryError where there is none or the pin is not kept, DamagedError.
        """
        reader = cls(folder, engine, budget, verify)
        reader._load(pin)
        return reader

    @property
    def pin(self) -> Pin:
        """Where it stands."""
        return Pin(self.manifest.generation, self._offset)

    def refresh(self, pin: Pin | None = None) -> Pin:
        """Goes to a pin, or to what is there now; where it stands then. Raises as `open`."""
        newest = generations(self.folder)[-1] if pin is None else pin.generation
        if newest != self.manifest.generation or (pin is not None and pin.offset < self._offset):
            self._load(pin)
        else:
            self._take_in(None if pin is None else pin.offset)
        return self.pin

    def _load(self, pin: Pin | None) -> None:
        for attempt in range(_ATTEMPTS):
            manifest = None
            try:
                manifest = read_manifest(self.folder, None if pin is None else pin.generation)
                self.manifest, self.queries = self._opened(manifest)
                self._offset = 0
                self._take_in(None if pin is None else pin.offset)
            except FileNotFoundError as problem:
                # A writer may have gone on and removed this generation while it was opened.
                gone = manifest is None or manifest.generation not in generations(self.folder)
                if pin is None and gone and attempt < _ATTEMPTS - 1:
                    continue
                raise DamagedError(Path(problem.filename), "the file is missing") from None
            return

    def _opened(self, manifest: Manifest) -> tuple[Manifest, Collection]:
        manifest.verify(self.folder, contents=False)
        stored = {}
        for entry in manifest.segments:
            known = self._stored.get(entry.name)
            if known is None:
                for file in entry.all_files():
                    file.verify(self.folder, contents=self._verify)
                known = StoredSegment.open(self.folder, entry.name)
            stored[entry.name] = known
        self._stored = stored
        base = [(stored[entry.name], entry.dead_places(self.folder)) for entry in manifest.segments]
        return manifest, Collection(manifest.schema, base, engine=self._engine, budget=self._budget)

    def _take_in(self, end: int | None) -> None:
        for records, behind in frames(self.folder / self.manifest.log, self._offset, end):
            for record in records:
                take_in(record, self.queries)
            self._offset = behind


def take_in(record: Record, queries: Collection) -> None:
    """Does to a collection what a record of the log says. Raises LibraryError for one of another program."""
    match record:
        case {"add": query}:
            try:
                queries.put(StandingQuery.read(query))
            except (RefusedError, QueryError) as problem:
                raise LibraryError(f"the log has a query that is not understood: {problem}") from None
        case {"remove": str(id_)}:
            queries.remove(id_)
        case {"expire": int(time)}:
            queries.expire(time)
        case _:
            raise LibraryError(f"the log has a record that is not understood: {str(record)[:80]}")
