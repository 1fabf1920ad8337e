"""Characters that a rule file cannot have: those that nobody sees, and in names those that make paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from percolator.query.unseen import unseen
from rules.diagnostics import Diagnostic
from rules.source import SourceFile, Span
from rules.syntax import Block, Broken, Header, Name, Queries, Rule, Stream, Table


def unseen_in(source: SourceFile) -> list[Diagnostic]:
    """Control characters and signs that turn the direction of writing, also in strings and comments."""
    help_ = r"remove it; in a string it may be written as `\uXXXX`"
    return [
        Diagnostic("CEP0237", "error", f"{what} cannot be seen here", Span(source, at, at + 1), help=help_)
        for at, what in unseen(source.text)
    ]


def paths_among(blocks: Sequence[Block]) -> Iterator[Diagnostic]:
    """Names of packs, rules, streams, tables and queries that read like paths."""
    for block in blocks:
        if isinstance(block, Header | Rule | Stream | Table | Queries | Broken) and block.name is not None:
            yield from _path(block.name)


def _path(name: Name) -> Iterator[Diagnostic]:
    text = name.text
    if "/" in text or "\\" in text or not text.strip("."):
        message = f"`{text}` reads like a path"
        help_ = "write a name without `/` and `\\`: it goes into metrics, addresses and reports"
        yield Diagnostic("CEP0238", "error", message, name.span, help=help_)
