"""A file of standing queries, compiled over the fields of the documents that it is asked of.

What a set comes to depends on the file's bytes and the documents' fields alone: a process compiles it once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection as Several
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pyarrow as pa

from cep.automata.plan import HitStream
from cep.collector import paused
from cep.standing.documents import metadata_of, schema_of
from cep.standing.lines import lines_in
from percolator.library.collection import Change, Collection
from percolator.library.load import LoadReport, prepare_lines
from percolator.library.refusal import Refusal
from percolator.library.standing import StandingQuery
from percolator.library.stored import Stored
from percolator.schema import Schema
from percolator.segment import VERSION
from rules.suggest import did_you_mean
from rules.typed import Stream

CANNOT_BE_READ = "CEP0861"
UNKNOWN_KEY = "CEP0862"

_LAYOUT = 1
"""Raised when equal queries would be compiled to something else."""


class UnreadableError(Exception):
    """A file of queries that is not what it was when the pack was loaded, or cannot be read."""


class CompiledSet:
    """The queries of a file that were accepted, and what became of every line, in `report`.

    What is wrong with a file is known in a third of the time that compiling it takes, which waits until
    somebody asks for `stored`.
    """

    def __init__(self, changes: Iterable[Change], schema: Schema, report: LoadReport) -> None:
        self.report = report
        self._schema = schema
        self._accepted = {change.query.id: change for change in changes}

    @cached_property
    def stored(self) -> Stored:
        """The accepted queries, compiled."""
        accepted = [(one.query, one.node, one.estimate.units) for one in self._accepted.values()]
        self._accepted = {}
        with paused():
            return Stored.of(accepted, self._schema)


def compiled(hits: HitStream) -> CompiledSet:
    """The set of a stream of hits, from the file that its pack names. Raises UnreadableError."""
    if not hits.queries.path:
        raise UnreadableError(f"the file `{hits.queries.file}` of queries `{hits.queries.name}` was not read")
    return _compiled(hits.queries.path, hits.queries.content, _Documents.of(hits.documents))


def compiled_file(path: Path, content: str, documents: Stream) -> CompiledSet:
    """The set of a file with that SHA-256. Raises UnreadableError."""
    return _compiled(str(path), content, _Documents.of(documents))


def name_of(hits: HitStream) -> str:
    """What the compiled set is known by: equal for equal content and fields, in one version of us."""
    schema = schema_of(hits.documents)
    metadata = sorted((name, str(type_)) for name, type_ in metadata_of(hits.documents).items())
    parts = [
        version("standing-rules"),
        _LAYOUT,
        VERSION,
        hits.queries.content,
        schema.text,
        schema.default,
        metadata,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _program() -> str:
    """The version of this program, which decides what words are."""
    try:
        return version("standing-rules")
    except PackageNotFoundError:
        return ""


@dataclass(frozen=True, slots=True)
class _Documents:
    """What compiling looks at; equal for streams with equal fields, wherever they are declared."""

    schema: Schema
    keys: tuple[str, ...]

    def __hash__(self) -> int:
        return hash((self.schema.text, self.keys))

    @classmethod
    def of(cls, documents: Stream) -> _Documents:
        return cls(schema_of(documents), tuple(metadata_of(documents)))


@lru_cache(maxsize=8)
def _compiled(path: str, content: str, documents: _Documents) -> CompiledSet:
    try:
        data = Path(path).read_bytes()
        if hashlib.sha256(data).hexdigest() != content:
            raise UnreadableError(f"the file `{path}` was changed after the pack was loaded")
        lines = lines_in(data, path)
    except (OSError, pa.ArrowException) as problem:
        raise UnreadableError(f"`{path}` cannot be read: {problem}") from problem
    queries = Collection(documents.schema)
    keys = documents.keys
    with paused():  # a third less time
        changes, report = prepare_lines(queries, lines, objection=lambda query: _objection(query, keys))
    return CompiledSet(changes, documents.schema, report)


def _objection(query: StandingQuery, keys: Several[str]) -> Refusal | None:
    """A filter on what no document has would let the query hit nothing."""
    for key in query.filter:
        if key not in keys:
            guess = did_you_mean(key, keys) or "a filter asks for fields of the documents that are no texts"
            return Refusal(UNKNOWN_KEY, f"`filter` asks for `{key}`; {guess}")
    return None
