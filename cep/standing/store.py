"""Compiled sets in the state folder of a job: made once per content, mapped by all workers of the host.

    CONTENT.jsonl     the file of queries as it was deployed, by its SHA-256
    NAME/             the set compiled over the fields of some documents (cep.standing.compiled.name_of)

Whoever deploys a pack puts its sets here before the job hears of it, so that no batch waits for them. The
file of queries stays beside the sets, so that a later version of this program can compile it anew. A set is
compiled from the one here that has most of its lines; the two share files, and neither needs the other.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from cep.plan.plan import HitStream
from cep.standing import bucket
from cep.standing.compiled import UnreadableError, compiled, compiled_file, family_of, name_of
from cep.standing.kept import NONE, KeptQueries, digests
from cep.standing.lines import lines_of
from percolator.disk import Disk
from percolator.library.damage import DamagedError
from rules.typed import Queries

if TYPE_CHECKING:
    from upath import UPath

_ASKED = 8  # sets of which one may be the earlier one, the latest ones
_SAMPLE = 500  # lines by which it is found
_COMMON = 0.2  # of them it has at least


@dataclass(slots=True)
class QueryStore:
    """The sets of one folder, which is made when the first one comes.

    With a bucket all are `kept` there, and the folder has what was made or asked for on this machine.
    """

    folder: Path
    kept: UPath | None = None
    _earlier: dict[str, KeptQueries] = field(default_factory=dict)
    _verified: set[str] = field(default_factory=set)
    _sent: set[str] = field(default_factory=set)

    def put(self, hits: HitStream) -> None:
        """Sees to it that the set is here. Raises UnreadableError where the file of queries is nowhere.

        What is here already is marked as used now (see `prune`), once it was found to be what was written;
        a damaged set is compiled anew.
        """
        place = self.folder / name_of(hits)
        kept = self._content(hits.queries)
        self.fetch(place.name)
        if hits.queries.path and not kept.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            self._keep(hits.queries, kept)
        if kept.exists():
            os.utime(kept)
        if self._sound(place):
            os.utime(place)
            self._send(kept, place)
            return
        if not (kept.exists() or self.fetch(kept.name)):
            raise UnreadableError(f"the file of queries `{hits.queries.name}` is not in {self.folder}")
        earlier = self.earlier(hits)
        made = compiled(hits, earlier) if hits.queries.path else compiled_file(kept, hits, earlier)
        with self._aside(place) as aside:
            aside.mkdir()
            made.kept.save(aside)
        del self._earlier[name_of(hits)]
        self._send(kept, place)

    def _send(self, *places: Path) -> None:
        """Puts into the bucket what it has not."""
        for place in places:
            if self.kept is not None and place.name not in self._sent and place.exists():
                bucket.send(place, self.kept)
                self._sent.add(place.name)

    def fetch(self, name: str) -> bool:
        """True if a set or file is here, or was in the bucket and is here now. Raises UnreadableError."""
        place = self.folder / name
        if self.kept is None or place.exists():
            return place.exists()
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            with self._aside(place) as aside:
                if not bucket.fetch(name, self.kept, aside):
                    raise FileNotFoundError(name)
        except FileNotFoundError:
            return False
        except OSError as problem:
            raise UnreadableError(f"{self.kept / name} cannot be read: {problem}") from problem
        return True

    def earlier(self, hits: HitStream) -> KeptQueries:
        """The set here from which that of a file is best compiled; an empty one where none has much of it."""
        name = name_of(hits)
        if name not in self._earlier:
            self._earlier[name] = self._most_alike(hits)
        return self._earlier[name]

    def load(self, hits: HitStream) -> KeptQueries:
        """A set that was put here, mapped. Raises UnreadableError."""
        place = self.folder / name_of(hits)
        self.fetch(place.name)
        try:
            return KeptQueries.open(place)
        except DamagedError as problem:
            raise UnreadableError(str(problem)) from problem
        except OSError as problem:
            why = (problem.strerror or str(problem)).lower()
            raise UnreadableError(f"{problem.filename or place}: {why}") from problem

    def prune(self, before: float) -> int:
        """Removes what was last used before a time, in seconds since 1970 UTC; how many sets and files."""
        removed = 0
        for path in list(self.folder.glob("*")):
            with suppress(OSError):  # what goes by itself meanwhile, or cannot go, does no harm
                if path.stat().st_mtime >= before:
                    continue
                if not path.name.startswith("."):
                    # Half a set must not stand under the name of a whole one, should we die here.
                    path = path.rename(path.with_name(f".gone-{path.name}"))
                shutil.rmtree(path) if path.is_dir() else path.unlink()
                removed += 1
        return removed if self.kept is None else removed + bucket.forget(self.kept, self.folder, before)

    def _sound(self, place: Path) -> bool:
        """True if a set is here as it was written. A process verifies it once; a damaged one is removed."""
        if not place.exists():
            return False
        if place.name not in self._verified:
            try:
                KeptQueries.verify(place)
            except (OSError, DamagedError):
                gone = place.with_name(f".gone-{place.name}")  # half a set must not stand under its name
                shutil.rmtree(gone, ignore_errors=True)
                shutil.rmtree(place.rename(gone), ignore_errors=True)
                return False
            self._verified.add(place.name)
        return True

    def _most_alike(self, hits: HitStream) -> KeptQueries:
        places = sorted(self.folder.glob(f"{family_of(hits)}-*"), key=lambda p: p.stat().st_mtime)[-_ASKED:]
        if not places:
            return NONE
        file = hits.queries.path or str(self._content(hits.queries))
        try:
            lines = [line for line in lines_of(file) if line.strip()]
        except (OSError, pa.ArrowException):
            return NONE  # compiling will tell
        step = max(1, len(lines) // _SAMPLE)
        sample = digests(lines[::step])
        best, most = NONE, _COMMON * len(sample)
        for place in places:
            try:
                kept = KeptQueries.open(place)
            except (OSError, DamagedError):
                continue  # whoever asks for that set is told
            common = int(np.count_nonzero(kept.find(sample) >= 0))
            if common > most and self._sound(place):
                best, most = kept, common
        return best

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
