"""Standing queries: what there is, what each hits and costs; and which of them a document hits."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from alerts.notation import timestamp
from cep.job.state_folder.folder import StateFolder
from cep.plan.plan import HitStream, hit_streams
from cep.web.desk.desk import JobDesk, moment
from cep.web.desk.errors import MissingError, MistakenError, NotYetError
from cep.web.desk.filters import Page, number_of, told
from cep.web.desk.packs import running
from cep.web.desk.query_counts import CountsOfSet
from percolator.library.standing import NEVER, moment_text

if TYPE_CHECKING:
    import pyarrow as pa

    from cep.standing.answers import QuerySet
    from cep.standing.documents import Reader
    from cep.standing.kept import KeptQueries
    from cep.standing.listed import ListedQueries, Order
    from percolator.library.answer import Answer
    from percolator.library.standing import StandingQuery
    from rules.typed import Path as Path_
    from rules.typed import Stream

LONGEST = 100_000
"""Characters of a document that is tried."""
SHOWN = 500
"""Queries that an answer to it names."""
ORDERS: tuple[Order, ...] = ("hits", "cost", "id")
_NOTHING = CountsOfSet({}, {})


@dataclass(frozen=True, slots=True)
class QueryView:
    """A standing query. `hits` and `undecided` count documents since the job's process began, the latter
    those at which it came to its limit; `cost` is an estimate, most queries have about one."""

    id: str
    query: str
    tags: tuple[str, ...]
    filter: Mapping[str, tuple[str, ...]]
    priority: int
    expires: str | None
    cost: float
    hits: int
    undecided: int


@dataclass(frozen=True, slots=True)
class QuerySetView:
    """A set of queries, and the stream of documents that it is asked of. `refused` counts lines of its file
    that are no queries, `documents` those that it was asked about."""

    queries: str
    stream: str
    pack: str
    file: str
    count: int
    refused: int | None
    documents: int


@dataclass(frozen=True, slots=True)
class QueryPage:
    """Some queries of one set; `matched` counts those that the filter wants, `next` is a cursor, `since` when
    counting began: None where the job does not run here."""

    sets: tuple[QuerySetView, ...]
    queries: tuple[QueryView, ...]
    set: str | None
    matched: int
    since: str | None
    next: str | None


@dataclass(frozen=True, slots=True)
class QueryHitView:
    """A query that a document hits. `highlights` has by field the ranges, in characters, that made it true;
    `complete` is false where there are too many."""

    id: str
    query: str
    tags: tuple[str, ...]
    names: tuple[str, ...]
    highlights: Mapping[str, tuple[tuple[int, int], ...]]
    complete: bool


@dataclass(frozen=True, slots=True)
class DocumentTried:
    """The hits of a document, at most 500 by id; `more` of them are left out. `undecided` are ids of those
    whose limit was reached. `document` is what was asked about."""

    set: str
    document: Mapping[str, object]
    hits: tuple[QueryHitView, ...]
    more: int
    undecided: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueryFilter:
    """The queries wanted: of a set (None: the first), saying a `text`, in an order."""

    set: str | None = None
    text: str = ""
    by: Order = "hits"


def query_filter(set_: str | None, text: str | None, by: str | None) -> QueryFilter:
    """The filter of some parameters. Raises MistakenError."""
    order = ORDERS[0] if by is None else next((one for one in ORDERS if one == by), None)
    if order is None:
        raise MistakenError(f"queries have no order `{told(by or '')}`", f"write one of {', '.join(ORDERS)}")
    return QueryFilter(set_ or None, (text or "").strip(), order)


def queries_page(desk: JobDesk, wanted: QueryFilter, page: Page) -> QueryPage:
    """Queries that are wanted. Raises MistakenError, MissingError, NotYetError and OutboxError."""
    of_packs = sets(desk)
    since = None if desk.live is None else moment(desk.live.queries.since)
    views = tuple(_set_view(desk, pack, hits) for pack, hits in of_packs)
    if not of_packs:
        return QueryPage((), (), None, 0, since, None)
    hits = _named(of_packs, wanted.set)
    listed, counts = _listed(desk, hits), _counts(desk, hits)
    start = 0 if page.cursor is None else number_of("cursor", page.cursor)
    places = listed.ordered(listed.saying(wanted.text), wanted.by, counts.hits)
    some = places[start : start + page.limit].tolist()
    following = start + len(some)
    shown = tuple(_view(*listed.query(place), counts) for place in some)
    name = hits.queries.name
    return QueryPage(
        views, shown, name, len(places), since, str(following) if following < len(places) else None
    )


def try_document(desk: JobDesk, name: str | None, document: Mapping[str, object]) -> DocumentTried:
    """The queries of a set that a document hits, by the segments that the job compiled.

    Fields that it does not give are null; a time that it does not give is now. Raises MistakenError,
    MissingError, NotYetError and OutboxError.
    """
    from cep.events import TIME
    from cep.expressions.columns import Columns

    hits = _named(sets(desk), name)
    table = _row(hits, document, desk.clock())
    time = table.column(TIME)[0].as_py()
    found = _opened(desk, hits).tried(hits.documents, Columns(table).field, time)
    views = tuple(
        QueryHitView(
            one.query.id, one.query.query, one.query.tags, one.names,
            {field: tuple(ranges) for field, ranges in (one.highlights or {}).items()}, one.complete,
        )
        for one in found.hits[:SHOWN]
    )  # fmt: skip
    undecided = tuple(one.id for one in found.undecided)
    return DocumentTried(hits.queries.name, document, views, max(0, len(found.hits) - SHOWN), undecided)


def document_of(hits: HitStream, text: str) -> Mapping[str, object]:
    """The document that somebody wrote: a JSON object of fields, or else a text in all fields of texts."""
    from rules.types import Scalar

    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            return found
    return {field.name: text for field in hits.documents.fields if field.type is Scalar.TEXT}


def sets(desk: JobDesk) -> list[tuple[str, HitStream]]:
    """The sets that packs that run ask, each with a pack that does, by name and stream."""
    found = {
        (hits.queries.name, hits.documents.name): (name, hits)
        for name, pack in sorted(running(desk).items())
        for hits in hit_streams(pack)
    }
    return [one for _, one in sorted(found.items())]


def named(desk: JobDesk, name: str | None) -> HitStream:
    """The set of that name; the first where none is given. Raises MissingError."""
    return _named(sets(desk), name)


def _named(of_packs: Sequence[tuple[str, HitStream]], name: str | None) -> HitStream:
    for _, hits in of_packs:
        if name in (None, hits.queries.name):
            return hits
    known = ", ".join(f"`{hits.queries.name}`" for _, hits in of_packs)
    if not known:
        raise MissingError(
            "no pack that runs asks standing queries", "`queries NAME { from FILE }` in a pack"
        )
    raise MissingError(f"there are no queries `{told(name or '')}`", f"there are {known}")


def _row(hits: HitStream, document: Mapping[str, object], now: int) -> pa.Table:
    from cep.decode.blocks import decoder

    documents = hits.documents
    known = {field.name for field in documents.fields}
    if unknown := sorted(document.keys() - known):
        names = ", ".join(f"`{name}`" for name in sorted(known))
        raise MistakenError(f"documents have no field `{told(unknown[0])}`", f"they have {names}")
    given = _with_time(document, documents.time, timestamp(now))
    data = json.dumps(given).encode("utf-8", "replace")
    if len(data) > 8 * LONGEST or sum(len(v) for v in _texts(document)) > LONGEST:
        raise MistakenError(f"the document has more than {LONGEST:,} characters", "try a part of it")
    fields = tuple(replace(field, nullable=True) for field in documents.fields)
    (found,) = decoder(replace(documents, id=None, fields=fields)).decode_records([(0, data)], "x.json", "x")
    if found.dead:
        raise MistakenError(f"the document is none of `{documents.name}`: {found.dead[0].reason}", "mend it")
    return found.events.table


def _with_time(document: Mapping[str, object], path: Path_, now: str) -> dict[str, object]:
    """The document with a time where it has none; a record around it may be missing, too."""
    first, *rest = path
    if not rest:
        return {first: now, **document}
    inner = document.get(first, {})
    if not isinstance(inner, dict):
        return dict(document)
    return {**document, first: _with_time(inner, tuple(rest), now)}


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for one in value.values():
                yield from _texts(one)
        case list():
            for one in value:
                yield from _texts(one)


def _view(query: StandingQuery, cost: float, counts: CountsOfSet) -> QueryView:
    expires = None if query.expires == NEVER else moment_text(query.expires)
    return QueryView(
        query.id, query.query, query.tags, query.filter, query.priority, expires, round(cost, 2),
        counts.hits.get(query.id, 0), counts.undecided.get(query.id, 0),
    )  # fmt: skip


def _set_view(desk: JobDesk, pack: str, hits: HitStream) -> QuerySetView:
    name, content = hits.queries.name, hits.queries.content
    count = len(_listed(desk, hits))
    lines = _lines(desk.job.state / "queries", content, Path(hits.queries.file).suffix.lower())
    refused = None if lines is None else lines - count
    documents = 0 if desk.live is None else desk.live.queries.documents(name)
    return QuerySetView(name, hits.documents.name, pack, hits.queries.file, count, refused, documents)


def _counts(desk: JobDesk, hits: HitStream) -> CountsOfSet:
    return _NOTHING if desk.live is None else desk.live.queries.of(hits.queries.name)


def _listed(desk: JobDesk, hits: HitStream) -> ListedQueries:
    return _opened(desk, hits).listed


@dataclass(slots=True)
class _Opened:
    """A set that is mapped, for this process's requests. What it learns while it is asked is one thread's."""

    kept: KeptQueries
    listed: ListedQueries
    lock: threading.Lock
    asked: QuerySet | None = None

    def tried(self, documents: Stream, read: Reader, time: int) -> Answer:
        """The hits of one document."""
        from cep.standing.answers import QuerySet

        with self.lock:
            if self.asked is None:
                self.asked = QuerySet(self.kept, documents)
            return self.asked.tried(read, time)


def _opened(desk: JobDesk, hits: HitStream) -> _Opened:
    from cep.standing.compiled import name_of
    from percolator.library.damage import DamagedError

    try:
        StateFolder.of(desk.job, desk.environ).query_store.fetch(name_of(hits))
        return _of_folder(desk.job.state / "queries", name_of(hits))
    except (OSError, DamagedError) as error:
        said = f"the queries `{hits.queries.name}` cannot be read: {error}"
        raise NotYetError(said, "they are compiled when the job starts") from error


@lru_cache(4)
def _of_folder(folder: Path, name: str) -> _Opened:
    """The set of that name, which says what is in it and of which fields it is asked."""
    from cep.standing.kept import KeptQueries
    from cep.standing.listed import ListedQueries

    kept = KeptQueries.open(folder / name)
    return _Opened(kept, ListedQueries(kept), threading.Lock())


@lru_cache(8)
def _lines(folder: Path, content: str, suffix: str) -> int | None:
    """The number of lines of a file of queries with something in them; None where it is not there."""
    import pyarrow as pa

    from cep.standing.lines import lines_of

    name = content + (suffix if suffix in (".gz", ".zst") else ".jsonl")
    try:
        return sum(1 for line in lines_of(str(folder / name)) if line.strip())
    except (OSError, pa.ArrowException):
        return None
