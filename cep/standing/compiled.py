"""A file of standing queries, compiled over the fields of the documents that it is asked of.

What a set comes to depends on the file's bytes and the documents' fields alone. So a process keeps the last
few that it compiled: a set that was compiled for its findings is not compiled again to be used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection as Several
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pyarrow as pa

from cep.plan.plan import HitStream
from cep.standing.documents import metadata_of, schema_of
from cep.standing.kept import NONE, KeptQueries
from cep.standing.lines import lines_in
from cep.standing.renewal import Renewal, renewal
from percolator.library.refusal import Refusal
from percolator.library.standing import StandingQuery
from percolator.schema import Schema
from percolator.segment import VERSION
from rules.suggest import did_you_mean
from rules.typed import Stream

CANNOT_BE_READ = "CEP0861"
UNKNOWN_KEY = "CEP0862"

_LAYOUT = 3
"""Raised when equal queries would be compiled to something else, or other lines be warned of."""


class UnreadableError(Exception):
    """A file of queries that is not what it was when the pack was loaded, or cannot be read."""


class CompiledSet:
    """The queries of a file that were accepted, and what became of every line, in `report`.

    What is wrong with a file is known in a third of the time that compiling it takes, which waits until
    somebody asks for `kept`.
    """

    def __init__(self, renewal: Renewal) -> None:
        self.report = renewal.report
        self._renewal: Renewal | None = renewal

    @cached_property
    def kept(self) -> KeptQueries:
        """The accepted queries, compiled."""
        assert self._renewal is not None
        renewal, self._renewal = self._renewal, None
        return renewal.kept()


def compiled(hits: HitStream, earlier: KeptQueries = NONE) -> CompiledSet:
    """The set of a stream of hits, from the file that its pack names. Raises UnreadableError.

    Lines that `earlier`, a set over the same documents' fields, holds already are taken from it.
    """
    if not hits.queries.path:
        raise UnreadableError(f"the file `{hits.queries.file}` of queries `{hits.queries.name}` was not read")
    return _compiled(hits.queries.path, hits.queries.content, _Documents.of(hits.documents), earlier)


def compiled_file(path: Path, hits: HitStream, earlier: KeptQueries = NONE) -> CompiledSet:
    """The same from a copy of the file. Raises UnreadableError."""
    return _compiled(str(path), hits.queries.content, _Documents.of(hits.documents), earlier)


def name_of(hits: HitStream) -> str:
    """The name of the compiled set: equal for equal content and fields, in one version of us.

    Names of sets over the same fields begin with the same `family_of`.
    """
    return f"{family_of(hits)}-{hits.queries.content[:32]}"


def family_of(hits: HitStream) -> str:
    """The beginning of the names of all sets over the same fields, compiled by one version of us."""
    schema = schema_of(hits.documents)
    metadata = sorted((name, str(type_)) for name, type_ in metadata_of(hits.documents).items())
    parts = [_program(), _LAYOUT, VERSION, schema.text, schema.default, metadata]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


@cache
def _program() -> str:
    """The version of this program, which decides what words are."""
    try:
        return version("standing-rules")
    except PackageNotFoundError:
        return ""


@dataclass(frozen=True, slots=True)
class _Documents:
    """The fields that compiling looks at; equal for streams with equal fields, wherever they are declared."""

    schema: Schema
    keys: tuple[str, ...]

    def __hash__(self) -> int:
        return hash((self.schema.text, self.keys))

    @classmethod
    def of(cls, documents: Stream) -> _Documents:
        return cls(schema_of(documents), tuple(metadata_of(documents)))


@lru_cache(maxsize=8)
def _compiled(path: str, content: str, documents: _Documents, earlier: KeptQueries) -> CompiledSet:
    try:
        data = Path(path).read_bytes()
        if hashlib.sha256(data).hexdigest() != content:
            raise UnreadableError(f"the file `{path}` was changed after the pack was loaded")
        lines = lines_in(data, path)
    except (OSError, pa.ArrowException) as problem:
        raise UnreadableError(f"`{path}` cannot be read: {problem}") from problem
    keys = documents.keys
    return CompiledSet(renewal(lines, documents.schema, lambda query: _objection(query, keys), earlier))


def _objection(query: StandingQuery, keys: Several[str]) -> Refusal | None:
    """A filter on what no document has would let the query hit nothing."""
    for key in query.filter:
        if key not in keys:
            guess = did_you_mean(key, keys) or "a filter asks for fields of the documents that are no texts"
            return Refusal(UNKNOWN_KEY, f"`filter` asks for `{key}`; {guess}")
    return None
