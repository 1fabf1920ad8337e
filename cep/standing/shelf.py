"""Compiled sets in the state folder of a job: made once per content, mapped by all workers of the host.

    CONTENT.jsonl     the file of queries as it was deployed, by its SHA-256
    NAME/             the set compiled over the fields of some documents (cep.standing.compiled.name_of)

Whoever deploys a pack puts its sets here before the job hears of it, so that no batch waits for them. The
file of queries stays beside the sets, so that a later version of this program can compile it anew.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cep.automata.plan import HitStream
from cep.standing.answers import QuerySet
from cep.standing.compiled import UnreadableError, compiled, compiled_file, name_of
from percolator.disk import Disk
from percolator.library.damage import DamagedError
from percolator.library.stored import Stored
from rules.typed import Queries

_SET = "set"
_KEPT = 4  # opened sets of one process: those that run, and those of a replay around deploys


@dataclass(slots=True)
class Shelf:
    """The sets of one folder, which is made when the first one comes."""

    folder: Path
    _opened: dict[str, QuerySet] = field(default_factory=dict)

    def put(self, hits: HitStream) -> None:
        """Sees to it that the set is here. Raises UnreadableError where the file of queries is nowhere."""
        place = self.folder / name_of(hits)
        kept = self._content(hits.queries)
        if hits.queries.path and not kept.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            self._keep(hits.queries, kept)
        if place.exists():
            return
        if not kept.exists():
            raise UnreadableError(f"the file of queries `{hits.queries.name}` is not in {self.folder}")
        made = (
            compiled(hits) if hits.queries.path else compiled_file(kept, hits.queries.content, hits.documents)
        )
        with self._aside(place) as aside:
            aside.mkdir()
            made.stored.save(aside, _SET, Disk())

    def open(self, hits: HitStream) -> QuerySet:
        """A set that was put here, mapped. Raises UnreadableError."""
        name = name_of(hits)
        found = self._opened.pop(name, None)
        if found is None:
            try:
                found = QuerySet(Stored.open(self.folder / name, _SET), hits.documents)
            except (OSError, DamagedError) as problem:
                what = f"the compiled queries `{hits.queries.name}` in {self.folder / name}"
                raise UnreadableError(f"{what} cannot be read: {problem}") from problem
        self._opened[name] = found
        while len(self._opened) > _KEPT:
            self._opened.pop(next(iter(self._opened)))
        return found

    def _content(self, queries: Queries) -> Path:
        suffix = Path(queries.file).suffix.lower()
        return self.folder / (queries.content + (suffix if suffix in (".gz", ".zst") else ".jsonl"))

    def _keep(self, queries: Queries, kept: Path) -> None:
        with self._aside(kept) as aside:
            try:
                shutil.copyfile(queries.path, aside)
                with aside.open("rb") as file:
                    content = hashlib.file_digest(file, "sha256").hexdigest()
                    os.fsync(file.fileno())
            except OSError as problem:
                raise UnreadableError(f"`{queries.path}` cannot be read: {problem}") from problem
            if content != queries.content:
                raise UnreadableError(f"the file `{queries.path}` was changed after the pack was loaded")

    @contextmanager
    def _aside(self, place: Path) -> Iterator[Path]:
        """Where to make what then appears at its place in one step; who comes second finds it there."""
        aside = place.with_name(f".{place.name}.{os.getpid()}")
        try:
            yield aside
            try:
                aside.rename(place)
            except OSError:
                if not place.exists():
                    raise
            Disk().sync_folder(self.folder)
        finally:
            if aside.is_dir():
                shutil.rmtree(aside, ignore_errors=True)
            else:
                aside.unlink(missing_ok=True)
