"""`S matching Q`: the stream of documents and the queries that hit them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from rules import syntax, typed
from rules.diagnostics import Label
from rules.resolve.declared import Declared, StreamInfo
from rules.source import Span
from rules.suggest import meant
from rules.types import ListOf, Scalar, Type

HIT_FIELDS: Mapping[str, tuple[Type, bool]] = MappingProxyType(
    {
        "query": (Scalar.STRING, False),
        "tags": (ListOf(Scalar.STRING), False),
        "priority": (Scalar.LONG, False),
        "names": (ListOf(Scalar.STRING), False),
    }
)
"""What a hit has besides the document's fields, and whether it may be null."""


def declare_queries(node: syntax.Queries, declared: Declared) -> None:
    """Add the queries to what is declared. Their lines are read where they are put to use."""
    if not node.file.value.strip():
        declared.findings.error(
            "CEP0253",
            "the file of the queries has no name",
            node.file.span,
            help_='name it: `from "watchlist.jsonl"`',
        )
    declared.queries[node.name.text] = typed.Queries(node.name.text, node.file.value, node.file.span)


def hits_of(
    documents: StreamInfo, stream: syntax.Name, queries: syntax.Name, declared: Declared
) -> StreamInfo:
    """The stream of hits, which from now on is one of the pack's; `stream` is where the rule names it."""
    name = f"{documents.name} matching {queries.text}"
    if queries.text not in declared.queries:
        message = f"unknown queries `{queries.text}`"
        help_ = meant(queries.text, declared.queries, "queries")
        if not declared.queries:
            help_ = f'declare them: `queries {queries.text} {{ from "{queries.text}.jsonl" }}`'
        declared.findings.error("CEP0255", message, queries.span, help_=help_)
        declared.streams[name] = StreamInfo(name, {}, False, None, documents.called)
    if name not in declared.streams:
        _check(documents, stream, queries, declared)
        own = {field: None if field in documents.fields else of for field, (of, _) in HIT_FIELDS.items()}
        fields = {**documents.fields, **own}
        hits = None if documents.stream is None else _stream(name, documents.stream, queries)
        declared.streams[name] = StreamInfo(name, fields, documents.known, hits, documents.called)
    return declared.streams[name]


def _check(documents: StreamInfo, stream: syntax.Name, queries: syntax.Name, declared: Declared) -> None:
    searched = (Scalar.TEXT, None)  # None has its finding already
    if documents.known and not any(of in searched for of in documents.fields.values()):
        message = f"stream `{documents.name}` has no field of type text, so no query can hit its events"
        declared.findings.error(
            "CEP0256",
            message,
            stream.span,
            help_="declare the field that is searched as `text`, or `text english`",
        )
    for name in HIT_FIELDS:
        if name in documents.fields:
            message = f"a hit has a field `{name}`, but so has stream `{documents.name}`"
            labels = tuple(Label(place, "give it another name") for place in _written(documents, name))
            declared.findings.error(
                "CEP0257",
                message,
                queries.span,
                labels=labels,
                help_="rename the field of the stream, and in job.toml let `fields` say where it comes from",
            )


def _written(documents: StreamInfo, name: str) -> Iterator[Span]:
    """Where a field of a fed stream is declared; nowhere if its type could not be read."""
    if documents.stream is not None and isinstance(documents.stream.origin, typed.Fed):
        yield from (field.span for field in documents.stream.fields if field.name == name)


def _stream(name: str, documents: typed.Stream, queries: syntax.Name) -> typed.Stream:
    own = (typed.Field(field, of, null, "", queries.span) for field, (of, null) in HIT_FIELDS.items())
    return typed.Stream(
        name,
        (*documents.fields, *own),
        documents.id,
        documents.time,
        documents.lateness,
        documents.idle,
        documents.span,
        documents.corrected,
        typed.QueryHits(documents.name, queries.text),
    )
