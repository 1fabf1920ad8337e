"""The header that all files of a pack share."""

from __future__ import annotations

from collections.abc import Sequence

from rules import syntax
from rules.diagnostics import Label
from rules.resolve.findings import Findings
from rules.source import Span


def resolve_header(files: Sequence[syntax.File], findings: Findings) -> tuple[str, str]:
    """The pack's name and version, of the first file that has a header."""
    first: syntax.Header | None = None
    for file in files:
        headers = [b for b in file.blocks if isinstance(b, syntax.Header)]
        broken = any(isinstance(b, syntax.Broken) and b.keyword in ("pack", "") for b in file.blocks)
        if not headers and not broken:
            message = f"`{file.source.name}` has no pack header"
            help_ = 'begin the file with `pack NAME version "1"`'
            findings.error("CEP0501", message, Span(file.source, 0, 0), help_=help_)
        for again in headers[1:]:
            labels = (Label(headers[0].span, "the first one"),)
            findings.error(
                "CEP0504", "a file has one pack header", again.span, labels=labels, help_="remove it"
            )
        if not headers:
            continue
        if first is None:
            first = headers[0]
        elif _said(headers[0]) != _said(first):
            labels = (Label(first.span, "the header of another file"),)
            message = "all files of a pack have the same header"
            findings.error(
                "CEP0502",
                message,
                headers[0].span,
                labels=labels,
                help_="make the headers equal, or put the files in different folders",
            )
    return _said(first) if first is not None else ("", "")


def _said(header: syntax.Header) -> tuple[str, str]:
    return header.name.text, header.version.value
