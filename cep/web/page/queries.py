"""The page of standing queries: what there is, what each hits and costs, and a form to try a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from cep.web.desk.errors import MistakenError
from cep.web.desk.filters import Page
from cep.web.desk.queries import (
    LONGEST,
    ORDERS,
    QueryHitView,
    document_of,
    named,
    queries_page,
    query_filter,
    try_document,
)
from cep.web.page.forms import Form, query_of
from cep.web.page.site import Site

if TYPE_CHECKING:
    from cep.web.desk.queries import DocumentTried, QueryFilter


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text, `marked` where it made a query true."""

    text: str
    marked: bool


def queries(site: Site, request: Request) -> Response:
    """The standing queries that are wanted."""
    given = request.query_params
    wanted = query_filter(given.get("set"), given.get("text"), given.get("by") or None)
    site.sessions(request).guard()
    return _answer(site, request, wanted, given.get("cursor"))


def try_text(site: Site, request: Request, form: Form) -> Response:
    """The page with the queries that a text hits."""
    name, text = form.one("set") or None, form.one("document")
    wanted = query_filter(name, None, None)
    try:
        tried = try_document(site.desk, name, document_of(named(site.desk, name), text))
    except MistakenError as error:  # said beside the text, which would be lost on the way to another page
        return _answer(site, request, wanted, None, text, wrong=error)
    return _answer(site, request, wanted, None, text, tried)


def _answer(
    site: Site, request: Request, wanted: QueryFilter, cursor: str | None, text: str = "",
    tried: DocumentTried | None = None, wrong: MistakenError | None = None,
) -> Response:  # fmt: skip
    found = queries_page(site.desk, wanted, Page(cursor=cursor))
    said = {"set": found.set, "text": wanted.text, "by": wanted.by}
    following = f"/queries{query_of({**said, 'cursor': found.next})}" if found.next else None
    hits = [] if tried is None else [(one, _marked(tried.document, one)) for one in tried.hits]
    return site.answer(
        request, "queries.html", found=found, wanted=wanted, orders=ORDERS, following=following,
        text=text, longest=LONGEST, tried=tried, hits=hits, wrong=wrong,
    )  # fmt: skip


def _marked(document: Mapping[str, object], hit: QueryHitView) -> list[tuple[str, list[Piece]]]:
    """The texts of a document in which a query found something, cut where it did."""
    return [
        (field, pieces(text, ranges))
        for field, ranges in hit.highlights.items()
        if isinstance(text := document.get(field), str)
    ]


def pieces(text: str, ranges: Sequence[tuple[int, int]]) -> list[Piece]:
    """The text in parts, those in the ranges marked; ranges are in order and apart."""
    found, at = [], 0
    for start, end in ranges:
        found += [Piece(text[at:start], False), Piece(text[start:end], True)]
        at = end
    found.append(Piece(text[at:], False))
    return [one for one in found if one.text]
