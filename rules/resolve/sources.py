"""The streams that rules read, by what they write: a name, or a name and the queries that must hit."""

from __future__ import annotations

from collections.abc import Iterable

from rules import syntax
from rules.resolve.declared import Declared, StreamInfo
from rules.resolve.hits import hits_of
from rules.suggest import meant
from rules.typed import Derived


def info_of(node: syntax.Source, declared: Declared) -> StreamInfo:
    """The stream; one of which nothing is known where the name has its diagnostic."""
    documents = named(node.stream, declared)
    return documents if node.matching is None else hits_of(documents, node.stream, node.matching, declared)


def named(name: syntax.Name, declared: Declared) -> StreamInfo:
    """The stream of that name, as above."""
    found = declared.streams.get(name.text)
    if found is None:
        help_ = meant(name.text, _written(declared.streams.values()), "streams")
        if name.text in declared.tables:
            help_ = f"`{name.text}` is a table: look its rows up as `{name.text}[key].field`"
        declared.findings.error("CEP0201", f"unknown stream `{name.text}`", name.span, help_=help_)
        return StreamInfo(name.text, {}, False, None)
    return found


def fed(name: syntax.Name, declared: Declared) -> StreamInfo:
    """The stream of that name that a test may give events of."""
    found = named(name, declared)
    if found.stream is not None and isinstance(found.stream.origin, Derived):
        message = f"`{name.text}` is made by rule `{found.stream.origin.rule}`: a test cannot give its events"
        help_ = "give the events that the rule makes it of"
        declared.findings.error("CEP0262", message, name.span, help_=help_)
    return found


def _written(streams: Iterable[StreamInfo]) -> list[str]:
    return [s.name for s in streams if not s.written]
