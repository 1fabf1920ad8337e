"""Syntax trees without their places, to be compared."""

from __future__ import annotations

import dataclasses
import re

from rules.source import SourceFile, Span
from rules.syntax import Duration, File, Name, Number, String


def bare(node: object) -> object:
    """A node as nested tuples: its kind, what it holds, and of literals and names how they are spelt."""
    if isinstance(node, tuple):
        return tuple(bare(item) for item in node)
    if not dataclasses.is_dataclass(node) or isinstance(node, Span | SourceFile):
        return None if isinstance(node, Span | SourceFile) else node
    spelt = None
    if isinstance(node, Number | Name | String):
        spelt = node.span.text
    elif isinstance(node, Duration):
        spelt = " ".join(re.sub(r"#[^\n]*", "", node.span.text).split())
    parts = (getattr(node, field.name) for field in dataclasses.fields(node) if field.name != "comments")
    return (type(node).__name__, spelt, *(bare(part) for part in parts))


def comments(file: File) -> list[str]:
    """The comments of a file in order, without blanks at their ends."""
    return [comment.span.text.rstrip() for comment in file.comments]
