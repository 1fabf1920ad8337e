"""Standing queries over documents, in memory: a door to the package `percolator`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from cep.api.errors import DataError, QueryError

if TYPE_CHECKING:
    from percolator.library.standing import StandingQuery

Metadata = Mapping[str, str | Sequence[str]]
Dialect = Literal["native", "lucene", "factiva"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A query that is true on a document.

    `names` are its named parts that were true, in the order of the query. `highlights` are ranges of
    characters (start, end exclusive) by field, None where they were not asked for; of a field with several
    values they count as if one character stood between two of them. `complete` is false where names and
    highlights have too many places to be told.
    """

    query: str
    version: int
    tags: tuple[str, ...]
    priority: int
    names: tuple[str, ...]
    highlights: Mapping[str, Sequence[tuple[int, int]]] | None
    complete: bool


@dataclass(frozen=True, slots=True)
class Matches:
    """The hits of one document in order of the queries' ids.

    `undecided` are ids of queries that came to their budget of positions: nobody knows whether they hit.
    """

    hits: tuple[Hit, ...]
    undecided: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryFinding:
    """A finding about a line of queries, counted from 1; `id` is None where none could be read.

    `code` names a page of docs/errors; `position` is as in QueryError, `help` may be empty.
    """

    line: int
    id: str | None
    code: str
    message: str
    position: int | None
    help: str = ""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A report of lines of queries: `taken` are there now, `refused` are not.

    `warnings` are of queries that were taken: costly ones, and words that look like operators.
    """

    taken: int
    refused: tuple[QueryFinding, ...]
    warnings: tuple[QueryFinding, ...]


class Percolator:
    """Standing queries of one schema by id, and the documents that they hit. One thread may use it at a time.

    `fields` are names with their types, as in `{"title": "text", "body": "text english", "lang": "keyword"}`
    (docs/query-language.md); a term without a field is looked for in those of `default`, without it in every
    text field. Raises DataError for a declaration that is none.
    """

    def __init__(self, fields: Mapping[str, str], *, default: Sequence[str] | None = None) -> None:
        from percolator.library.collection import Collection
        from percolator.schema import Schema, SchemaError

        try:
            self._queries = Collection(Schema.of(fields, default))
        except SchemaError as problem:
            raise DataError(str(problem)) from None

    def __len__(self) -> int:
        """Number of queries, expired ones included."""
        return len(self._queries)

    def __contains__(self, id_: object) -> bool:
        """True if there is a query of that id, expired or not."""
        return id_ in self._queries

    def add(
        self,
        id: str,  # noqa: A002  the name in files of queries
        query: str,
        *,
        version: int | None = None,
        filter: Mapping[str, str | Sequence[str]] | None = None,  # noqa: A002  as above
        tags: Sequence[str] = (),
        priority: int = 0,
        expires: datetime | str | None = None,
        dialect: Dialect = "native",
    ) -> int:
        """Takes a query in, in place of one with its id, and returns its version.

        Without `version` it gets the next one. For every key of `filter` a document's metadata must have one
        of the values. The query hits no document of the time `expires` or a later one. Raises QueryError.
        """
        given: dict[str, object] = {
            "id": id, "query": query, "version": version, "tags": list(tags), "priority": priority,
            "filter": {key: _listed(values) for key, values in (filter or {}).items()},
            "expires": expires.isoformat() if isinstance(expires, datetime) else expires,
            "dialect": dialect,
        }  # fmt: skip
        from percolator.library.refusal import RefusedError
        from percolator.library.standing import StandingQuery

        try:
            change = self._queries.add(StandingQuery.read(given))
        except RefusedError as problem:
            why = problem.refusal
            raise QueryError(str(why.code), why.message, why.position) from None
        return _version(change.query)

    def load(self, lines: Iterable[str | bytes], *, dialect: Dialect = "native") -> Loaded:
        """Takes in the good ones of queries given as JSON lines (an open file, say); tells of the others."""
        from percolator.library.load import load

        report = load(self._queries, lines, dialect)
        refused = tuple(
            QueryFinding(one.line, one.id, str(one.refusal.code), one.refusal.message, one.refusal.position)
            for one in report.refused
        )
        costly = tuple(
            QueryFinding(line, id_, "CEP0864", message, None) for line, id_, message in report.warnings
        )
        alike = tuple(
            QueryFinding(one.line, one.id, str(found.code), found.message, found.span.start, found.help)
            for one in report.lookalikes
            for found in [one.lookalike]
        )
        return Loaded(report.taken, refused, costly + alike)

    def remove(self, id: str) -> bool:  # noqa: A002  as above
        """Takes a query out; whether there was one."""
        return self._queries.remove(id)

    def match(
        self,
        document: Mapping[str, object],
        *,
        metadata: Metadata | None = None,
        time: datetime | str | None = None,
        highlight: bool = False,
    ) -> Matches:
        """The queries that are true on a document, given by field.

        `time` is the document's: queries that expire then or before do not hit; without it none has expired.
        Raises DataError where a field that some query asks for has a value that it cannot have.
        """
        from percolator.library.standing import moment
        from percolator.values import DocumentError

        try:
            at = None if time is None else moment(time)
            answer = self._queries.match(document, metadata, at, highlight=highlight)
        except DocumentError as problem:
            raise DataError(str(problem)) from None
        hits = tuple(
            Hit(
                found.query.id,
                _version(found.query),
                found.query.tags,
                found.query.priority,
                found.names,
                found.highlights,
                found.complete,
            )
            for found in answer.hits
        )
        return Matches(hits, tuple(query.id for query in answer.undecided))


def _listed(values: str | Sequence[str]) -> list[str]:
    return [values] if isinstance(values, str) else list(values)


def _version(query: StandingQuery) -> int:
    assert query.version is not None  # every query that was taken in has one
    return query.version
