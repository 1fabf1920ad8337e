"""The streams that rules read, by the name that they write."""

from __future__ import annotations

from rules import syntax
from rules.resolve.declared import Declared, StreamInfo
from rules.source import Span
from rules.suggest import did_you_mean


def info_of(node: syntax.Source, declared: Declared) -> StreamInfo:
    """The stream; one of which nothing is known where the name has its diagnostic."""
    if node.matching is not None:
        words = node.stream.span.file.text[node.stream.span.end : node.matching.span.start]
        start = node.stream.span.end + words.index("matching")
        span = Span(node.stream.span.file, start, start + len("matching"))
        declared.findings.error("CEP0153", "`matching` is not supported yet", span)
        return StreamInfo(node.stream.text, {}, False, None)
    return named(node.stream, declared)


def named(name: syntax.Name, declared: Declared) -> StreamInfo:
    """The stream of that name, as above."""
    found = declared.streams.get(name.text)
    if found is None:
        help_ = did_you_mean(name.text, declared.streams)
        if not declared.streams:
            help_ = "no stream is declared"
        declared.findings.error("CEP0201", f"unknown stream `{name.text}`", name.span, help_=help_)
        return StreamInfo(name.text, {}, False, None)
    return found
